#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/device/backend/emulated_device.hpp"
#include "scheduler/jobs_step/runs_jobs.hpp"
#include "taskgraph/step_plan.hpp"
#include "tests/scheduler/jobs_step/cell_walk.hpp"

namespace tessera::jobs::testing {

/// `threads` < 0: no threads of the host.
inline std::shared_ptr<StepJobs> devicesOf(int threads, int emulated) {
  std::vector<std::unique_ptr<JobDevice>> devices;
  if (threads >= 0) devices.push_back(makeHostJobDevice(threads));
  for (int n = 0; n < emulated; ++n) {
    devices.push_back(makeBackendJobDevice(makeEmulatedDevice({.number = n}), {.memoryBytes = 4 << 20}));
  }
  return std::make_shared<StepJobs>(std::move(devices));
}

/// How the walks of a task run.
struct WalkOptions {
  JobForm form = JobForm::Consumer;
  bool isEndless = false;
  std::int64_t mostCalls = 1 << 30;
};

/// The next u of a cell is what a walk from it finds, mod 1000, plus a thousandth of the steps that all walks
/// of its patch have taken.
inline void declareJobs(TaskBuilder& advance, Label<double, Cell> u, const std::shared_ptr<StepJobs>& devices,
                        const WalkOptions& options) {
  advance.runs<StepJobs>(devices, [=](const auto& task, StepJob& work) {
    const Box box = task.interior();
    const auto in = task.read(Old, u);
    const auto out = task.write(u);
    auto& values = work.domain<double>("values", box.extent());
    auto& ends = work.domain<double>("ends", box.extent());
    Sums& steps = work.sums("steps", {1, 1, 1}, 1.0);
    const std::span<double> to = values.change();
    std::size_t n = 0;
    for (Index x = box.lo; x.j < box.hi.j; ++x.j) {
      for (x.i = box.lo.i; x.i < box.hi.i; ++x.i) to[n++] = in(x - ex);
    }
    Job& job = work.job("walks", box.extent());
    job.reads(values).writes(ends).reduces(steps).cutAlong(1, 1).form(options.form);
    job.limits({.pushed = 1 << 20, .queue = 1 << 14, .calls = options.mostCalls});
    job.template runs<CellWalk>(
        cellWalkKernels(), [&values, &ends, &steps, box, endless = options.isEndless](const TaskData& data) {
          return CellWalk{data.read(values), data.write(ends), data.sums(steps), box.lo, endless};
        });
    work.atEnd([&ends, &steps, box, out] {
      std::size_t at = 0;
      for (Index x = box.lo; x.j < box.hi.j; ++x.j) {
        for (x.i = box.lo.i; x.i < box.hi.i; ++x.i)
          out(x) = std::fmod(ends.values()[at++], 1000.0) + 1e-3 * steps.value({0, 0, 0});
      }
    });
  });
}

}  // namespace tessera::jobs::testing
