#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::NoBody;

std::int64_t rounds(int ranks) {
  std::int64_t n = 0;
  for (std::int64_t reached = 1; reached < ranks; reached *= 2) ++n;
  return n;
}

/// One variable of 60 cells, in as many patches, that every task instance reads as a whole.
class WholeLevel : public ::testing::Test {
 protected:
  WholeLevel() {
    plan_.task("T::write").writes(u_).runs<Cpu>(NoBody{});
    plan_.task("T::one").reads(New, u_, wholeLevel()).runs<Cpu>(NoBody{});
    plan_.task("T::two").reads(New, u_, wholeLevel()).runs<Cpu>(NoBody{});
    plan_.task("T::once").oncePerRank().reads(New, u_, wholeLevel(0)).runs<Cpu>(NoBody{});
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  StepPlan plan_{"plan"};
  std::shared_ptr<const Hierarchy> mesh_ = test::mesh({60, 1, 1}, {60, 1, 1}, {true, true, true});
};

TEST_F(WholeLevel, IsGatheredOnceARankHoweverManyInstancesReadIt) {
  const RankMap owners = distribute(*mesh_, 4);
  for (const CompiledGraphs& graphs : test::compileAllRanks({&plan_}, mesh_, labels_, owners, 4)) {
    ASSERT_EQ(graphs.plans[0].fills.size(), 1U);
    ASSERT_EQ(graphs.gathers[0].size(), 1U);
    const CompiledGraph& graph = graphs.plans[0];
    for (const NodeBlock& block : graph.blocks) {
      if (block.kind == NodeKind::Fill) {
        EXPECT_EQ(block.count, 1);
      }
    }
    // All 31 readers wait for it: 15 of T::one, 15 of T::two, T::once.
    for (std::int32_t n = 0; n < graph.nodeCount(); ++n) {
      if (graph.block(n).kind == NodeKind::Fill) {
        EXPECT_EQ(graph.successors(n).size(), 31U);
      }
    }
  }
}

TEST_F(WholeLevel, TakesLogarithmicallyManyMessagesAndEachPartOnce) {
  for (const int ranks : {1, 2, 3, 5, 8, 31, 60}) {
    const RankMap owners = distribute(*mesh_, ranks);
    for (const CompiledGraphs& graphs : test::compileAllRanks({&plan_}, mesh_, labels_, owners, ranks)) {
      const CompiledGraph& graph = graphs.plans[0];
      std::int64_t sent = 0;
      std::int64_t received = 0;
      for (const MessagePlan& m : graph.sends) sent += m.bytes;
      for (const MessagePlan& m : graph.receives) received += m.bytes;
      const auto own = static_cast<std::int64_t>(graphs.ownPatches.size());
      SCOPED_TRACE("rank " + std::to_string(graphs.rank) + " of " + std::to_string(ranks));
      EXPECT_EQ(static_cast<std::int64_t>(graph.sends.size()), rounds(ranks));
      EXPECT_EQ(static_cast<std::int64_t>(graph.receives.size()), rounds(ranks));
      EXPECT_EQ(received, 8 * (60 - own));
      EXPECT_LE(sent, 8 * 60);
    }
  }
}

TEST_F(WholeLevel, OnThousandsOfRanksARankStillSendsAFewMessages) {
  const RankMap owners = distribute(*mesh_, 60);
  const StepPlan* plans[] = {&plan_};
  const CompiledGraphs graphs = compileGraphs(plans, {mesh_, &labels_, &owners, 46, 7'467});
  EXPECT_LE(graphs.plans[0].sends.size(), 13U);
  EXPECT_LE(graphs.plans[0].receives.size(), 13U);
}

}  // namespace
}  // namespace tessera
