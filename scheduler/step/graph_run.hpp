#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/exact_sum.hpp"
#include "datawarehouse/task_frame.hpp"
#include "scheduler/device_step/device_run.hpp"
#include "scheduler/device_step/device_step.hpp"
#include "scheduler/device_step/rank_devices.hpp"
#include "scheduler/diagnostics/deadlock_detector.hpp"
#include "scheduler/diagnostics/node_names.hpp"
#include "scheduler/executor/tick_clock.hpp"
#include "scheduler/messages/message_pump.hpp"
#include "scheduler/runner_options.hpp"
#include "scheduler/step/host_moves.hpp"
#include "scheduler/step/launch_nodes.hpp"
#include "scheduler/step/scratch_windows.hpp"
#include "scheduler/step/step_gate.hpp"
#include "scheduler/step/task_frames.hpp"
#include "scheduler/step/task_prefetches.hpp"
#include "scheduler/step_inputs.hpp"
#include "scheduler/tracing/node_annotations.hpp"

namespace tessera::detail {

/// One compiled graph ready to be replayed: what each kind of node does. `run` is called by many threads at
/// once, for different nodes; the graph's edges make sure that no two of them touch the same data.
///
/// Homes: the own patches of each level, which lie along a space-filling curve, are dealt out in ranges of
/// equal length; what belongs to no patch is where its data come from.
class GraphRun : public NodeSource {
 public:
  /// A step has no more control numbers.
  static constexpr std::size_t kMaxControls = 16;

  /// `devices`: of the rank; null where it uses none.
  GraphRun(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, Transport& transport,
           const RunnerOptions& options, int workers, const RankDevices* devices);

  /// The run whose result gives a step its dt: `run` may be the same graph.
  struct Earlier {
    GraphRun* run = nullptr;
    std::size_t round = 0;
  };

  /// `ahead`: the replay ends when the reductions have been started. `earlier` is of the run that `lateDt`
  /// asks for, if any.
  void begin(const StepInputs& inputs, bool ahead, const Earlier& earlier);
  /// The New values become Old ones, and the control numbers are there. Throws what `lateDt` has thrown; then
  /// the Old values stay.
  void end();
  /// In place of `end`, where the replay has failed.
  void giveUp();
  /// Of the last run; without waiting.
  Earlier latest() { return {this, round_}; }
  /// Whether the reductions of that run are complete; looks after them once. One caller at a time, like
  /// `poll`.
  bool settle(std::size_t round);
  /// Of the last run: control numbers, and the reductions once settled.
  const StepResult& result() const { return results_[round_]; }
  /// Waits for the reductions of the last run.
  const StepResult& waitForResult();

  /// Between steps, when devices have done all: gives up what was made for the places so far, before these
  /// change. Until `takePlaces` nothing may run.
  void leavePlaces() {
    deviceStep_.reset();
    devices_.clear();
  }
  /// Runs nodes where the devices say now. Whoever replays this has to be made again.
  void takePlaces(const RankDevices& devices);

  std::int64_t nodeCount() const override { return std::ssize(predecessorCounts()); }
  std::span<const std::int32_t> predecessorCounts() const override {
    if (launches_) return launches_->predecessorCounts();
    return placed_ != nullptr ? placed_->hostCounts : gate_.predecessorCounts();
  }
  std::span<const std::int32_t> successors(std::int32_t node) const override {
    if (isLaunch(node)) return {};
    if (placed_ != nullptr) return placed_->hostEdges.row(node);
    return gate_.is(node) ? gate_.successors() : graph_.successors(node);
  }
  NodeTraits traits(std::int32_t node, int workers) const override;
  bool run(std::int32_t node, int worker) override;
  std::span<const std::int32_t> poll() override;
  std::string describe(std::int32_t node) const override;
  int waitsForRank(std::int32_t node) const override;
  std::vector<std::int32_t> begun() override;
  std::string detectDeadlock(std::chrono::duration<double> limit) override;
  /// `talk` outlives this object; without one `detectDeadlock` says nothing.
  void setTalk(DeadlockDetector* talk) { talk_ = talk; }

  /// For a thread that helps out, beside the workers: serves the devices if nobody has since the last call.
  /// Failures come from the next `poll`.
  void serveDevices();
  /// Old values of these variables on the host, where devices alone have them; waits for that.
  void copyToHost(std::span<const LabelId> labels);

  /// Throws what the devices have found out about tasks of any plan so far.
  void expectNothingFound() const { DeviceRun::expectNothingFound(devices_); }
  /// See StepRunner.
  std::optional<StepMoment> failedAt() const {
    for (const auto& device : devices_) {
      if (device->failedAt()) return device->failedAt();
    }
    return std::nullopt;
  }

  std::int64_t taskCount() const { return taskCount_; }
  /// In tasks, and in all other nodes, all workers together, in the steps that have ended.
  double taskSeconds() const { return taskSeconds_; }
  double messageSeconds() const { return messageSeconds_; }
  const CompiledGraph& graph() const { return graph_; }
  const std::vector<std::unique_ptr<DeviceRun>>& deviceRuns() const { return devices_; }
  /// A range around the run for a profiler, shown with the number of the step; nothing where none listens.
  NvtxScope shownAs(std::int64_t step) {
    return ranges_ ? ranges_->step(step) : NvtxScope(nullptr, nullptr, step);
  }

 private:
  /// What one worker has spent in the running step, on a cache line of its own.
  struct alignas(64) WorkerTicks {
    std::int64_t tasks = 0;
    std::int64_t messages = 0;
  };

  void beginDevices();
  void finishDevices();
  void raiseOfStandby() const;
  NodeTraits deviceTraits(std::int32_t node, int workers) const;
  int homeOf(const NodeBlock& block, std::int32_t number, int workers) const;
  int homeOfLocal(std::int32_t local, int workers) const;
  bool runShown(const NodeBlock& block, std::int32_t node, int worker);
  void takeDt();
  void settleWaiting(std::size_t round);
  bool isLaunch(std::int32_t node) const { return launches_ && launches_->is(node); }
  bool isOnDevice(std::int32_t node) const { return placed_ != nullptr && placed_->place(node) != kOnHost; }
  DeviceRun& deviceOf(std::int32_t node) { return *devices_[static_cast<std::size_t>(placed_->place(node))]; }
  std::span<const std::int32_t> pollDevices(std::span<const std::int32_t> messages);
  bool handOver(std::int32_t node, int worker);
  bool runTraced(const NodeBlock& block, std::int32_t node, int worker);
  bool runNode(const NodeBlock& block, std::int32_t node, int worker);
  void runTask(const NodeBlock& block, std::int32_t number, int worker);
  void runBody(TaskFrame& frame, std::span<TaskAccess> accesses, const TaskDeclaration& task);
  void joinContributions(std::int32_t reduction);
  /// Gathers what a task reads of variables without stored halos, and tells where it is.
  void gatherScratch(const TaskUnit& unit, std::int32_t number, int worker, TaskAccesses& accesses);
  void gatherScratch(const UnitAccess& access, std::int32_t number, int worker, TaskAccess& resolved);

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  std::size_t plan_;
  DataWarehouse& data_;
  RunnerOptions options_;
  Transport& transport_;
  MessagePump pump_;
  HostMoves moves_;
  TaskFrames frames_;
  DeadlockDetector* talk_ = nullptr;
  ScratchWindows scratch_;
  TaskPrefetches prefetches_;
  StepInputs inputs_;
  StepGate gate_;
  bool ahead_ = false;
  Earlier earlier_;
  std::unique_ptr<Error> refusal_;      ///< what `lateDt` has thrown
  std::atomic<bool> isRefused_{false};  ///< tasks do nothing: the step ends in order, on every rank
  // Of the last two runs, which take turns like the rounds of the pump:
  std::size_t round_ = 0;
  std::array<StepResult, 2> results_;
  std::array<bool, 2> open_{false, false};  ///< reductions are under way, or not taken
  std::array<std::int64_t, 2> tracedRun_{-1, -1};
  std::int64_t taskCount_ = 0;
  std::vector<WorkerTicks> ticks_;  ///< by worker
  TickRate rate_;                   ///< of the running step
  double taskSeconds_ = 0.0;
  double messageSeconds_ = 0.0;
  std::unique_ptr<NodeAnnotations> ranges_;
  const RankDevices* rankDevices_ = nullptr;         ///< where devices are in use
  const PlacedGraph* placed_ = nullptr;              ///< likewise
  std::vector<std::unique_ptr<DeviceRun>> devices_;  ///< by place
  std::optional<DeviceStep> deviceStep_;             ///< the one at hand, or the last
  std::optional<LaunchNodes> launches_;              ///< where there are several
  std::vector<std::int32_t> reported_;
  std::atomic<bool> served_{false};  ///< somebody has been in `poll` since the standby thread looked
  std::atomic<bool> standbyFailed_{false};
  std::unique_ptr<Error> standbyFailure_;  ///< before `standbyFailed_`
};

}  // namespace tessera::detail
