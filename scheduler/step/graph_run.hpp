#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/device_step/step_devices.hpp"
#include "scheduler/diagnostics/deadlock_detector.hpp"
#include "scheduler/executor/tick_clock.hpp"
#include "scheduler/messages/message_pump.hpp"
#include "scheduler/messages/step_results.hpp"
#include "scheduler/runner_options.hpp"
#include "scheduler/step/host_moves.hpp"
#include "scheduler/step/node_runner.hpp"
#include "scheduler/step/step_gate.hpp"
#include "scheduler/step/task_frames.hpp"
#include "scheduler/step/task_nodes.hpp"
#include "scheduler/step_inputs.hpp"

namespace tessera::detail {

/// One compiled graph ready to be replayed. Its nodes are run by a NodeRunner for each kind, by the devices
/// of the rank, or are the gate at which those wait that use the length of the step.
class GraphRun : public NodeSource {
 public:
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
  /// The control numbers are there, and the New values become Old ones if the inputs say so. Throws what
  /// `lateDt` has thrown; then the Old values stay.
  void end();
  /// In place of `end`, where the replay has failed.
  void giveUp() {
    tasks_.begun().giveUp();
    results_.giveUp();
  }
  /// Of the last run; without waiting.
  Earlier latest() { return {this, results_.round()}; }
  /// Of the last run: control numbers, and the reductions once settled.
  const StepResult& result() const { return results_.latest(); }
  /// Waits for the reductions of the last run.
  const StepResult& waitForResult() { return results_.wait(); }

  /// Between steps, when devices have done all: gives up what was made for the places so far, before these
  /// change. Until `takePlaces` nothing may run.
  void leavePlaces() { devices_.leave(); }
  /// Runs nodes where the devices say now. Whoever replays this has to be made again.
  void takePlaces(const RankDevices& devices);

  std::int64_t nodeCount() const override { return static_cast<std::int64_t>(predecessorCounts().size()); }
  IdSpan<NodeId, const std::int32_t> predecessorCounts() const override {
    if (devices_.launches()) return devices_.launches()->predecessorCounts();
    return step_.placed != nullptr ? step_.placed->hostCounts : gate_.predecessorCounts();
  }
  std::span<const NodeId> successors(NodeId node) const override {
    if (devices_.isLaunch(node)) return {};
    if (step_.placed != nullptr) return step_.placed->hostEdges.row(node);
    return gate_.is(node) ? gate_.successors() : graph_.successors(node);
  }
  NodeTraits traits(NodeId node, int workers) const override;
  bool run(NodeId node, int worker) override;
  std::span<const NodeId> poll() override;
  std::string describe(NodeId node) const override;
  std::string waitsFor(NodeId node) const override;
  int waitsForRank(NodeId node) const override;
  std::vector<NodeId> begun() override;
  std::string detectDeadlock(std::chrono::duration<double> limit) override;
  /// `talk` outlives this object; without one `detectDeadlock` says nothing.
  void setTalk(DeadlockDetector* talk) { talk_ = talk; }

  StepDevices& devices() { return devices_; }
  const StepDevices& devices() const { return devices_; }

  std::int64_t taskCount() const { return taskCount_; }
  /// In tasks, and in all other nodes, all workers together, in the steps that have ended.
  double taskSeconds() const { return taskSeconds_; }
  double messageSeconds() const { return messageSeconds_; }
  /// Adds to each own patch the ticks that the host has spent in tasks on it, and to `elsewhere` those in
  /// tasks on none, since this object was made. A task on all patches of a level counts for each by its
  /// cells.
  void addTaskTicks(std::vector<double>& byPatch, double& elsewhere) const;
  const CompiledGraph& graph() const { return graph_; }
  /// A range around the run for a profiler, shown with the number of the step; nothing where none listens.
  NvtxScope shownAs(std::int64_t step) {
    return step_.annotations ? step_.annotations->step(step) : NvtxScope(nullptr, nullptr, step);
  }

 private:
  static constexpr std::size_t kKinds = 5;  ///< of nodes: NodeKind

  /// What one worker has spent in the running step, on a cache line of its own.
  struct alignas(64) WorkerTicks {
    std::int64_t tasks = 0;
    std::int64_t messages = 0;
  };

  NodeRunner& runnerOf(NodeKind kind) const { return *runners_[static_cast<std::size_t>(kind)]; }
  bool runOnHost(const NodeAt& at, int worker);
  NodeTraits deviceTraits(NodeId node, int workers) const;
  void takeDt();
  void sumUpTicks();

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  std::size_t plan_;
  DataWarehouse& data_;
  RunnerOptions options_;
  Transport& transport_;
  RunningStep step_;
  MessagePump pump_;
  HostMoves moves_;
  TaskFrames frames_;
  StepGate gate_;
  StepResults results_;
  StepDevices devices_;
  std::array<std::unique_ptr<NodeRunner>, kKinds> runners_;  ///< by kind
  TaskNodes& tasks_;                                         ///< one of them
  DeadlockDetector* talk_ = nullptr;
  bool ahead_ = false;
  Earlier earlier_;
  std::unique_ptr<Error> refusal_;  ///< what `lateDt` has thrown
  std::int64_t taskCount_ = 0;
  std::vector<WorkerTicks> ticks_;       ///< by worker
  std::vector<std::int64_t> taskTicks_;  ///< of all steps, by node of a task
  TickRate rate_;                        ///< of the running step
  double taskSeconds_ = 0.0;
  double messageSeconds_ = 0.0;
};

}  // namespace tessera::detail
