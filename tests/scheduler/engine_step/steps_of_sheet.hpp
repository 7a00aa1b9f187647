#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "tests/scheduler/runtime_rig.hpp"

namespace tessera::test {

/// 24 x 16 cells in eight patches.
inline std::shared_ptr<const Hierarchy> sheet() {
  Geometry geometry;
  geometry.cells = {24, 16, 1};
  geometry.periodic = {true, true, true};
  return Hierarchy::uniform(geometry, {Division::By::Patches, {4, 2, 1}});
}

/// The sum of i times u over all cells of `sheet` after 3 steps from u = i + 100 j; `declareStep` says what a
/// step does to u.
inline double weightedSum(const RunShape& shape,
                          const std::function<void(StepPlan&, Label<double, Cell>)>& declareStep) {
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  const auto total = labels.reduction("total");
  StepPlan initial("initial");
  initial.task("Test::start").writes(u).runs<Cpu>([=](const auto& task) {
    const auto out = task.write(u);
    forEach(task.exec(), "start", task.interior(),
            [=](Index x) { out(x) = static_cast<double>(x.i + 100 * x.j); });
  });
  StepPlan step("step");
  declareStep(step, u);
  // Comes after what the step has computed, on the neighbours too.
  step.task("Test::sum").reads(New, u, halo(1)).contributes(total, Sum).runs<Cpu>([=](const auto& task) {
    const auto in = task.read(New, u);
    task.contribute(total, reduce(task.exec(), "sum", task.interior(), Sum,
                                  [=](Index x) { return static_cast<double>(x.i) * in(x) + in(x + ex); }));
  });
  double sum = 0.0;
  std::mutex mutex;
  runOnRanks(shape, sheet(), labels, {&initial, &step}, [&](StepRunner& runner, DataWarehouse&, Transport&) {
    runner.run(0, {});
    double last = 0.0;
    for (int n = 0; n < 3; ++n) last = runner.run(1, {0.0, 1.0, n, {}}).reductions[0];
    const std::lock_guard<std::mutex> lock(mutex);
    sum = last;
  });
  return sum;
}

}  // namespace tessera::test
