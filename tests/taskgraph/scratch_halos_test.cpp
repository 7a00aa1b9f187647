// Which halos are gathered into scratch windows, what is stored then, and that the graphs are right.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "grid/refined_levels.hpp"
#include "taskgraph/proof/race_check.hpp"
#include "taskgraph/storage/memory_plan.hpp"
#include "tests/taskgraph/edge_drop.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::NoBody;

/// A periodic box of 32^3 cells in patches of 16^3; a test declares the step.
class ScratchHalosTest : public ::testing::Test {
 protected:
  ScratchHalosTest() { initial_.task("T::initial").writes(u_).writes(v_).runs<Cpu>(NoBody{}); }

  CompiledGraphs compile(std::int64_t above = 0,
                         std::int64_t largest = std::numeric_limits<std::int64_t>::max()) const {
    CompileInput input{mesh_, &labels_, &owners_, 0};
    input.scratch = {above, largest};
    input.storedHalos = stored_;
    const std::vector<const StepPlan*> plans{&initial_, &step_};
    return compileGraphs(plans, input);
  }
  bool isScratch(const CompiledGraphs& graphs, LabelId label) const {
    for (const LevelStorage& s : graphs.storage) {
      if (s.label == label) return s.scratch;
    }
    return false;
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> v_ = labels_.variable<double, Cell>("v");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  std::vector<LevelLabel> stored_;
  std::shared_ptr<const Hierarchy> mesh_ = test::mesh({32, 32, 32}, {2, 2, 2}, {true, true, true});
  RankMap owners_ = distribute(*mesh_, 1);
};

TEST_F(ScratchHalosTest, OnlyWhatThePatchesOwnIsStored) {
  step_.task("T::step").reads(Old, u_, halo(1)).reads(Old, v_).writes(u_).runs<Cpu>(NoBody{});
  const CompiledGraphs graphs = compile();
  EXPECT_TRUE(isScratch(graphs, u_.id));
  EXPECT_FALSE(isScratch(graphs, v_.id));  // its halo is not read
  EXPECT_EQ(memoryPlanOf(graphs).total(), (2 + 2) * 8 * 32 * 32 * 32);
}

TEST_F(ScratchHalosTest, WhatFitsTheCachesKeepsItsHalos) {
  step_.task("T::step").reads(Old, u_, halo(1)).writes(u_).runs<Cpu>(NoBody{});
  const std::int64_t owned = (2 + 1) * 8 * 32 * 32 * 32;  // v is not read as Old
  EXPECT_TRUE(isScratch(compile(owned - 1), u_.id));
  EXPECT_FALSE(isScratch(compile(owned), u_.id));
  EXPECT_FALSE(isScratch(compile(std::numeric_limits<std::int64_t>::max()), u_.id));
}

TEST_F(ScratchHalosTest, AWindowThatACoresCacheDoesNotHoldIsStored) {
  step_.task("T::step").reads(Old, u_, halo(1)).writes(u_).runs<Cpu>(NoBody{});
  const std::int64_t window = 8 * 18 * 18 * 18;
  EXPECT_TRUE(isScratch(compile(0, window), u_.id));
  EXPECT_FALSE(isScratch(compile(0, window - 1), u_.id));
}

TEST_F(ScratchHalosTest, TwoReadersInOnePlanShareAStoredHalo) {
  step_.task("T::step").reads(Old, u_, halo(1)).writes(u_).runs<Cpu>(NoBody{});
  step_.task("T::other").reads(Old, u_, halo(1)).writes(v_).runs<Cpu>(NoBody{});
  EXPECT_FALSE(isScratch(compile(), u_.id));
}

TEST_F(ScratchHalosTest, AHaloOfNewIsStored) {
  step_.task("T::step").reads(Old, u_, halo(1)).writes(u_).runs<Cpu>(NoBody{});
  step_.task("T::after").reads(New, u_, halo(1)).writes(v_).runs<Cpu>(NoBody{});
  EXPECT_FALSE(isScratch(compile(), u_.id));
}

TEST_F(ScratchHalosTest, ALargeHaloIsStoredOnceForItsPatches) {
  step_.task("T::step").reads(Old, u_, halo(8)).writes(u_).runs<Cpu>(NoBody{});
  EXPECT_FALSE(isScratch(compile(), u_.id));
}

TEST_F(ScratchHalosTest, ALabelThatShallKeepItsHalosDoes) {
  step_.task("T::step")
      .reads(Old, u_, halo(1))
      .reads(Old, v_, halo(1))
      .writes(u_)
      .writes(v_)
      .runs<Cpu>(NoBody{});
  stored_ = {{u_.id, 0}};
  const CompiledGraphs graphs = compile();
  EXPECT_FALSE(isScratch(graphs, u_.id));
  EXPECT_TRUE(isScratch(graphs, v_.id));
}

/// Two levels on several ranks: halos from neighbours, messages, the coarser level and conditions.
class ScratchRaces : public ::testing::Test {
 protected:
  ScratchRaces() {
    labels_.setBoundary(u_, BoundaryConditions::everywhere(BoundaryKind::Neumann));
    initial_.task("T::initial").writes(u_).runs<Cpu>(NoBody{});
    step_.task("T::step").reads(Old, u_, halo(2)).writes(u_).runs<Cpu>(NoBody{});
    step_.task("T::change").reads(New, u_).modifies(u_).runs<Cpu>(NoBody{});
  }

  std::vector<CompiledGraphs> compile(int ranks) const {
    Geometry geometry;
    geometry.cells = {12, 6, 1};
    geometry.periodic = {true, false, false};
    const auto mesh = refinedHierarchy(geometry, {Division::By::PatchSize, {4, 3, 1}},
                                       {{2, {{{2, 1, 0}, {7, 5, 1}}, {{9, 0, 0}, {12, 2, 1}}}, {5, 4, 1}}});
    const RankMap owners = distribute(*mesh, ranks);
    std::vector<CompiledGraphs> graphs;
    const std::vector<const StepPlan*> plans{&initial_, &step_};
    for (Rank rank = 0; rank < ranks; ++rank) {
      CompileInput input{mesh, &labels_, &owners, rank, ranks};
      input.scratch.above = 0;
      graphs.push_back(compileGraphs(plans, input));
      for (const LevelStorage& s : graphs.back().storage) EXPECT_TRUE(s.scratch);
    }
    return graphs;
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

TEST_F(ScratchRaces, AreNoneForAnyNumberOfRanks) {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    const RaceReport report = checkRaces(compile(ranks), 1);
    for (const std::string& fault : report.faults) ADD_FAILURE() << fault;
  }
}

TEST_F(ScratchRaces, AreFoundWhereAnEdgeIsDroppedThatNoOtherPathReplaces) {
  for (const int ranks : {2, 4}) {
    const test::DropReport report = test::dropEach(compile(ranks), 1);
    EXPECT_THAT(report.unreported, ::testing::IsEmpty()) << ranks << " ranks";
    EXPECT_GT(report.found.size(), 0U);
  }
}

TEST_F(ScratchRaces, AreFoundWhereATaskGathersFromMemoryThatIsWritten) {
  std::vector<CompiledGraphs> graphs = compile(1);
  graphs[0].plans[1].fills[0].generation = Generation::New;  // as if Old were not kept
  const RaceReport report = checkRaces(graphs, 1);
  EXPECT_FALSE(report.clean());
}

TEST_F(ScratchRaces, ALostNeighbourIsAReadOfWhatNobodyHasWritten) {
  std::vector<CompiledGraphs> graphs = compile(1);
  CompiledGraph& graph = graphs[0].plans[1];
  graph.tables[static_cast<std::size_t>(graph.fills[0].table)].replace(0, {});
  EXPECT_THAT(checkRaces(graphs, 1).faults,
              ::testing::Contains(
                  ::testing::AllOf(::testing::HasSubstr("a node reads a value that no node has written"),
                                   ::testing::HasSubstr("scratch window for u"))));
}

}  // namespace
}  // namespace tessera
