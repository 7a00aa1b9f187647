#include "taskgraph/storage/stored_windows.hpp"

#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "taskgraph/storage/memory_plan.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

constexpr std::int64_t cube(std::int64_t n) { return n * n * n; }

/// A periodic box of 64^3 cells in patches of 16^3, of which a step reads one variable beyond its patch.
class StoredWindowsTest : public ::testing::Test {
 protected:
  template <class Clause>
  CompiledGraphs compile(const Clause& clause, int ranks = 1) {
    initial_.task("T::initial").writes(u_).template runs<Cpu>(test::NoBody{});
    plan_.task("T::step").reads(Old, u_, clause).writes(u_).template runs<Cpu>(test::NoBody{});
    const auto mesh = test::mesh({64, 64, 64}, {4, 4, 4}, {true, true, true});
    const RankMap owners = distribute(*mesh, ranks);
    const std::vector<const StepPlan*> plans{&initial_, &plan_};
    return compileGraphs(plans, {mesh, &labels_, &owners, 0, ranks});
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  StepPlan initial_{"initial"};
  StepPlan plan_{"step"};
};

TEST_F(StoredWindowsTest, AHaloOfSixteenCellsIsStoredOnce) {
  const CompiledGraphs graphs = compile(halo(16));
  const StoredWindows all = sumOf(storedWindows(graphs));
  EXPECT_EQ(all.bytes, 2 * 8 * cube(96));
  EXPECT_EQ(all.distinctBytes, 2 * 8 * cube(96));
  EXPECT_EQ(all.privateBytes, 2 * 8 * 64 * cube(48));
  EXPECT_EQ(all.sharedWindows, 1);
  EXPECT_EQ(memoryPlanOf(graphs).total(), all.bytes);
  EXPECT_EQ(memoryPlanOf(graphs).totalWithoutReuse(), all.privateBytes);
}

TEST_F(StoredWindowsTest, AHaloOfOneCellStaysWithItsPatch) {
  const StoredWindows all = sumOf(storedWindows(compile(halo(1))));
  EXPECT_EQ(all.bytes, 2 * 8 * 64 * cube(18));
  EXPECT_EQ(all.privateBytes, all.bytes);
  EXPECT_EQ(all.distinctBytes, 2 * 8 * cube(66));
  EXPECT_EQ(all.sharedWindows, 0);
}

TEST_F(StoredWindowsTest, AWholeLevelIsStoredOnceOnOneRank) {
  const CompiledGraphs graphs = compile(wholeLevel());
  EXPECT_EQ(memoryPlanOf(graphs).total(), 2 * 8 * cube(64));
  EXPECT_EQ(sumOf(storedWindows(graphs)).overhead(), 1.0);
}

TEST_F(StoredWindowsTest, AWholeLevelIsGatheredOnceARankOnSeveral) {
  const CompiledGraphs graphs = compile(wholeLevel(), 2);
  EXPECT_EQ(memoryPlanOf(graphs).total(), 2 * 8 * cube(64) / 2 + 8 * cube(64));
}

}  // namespace
}  // namespace tessera
