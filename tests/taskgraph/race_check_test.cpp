#include "taskgraph/proof/race_check.hpp"

#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "datawarehouse/task_context.hpp"
#include "grid/refined_levels.hpp"
#include "tests/taskgraph/edge_drop.hpp"
#include "tests/taskgraph/every_access.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::dropEdge;
using test::EdgeAt;
using test::NoBody;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Two levels, and a step with every kind of access.
class RaceCheckTest : public test::EveryAccess {};

TEST_F(RaceCheckTest, ACompiledGraphHasNoRaceForAnyNumberOfRanks) {
  for (int ranks = 1; ranks <= 6; ++ranks) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    const auto graphs = compile(ranks, 7 + static_cast<unsigned>(ranks));
    const RaceReport report = checkRaces(graphs, 1);
    for (const std::string& fault : report.faults) ADD_FAILURE() << fault;
    EXPECT_GT(report.conflicts, 500);
  }
}

TEST_F(RaceCheckTest, EveryDroppedEdgeThatNoOtherPathReplacesIsFound) {
  std::map<std::string, int> found;
  for (const int ranks : {1, 2, 4, 5}) {
    const test::DropReport report = test::dropEach(compile(ranks, static_cast<unsigned>(ranks)), 1);
    EXPECT_THAT(report.unreported, ::testing::IsEmpty()) << ranks << " ranks";
    for (const auto& [name, count] : report.found) found[name] += count;
  }
  for (const char* name :
       {"task before task", "task before halo", "task before coarse-fine halo", "task before coarser",
        "task before finer", "task before whole level", "task before send", "task before reduction",
        "halo before task", "coarser before task", "finer before task", "whole level before task",
        "send before task", "receive before halo", "receive before coarser", "receive before finer",
        "receive before whole level", "receive before send"}) {
    EXPECT_GT(found[name], 0) << name;
  }
}

/// A line of 8 cells in 2 patches on 2 ranks: `first` writes u, `reader` reads its halo, `second` changes u.
class RaceSentences : public ::testing::Test {
 protected:
  RaceSentences() {
    initial_.task("T::first").writes(u_).runs<Cpu>(NoBody{});
    initial_.task("T::reader")
        .reads(New, u_, halo(1), from("T::first"))
        .contributes(r_, Max)
        .runs<Cpu>(NoBody{});
    initial_.task("T::second").modifies(u_).runs<Cpu>(NoBody{});
    graphs_ = test::compileAllRanks({&initial_}, test::mesh({8, 1, 1}, {2, 1, 1}, {true, true, true}),
                                    labels_, {0, 1}, 2);
  }
  CompiledGraph& graph(int rank) { return graphs_[static_cast<std::size_t>(rank)].plans[0]; }
  std::vector<std::string> faults() const { return checkRaces(graphs_, 0).faults; }

  /// Drops the edges from one kind of node to another on rank 0; both may be tasks: then from `first` to
  /// `second`.
  void drop(NodeKind before, NodeKind after) {
    for (const EdgeAt& edge : test::edgesOf(graphs_, 0)) {
      const bool same = test::kindOf(graphs_, 0, edge.rank, edge.before) == before &&
                        test::kindOf(graphs_, 0, edge.rank, edge.after) == after;
      if (edge.rank == 0 && same) dropEdge(graph(0), edge);
    }
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  ReductionLabel r_ = labels_.reduction("r");
  StepPlan initial_{"initial"};
  std::vector<CompiledGraphs> graphs_;
};

TEST_F(RaceSentences, WholeGraphsAreClean) {
  EXPECT_THAT(faults(), ::testing::IsEmpty());
  EXPECT_GT(expectNoRaces(graphs_), 0);
}

TEST_F(RaceSentences, ALostWriteAfterReadNamesBothNodesTheCellsAndTheEdge) {
  drop(NodeKind::Send, NodeKind::Task);
  EXPECT_THAT(faults(), ::testing::ElementsAre(
                            AllOf(HasSubstr("first    message to rank 1 with tag"), HasSubstr("reads"),
                                  HasSubstr("second   T::second on L0/P0000 [0,0,0]..[3,0,0] (rank 0, node"),
                                  HasSubstr("writes"), HasSubstr("of u on L0/P0000"),
                                  HasSubstr("from the first to the second (write after read)"))));
}

TEST_F(RaceSentences, AMessageTakenTooEarlyIsAReadBeforeItsWrite) {
  drop(NodeKind::Receive, NodeKind::Fill);
  EXPECT_THAT(faults(),
              Contains(AllOf(HasSubstr("message from rank 1"), HasSubstr("halo of New u (version 0) around"),
                             HasSubstr("of receive 0 of rank 0"), HasSubstr("(read after write)"))));
}

TEST_F(RaceSentences, AMessageWithoutPartnerOrOfOtherLengthIsNamed) {
  graph(0).receives[0].bytes += 8;
  EXPECT_THAT(faults(), Contains(AllOf(HasSubstr("the two sides of a message differ in length"),
                                       HasSubstr("from rank 1 to rank 0"))));
  graph(0).receives[0].bytes -= 8;
  graph(0).receives[0].tag += 1000;
  EXPECT_THAT(faults(),
              AllOf(Contains(AllOf(HasSubstr("a message does not have one partner"), HasSubstr("tag 1"))),
                    Contains(HasSubstr("what a fill takes from a message is not what was packed"))));
}

TEST_F(RaceSentences, APieceThatIsPackedFromElsewhereIsNamed) {
  graph(1).packItems[0].region = shift(graph(1).packItems[0].region, {1, 0, 0});
  EXPECT_THAT(faults(), Contains(AllOf(HasSubstr("what a fill takes from a message is not what was packed"),
                                       HasSubstr("expects  New u (version 0)"))));
}

TEST_F(RaceSentences, AHaloThatIsNotFilledIsNamed) {
  graph(0).fills[0].pieces = {};
  EXPECT_THAT(faults(),
              Contains(AllOf(HasSubstr("a node reads a value that no node has written"),
                             HasSubstr("T::reader on L0/P0000"), HasSubstr("[-1,0,0]..[-1,0,0] of u"))));
}

TEST_F(RaceSentences, AWrongCountAndACycleAreNamed) {
  ++graph(0).predecessorCounts[2];
  EXPECT_THAT(faults(), ::testing::ElementsAre(HasSubstr("a count of predecessors is wrong")));
  graph(0).successorLists.pool[0] = 0;
  EXPECT_THAT(faults(), Contains(HasSubstr("nodes wait for one another in a cycle")));
}

TEST_F(RaceSentences, ExpectNoRacesThrowsWhatWasFound) {
  drop(NodeKind::Task, NodeKind::Reduce);
  try {
    expectNoRaces(graphs_);
    FAIL() << "the lost edge was not found";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.message(),
                AllOf(HasSubstr("the compiled plan \"initial\" has 1 fault(s)"), HasSubstr("reduction r")));
  }
}

TEST(RaceCheckLimit, ATooLargePlanIsRefusedWithItsNumberOfNodes) {
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  StepPlan plan("large");
  plan.task("T::write").writes(u).runs<Cpu>(NoBody{});
  plan.task("T::change").modifies(u).runs<Cpu>(NoBody{});
  const auto mesh = test::mesh({51000, 1, 1}, {51000, 1, 1}, {true, true, true});
  const auto graphs = test::compileAllRanks({&plan}, mesh, labels, RankMap(51000, 0), 1);
  try {
    checkRaces(graphs, 0);
    FAIL() << "the limit does not hold";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.message(), HasSubstr("102000 on all ranks, at most 100000 are checked"));
  }
}

}  // namespace
}  // namespace tessera
