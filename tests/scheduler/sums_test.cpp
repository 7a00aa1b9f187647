// Sums over patches: what they cost, and what a task may give to them.
#include <malloc.h>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/runtime_rig.hpp"

namespace tessera {
namespace {

std::shared_ptr<const Hierarchy> rowOf(std::int64_t patches) {
  Geometry geometry;
  geometry.cells = {2 * patches, 1, 1};
  return Hierarchy::uniform(geometry, {Division::By::PatchSize, {2, 1, 1}});
}

/// A plan whose one task gives the number of its cells to so many sums, so many times.
struct Counting {
  Counting(int sums, int times) {
    for (int n = 0; n < sums; ++n) totals.push_back(labels.reduction("total" + std::to_string(n)));
    const auto u = labels.variable<double, Cell>("u");
    TaskBuilder task = plan.task("Test::count");
    task.writes(u);
    for (const ReductionLabel total : totals) task.contributes(total, Sum);
    task.runs<Cpu>([u, given = totals, times](const auto& patch) {
      const auto out = patch.write(u);
      forEach(patch.exec(), "w", patch.interior(), [=](Index x) { out(x) = 1.0; });
      ExactSum cells;
      cells.add(static_cast<double>(patch.interior().volume()));
      for (int n = 0; n < times; ++n) {
        for (const ReductionLabel total : given) patch.contribute(total, cells);
      }
    });
  }

  LabelTable labels;
  std::vector<ReductionLabel> totals;
  StepPlan plan{"initial"};
};

/// What the process has allocated once a runner of so many sums over 4,096 patches stands.
std::size_t bytesWith(int sums) {
  Counting counting(sums, 1);
  std::size_t bytes = 0;
  test::runOnRanks({.threads = 2, .proves = false}, rowOf(4096), counting.labels, {&counting.plan},
                   [&](StepRunner& runner, DataWarehouse&, Transport&) {
                     const struct mallinfo2 memory = mallinfo2();
                     bytes = memory.uordblks + memory.hblkhd;
                     const StepResult& result = runner.run(0, {});
                     for (const double total : result.reductions) EXPECT_EQ(total, 2.0 * 4096);
                   });
  return bytes;
}

TEST(Sums, OfManyPatchesTakeNoMemoryForEach) {
  bytesWith(1);
  const std::size_t one = bytesWith(1);
  const std::size_t nine = bytesWith(9);
  // An exact sum has 576 bytes; what a patch keeps of each is whether it has contributed.
  EXPECT_LT(nine, one + std::size_t{8} * 4096 * 64);
}

TEST(Sums, AreGivenOnceByEachPatch) {
  for (const int threads : {0, 2}) {
    Counting counting(2, 2);
    try {
      test::runOnRanks({.threads = threads}, rowOf(4), counting.labels, {&counting.plan},
                       [&](StepRunner& runner, DataWarehouse&, Transport&) { runner.run(0, {}); });
      FAIL() << "the second contribution was taken";
    } catch (const UndeclaredAccess& error) {
      EXPECT_THAT(error.message(),
                  testing::AllOf(testing::HasSubstr("contributes to a sum twice on one patch"),
                                 testing::HasSubstr("total0"), testing::HasSubstr("fix")));
    }
  }
}

}  // namespace
}  // namespace tessera
