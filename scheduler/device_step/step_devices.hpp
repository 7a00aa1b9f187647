#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/device_step/device_run.hpp"
#include "scheduler/device_step/rank_devices.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/step/launch_nodes.hpp"
#include "scheduler/trace.hpp"

namespace tessera::detail {

/// The devices of a rank, as the nodes of one plan see them: which nodes are theirs, handing these over, and
/// hearing of their ends. Empty, and without effect, where the rank uses none.
///
/// Threads: `run` and `serve` may be called by many at once, `poll` by one at a time, all else between steps.
class StepDevices {
 public:
  /// `graph` and `trace`, which may be null, outlive the object.
  StepDevices(const CompiledGraph& graph, Trace* trace) : graph_(graph), trace_(trace) {}

  /// From now on nodes run where the devices say. `runs`: of the plan, by device.
  void take(const RankDevices& devices, const PlacedGraph& placed,
            std::vector<std::unique_ptr<DeviceRun>> runs);
  /// Between steps, when devices have done all: gives up what `take` was given.
  void leave() { runs_.clear(); }

  /// Before a step: brings Old values to where they are read; lets each device come after what the others
  /// were given in the step before, since it may read what any of them has; then hands to the lanes all that
  /// waits for nothing on the host. From now on nodes may be run.
  void begin();
  /// When the executor has come to its end: launches what is left. Throws what devices have found out.
  void end();

  bool used() const { return !runs_.empty(); }
  /// Nodes more than the placed graph has, where there are several devices.
  const std::optional<LaunchNodes>& launches() const { return launches_; }
  bool isLaunch(NodeId node) const { return launches_ && launches_->is(node); }
  /// Whether a node, of those of devices or the host, runs on a device.
  bool has(NodeId node) const { return placed_ != nullptr && placed_->place(node) != kOnHost; }
  /// Of a node of a device: whether `poll` gives it when it has ended.
  bool reports(NodeId node) const { return runOf(node).reports(node); }

  /// Launches on one device what is ready there.
  void launch(NodeId node) { runs_[launches_->slotOf(node)]->serve(); }
  /// Hands a node to the lane of its device. False: `poll` gives it when it has ended.
  bool run(NodeId node, int worker);
  /// Looks after the devices: `messages`, and nodes of devices that have ended. Valid until the next call.
  std::span<const NodeId> poll(std::span<const NodeId> messages);
  /// For a thread that helps out, beside the workers: serves the devices if nobody has since the last call.
  /// Failures come from the next `poll`.
  void serve();

  /// Nodes that were launched and have not ended.
  void appendBegun(std::vector<NodeId>& nodes) const;
  /// Values of these variables on the host, where devices alone have them; waits for that.
  void copyToHost(Generation generation, std::span<const LabelId> labels);
  /// Values of these variables on the devices that have the patches, where the host alone has them.
  void copyToDevices(Generation generation, std::span<const LabelId> labels);
  /// Throws what the devices have found out about tasks of any plan so far.
  void expectNothingFound() const { DeviceRun::expectNothingFound(runs_); }
  /// See StepRunner.
  std::optional<StepMoment> failedAt() const;
  const std::vector<std::unique_ptr<DeviceRun>>& runs() const { return runs_; }

 private:
  DeviceRun& runOf(NodeId node) const { return *runs_[static_cast<std::size_t>(placed_->place(node))]; }
  void raiseOfStandby() const;
  /// Launches what can be. Whether nothing is left.
  bool launchRest();

  const CompiledGraph& graph_;
  Trace* trace_;
  const RankDevices* devices_ = nullptr;
  const PlacedGraph* placed_ = nullptr;
  std::vector<std::unique_ptr<DeviceRun>> runs_;  ///< by place
  std::optional<LaunchNodes> launches_;
  std::vector<NodeId> reported_;
  std::atomic<bool> served_{false};  ///< somebody has been in `poll` since the standby thread looked
  std::atomic<bool> standbyFailed_{false};
  std::unique_ptr<Error> standbyFailure_;  ///< before `standbyFailed_`
};

}  // namespace tessera::detail
