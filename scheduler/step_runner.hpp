#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/transport.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/send_limit.hpp"
#include "scheduler/trace.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

class KernelRegions;

/// What a step starts from.
struct StepInputs {
  double time = 0.0;  ///< of Old
  double dt = 0.0;    ///< New is at time + dt
  std::int64_t step = 0;
  /// Numbers of the caller that all ranks combine (largest wins) together with the step, for example "stop
  /// was requested". The same length on every rank, at most 16.
  std::span<const double> control;
  std::int64_t shownStep = 0;  ///< number of the step for people, in a trace
};

/// What a step leaves besides the data.
struct StepResult {
  std::vector<double> reductions;  ///< by ReductionLabel id; NaN where nobody contributed
  std::vector<double> control;     ///< the largest of every rank's `control`
};

/// Sums since the runner was made.
struct StepStatistics {
  std::int64_t steps = 0;
  std::int64_t tasks = 0;
  std::int64_t messages = 0;
  std::int64_t messageBytes = 0;
  double taskSeconds = 0.0;  ///< in tasks, all workers together
  double messageSeconds =
      0.0;  ///< packing and handing over messages, filling halos, joining; all workers together
  double waitSeconds = 0.0;  ///< workers without anything to run, all together
};

struct RunnerOptions {
  bool checked = false;         ///< compare every access with the declaration; slow
  FaultPlan* faults = nullptr;  ///< of tests; the point is "scheduler.send"
  SendLimit sends{};            ///< changes no bit of the result
  bool findNonFinite = true;    ///< after each task look for NaN and infinity in what it wrote
  /// Hears of every task by its name, where a profiler listens; nullptr: nobody does, and nothing is spent on
  /// it.
  KernelRegions* regions = nullptr;
  Trace* trace = nullptr;  ///< records what runs when; outlives the runner
};

/// Replays compiled graphs. One object a rank; `run` is called by one thread, the executor brings its own.
/// A task that fails ends the step with the exception it threw, after the others have come to rest.
class StepRunner {
 public:
  StepRunner(const CompiledGraphs& graphs, DataWarehouse& data, Transport& transport, Executor& executor,
             RunnerOptions options);
  ~StepRunner();

  /// Runs plan number `plan` once: its New values are the Old ones afterwards. The result is valid until the
  /// next call. From the second run of a plan on nothing is allocated and no mutex taken, but by the
  /// transport.
  const StepResult& run(std::size_t plan, const StepInputs& inputs);

  const StepStatistics& statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
