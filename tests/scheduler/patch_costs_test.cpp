// What patches have cost, for a load balancer.
#include <chrono>
#include <numeric>

#include <gtest/gtest.h>

#include "grid/refined_levels.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera::test {
namespace {

void spin(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(PatchCosts, AddUpToTheSecondsInTasksAndFindTheDearPatch) {
  Geometry geometry;
  geometry.cells = {8, 8, 1};
  const auto mesh = refinedHierarchy(geometry, {Division::By::Patches, {2, 2, 1}},
                                     {{2, {Box{{2, 2, 0}, {6, 6, 1}}}, {4, 8, 1}}});
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  const ReductionLabel most = labels.reduction("most");
  StepPlan plan("step");
  plan.task("T::dear").writes(u).runs<Cpu>([u](const auto& task) {
    spin(std::chrono::microseconds(task.patch().id == 2 ? 3000 : 100));
    const auto out = task.write(u);
    forEach(task.exec(), "w", task.interior(), [=](Index x) { out(x) = 1.0; });
  });
  plan.task("T::once").oncePerRank().contributes(most, Max).runs<Cpu>([most](const auto& task) {
    spin(std::chrono::microseconds(500));
    task.contribute(most, 1.0);
  });
  plan.task("T::level")
      .oncePerLevel()
      .on(1)
      .reads(New, u)
      .contributes(most, Max)
      .runs<Cpu>([most](const auto& task) {
        spin(std::chrono::microseconds(2000));
        task.contribute(most, 1.0);
      });
  for (const int threads : {0, 2}) {
    RunShape shape;
    shape.threads = threads;
    runOnRanks(shape, mesh, labels, {&plan}, [&](StepRunner& runner, DataWarehouse& data, Transport&) {
      for (int n = 0; n < 5; ++n) runner.run(0, {});
      const PatchCosts costs = runner.patchCosts();
      ASSERT_EQ(costs.seconds.size(), data.ownPatches().size());
      const double all = std::accumulate(costs.seconds.begin(), costs.seconds.end(), costs.elsewhere);
      EXPECT_NEAR(all, runner.statistics().taskSeconds, 1e-9 * all);
      EXPECT_GE(all, 5 * (3000 + 500 + 2000) * 1e-6);
      // Four patches of level 0 of one task, two of level 1 with half of another one each.
      for (std::size_t n : {0U, 1U, 3U}) EXPECT_LT(costs.seconds[n], 0.5 * costs.seconds[2]);
      for (std::size_t n : {4U, 5U}) EXPECT_GE(costs.seconds[n], 5 * 1000 * 0.99e-6);
      EXPECT_GE(costs.elsewhere, 5 * 500 * 0.99e-6);
    });
  }
}

}  // namespace
}  // namespace tessera::test
