#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::NoBody;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<CompiledGraphs> compileRing(const StepPlan& plan, const LabelTable& labels, int ranks,
                                        std::int64_t tagBound) {
  const auto mesh = test::mesh({2 * ranks, 1, 1}, {ranks, 1, 1}, {true, true, true});
  const RankMap owners = distribute(*mesh, ranks);
  std::vector<CompiledGraphs> graphs;
  const StepPlan* plans[] = {&plan};
  for (Rank rank = 0; rank < ranks; ++rank)
    graphs.push_back(compileGraphs(plans, {mesh, &labels, &owners, rank, ranks, tagBound}));
  return graphs;
}

/// A chain of so many halo exchanges, each of which is a stage of its own.
void declareExchanges(StepPlan& plan, LabelTable& labels, int exchanges) {
  auto from = labels.variable<double, Cell>("u0");
  plan.task("T::0").writes(from).runs<Cpu>(NoBody{});
  for (int n = 1; n <= exchanges; ++n) {
    const auto to = labels.variable<double, Cell>("u" + std::to_string(n));
    plan.task("T::" + std::to_string(n)).reads(New, from, halo(1)).writes(to).runs<Cpu>(NoBody{});
    from = to;
  }
}

TEST(TagBound, OfFortyHoldsForFortyOneStagesAndNoMore) {
  LabelTable labels;
  StepPlan fits("fits");
  declareExchanges(fits, labels, 41);
  LabelTable more;
  StepPlan over("over");
  declareExchanges(over, more, 42);

  EXPECT_NO_THROW(compileRing(fits, labels, 3, 40));
  try {
    compileRing(over, more, 3, 40);
    FAIL() << "tag 41 passed";
  } catch (const PlanError& error) {
    EXPECT_THAT(error.faults(),
                ElementsAre(AllOf(HasSubstr("a plan needs more message tags than MPI has"),
                                  HasSubstr("plan   over"), HasSubstr("tags   42 needed, 41 allowed"),
                                  HasSubstr("fix    join tasks of this plan, or split it into two plans"))));
  }
}

TEST(TagBound, TagsAreDenseAndUniqueForEachPair) {
  LabelTable labels;
  StepPlan plan("plan");
  declareExchanges(plan, labels, 41);
  for (const int ranks : {2, 3, 5}) {
    for (const CompiledGraphs& graphs : compileRing(plan, labels, ranks, 40)) {
      std::set<std::pair<Rank, std::int64_t>> sent;
      std::set<std::int64_t> tags;
      for (const MessagePlan& m : graphs.plans[0].sends) {
        EXPECT_TRUE(sent.insert({m.peer, m.tag}).second) << "tag " << m.tag << " twice to rank " << m.peer;
        tags.insert(m.tag);
      }
      EXPECT_EQ(tags.size(), 41U);
      EXPECT_EQ(*tags.begin(), 0);
      EXPECT_EQ(*tags.rbegin(), 40);
    }
  }
}

/// On 256 ranks the parts of a whole level go round in 8 messages, each with a tag of its own.
void declareWholeLevels(StepPlan& plan, LabelTable& labels, int count) {
  std::vector<Label<float, Cell>> all;
  for (int n = 0; n < count; ++n) all.push_back(labels.variable<float, Cell>("u" + std::to_string(n)));
  TaskBuilder write = plan.task("T::write");
  for (const auto& label : all) write.writes(label);
  write.runs<Cpu>(NoBody{});
  TaskBuilder read = plan.task("T::read").oncePerRank();
  for (const auto& label : all) read.reads(New, label, wholeLevel(0));
  read.runs<Cpu>(NoBody{});
}

/// The tags of rank 7, or the one fault.
std::string tagsOf(int wholeLevels) {
  LabelTable labels;
  StepPlan plan("many");
  declareWholeLevels(plan, labels, wholeLevels);
  const auto mesh = test::mesh({256, 1, 1}, {256, 1, 1}, {true, true, true});
  const RankMap owners = distribute(*mesh, 256);
  const StepPlan* plans[] = {&plan};
  try {
    const CompiledGraphs graphs = compileGraphs(plans, {mesh, &labels, &owners, 7, 256, 32'767});
    return "largest " + std::to_string(graphs.plans[0].sends.back().tag);
  } catch (const PlanError& error) {
    return error.faults().at(0);
  }
}

TEST(TagBound, WhatMpiPromisesAtLeastHoldsForFourThousandWholeLevelsOn256Ranks) {
  // A stage takes one tag even where it only passes on whole levels.
  EXPECT_EQ(tagsOf(4'095), "largest 32760");
  EXPECT_THAT(tagsOf(4'096), HasSubstr("tags   32769 needed, 32768 allowed"));
}

}  // namespace
}  // namespace tessera
