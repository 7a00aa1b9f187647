#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/transport/transport.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "scheduler/device/memory/device_access.hpp"
#include "scheduler/device/memory/device_memory_use.hpp"
#include "scheduler/device/memory/device_paging_counts.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/runner_options.hpp"
#include "scheduler/step_inputs.hpp"
#include "scheduler/trace.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// Sums since the runner was made.
struct StepStatistics {
  std::int64_t steps = 0;
  std::int64_t tasks = 0;
  std::int64_t messages = 0;
  std::int64_t messageBytes = 0;
  double taskSeconds = 0.0;  ///< in tasks, all workers together
  double messageSeconds =
      0.0;  ///< packing and handing over messages, filling halos, joining; all workers together
  double waitSeconds = 0.0;        ///< workers without anything to run, all together
  std::int64_t graphCaptures = 0;  ///< of steps, as graphs of a device
  std::int64_t graphReplays = 0;   ///< steps that a device has run as a graph, those captured included
  std::int64_t graphBodies = 0;    ///< bodies of tasks that these have called for their closures
};

/// What own patches have cost the host since the runner was made, in seconds of its workers; all together
/// `StepStatistics::taskSeconds`, but for rounding. What runs on devices is not in it.
struct PatchCosts {
  std::vector<double> seconds;  ///< by own patch, as `CompiledGraphs::ownPatches` has them
  double elsewhere = 0.0;       ///< in tasks that run once a rank
};

/// What placement by cost has found so far.
struct CostReport {
  bool used = false;
  bool settled = false;                           ///< no more trials
  double hostPart = 0.0;                          ///< of the cells, that the host has now
  std::int64_t trialSteps = 0;                    ///< steps spent on trials
  std::vector<std::pair<double, double>> trials;  ///< host's part, and seconds of a step with it
};

/// Replays compiled graphs. One object a rank; `run` is called by one thread, the executor brings its own.
/// A task that fails ends the step with the exception it threw, after the others have come to rest. What a
/// device finds out about a task comes from that step, one of the next two, `copyToHost` or `waitForDevices`,
/// before anybody on the host sees what the task wrote.
class StepRunner {
 public:
  /// Opens the devices and takes their memory, without a word to other ranks; then calls `connect`, unless
  /// that is for later. Throws DeviceError.
  StepRunner(const CompiledGraphs& graphs, DataWarehouse& data, Transport& transport, Executor& executor,
             RunnerOptions options);
  ~StepRunner();

  /// Makes plans and their messages to other ranks ready, once. All ranks call it, and wait for one another.
  void connect();

  /// Runs plan number `plan` once: its New values are the Old ones afterwards. The result is valid until the
  /// next call. From the second run of a plan on nothing is allocated and no mutex taken, but by the
  /// transport.
  const StepResult& run(std::size_t plan, const StepInputs& inputs);

  /// Between runs: the New values that these have on their levels are Old ones from then on. For those that
  /// were kept (`AfterReplay::Keep`).
  void promote(std::span<const LevelLabel> what);

  /// As `run`, but returns when this rank's own part is done and the control numbers are there: reductions
  /// may still be under way, beside the next run. `result` waits for them. Without `stepsOverlap` they are
  /// there.
  void runAhead(std::size_t plan, const StepInputs& inputs);
  /// The result of the last run of the plan; waits for its reductions. Valid until the next but one run of
  /// it.
  const StepResult& result(std::size_t plan);
  /// The control numbers of the last run of the plan, without waiting.
  std::span<const double> control(std::size_t plan) const;

  const StepStatistics& statistics() const;
  /// Between runs. Takes time that grows with the patches: for a load balancer, now and then.
  PatchCosts patchCosts() const;

  /// Before the caller reads values of these variables from the data warehouse, where devices are in use:
  /// brings what devices alone have to the host. Between runs.
  void copyToHost(std::span<const LabelId> labels, Generation generation = Generation::Old);
  /// Likewise to the devices that have the patches, what they have memory for.
  void copyToDevices(std::span<const LabelId> labels, Generation generation);
  /// The first device of this rank, for what works on variables between runs: `waitForDevices` before, and
  /// say `wroteOn` after. Null where there is none, and where variables of a device are swapped.
  const DeviceAccess* deviceAccess() const;
  /// Until the devices have done all that was launched. Throws what they have found out about tasks. Between
  /// runs.
  void waitForDevices();
  /// Between steps, after each: where placement is by cost, learns from what steps took, and may place the
  /// plans anew for the next ones. Nothing else.
  void balance();
  /// Between steps: gives the host this part of the cells, as whole patches allow, until `balance` decides
  /// otherwise. Needs placement by cost.
  void placeOnHost(double part);
  CostReport costReport() const;
  /// After an error that a device has found in a task: the run that the task belongs to, which need not be
  /// the last one. Empty after others.
  std::optional<StepMoment> failedAt() const;
  /// Those in use.
  std::vector<DeviceInfo> devices() const;
  /// Where `DeviceOptions::graphs` are asked for: for people, which plans have none and why, a line each.
  std::vector<std::string> notices() const;
  /// What variables take on these devices, and what was moved because that is more than the limit, all
  /// devices together. Between runs.
  DevicePagingCounts devicePaging() const;
  /// What variables take on each of them.
  std::vector<DeviceMemoryUse> deviceMemory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
