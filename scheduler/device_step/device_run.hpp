#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/lock_free/submissions.hpp"
#include "scheduler/device/moves/device_moves.hpp"
#include "scheduler/device_step/device_nodes.hpp"
#include "scheduler/device_step/lane_layout.hpp"
#include "scheduler/device_step/old_values.hpp"
#include "scheduler/device_step/rank_devices.hpp"
#include "scheduler/graph_replay/graph_replay.hpp"
#include "scheduler/messages/message_pump.hpp"
#include "scheduler/runner_options.hpp"
#include "scheduler/step/task_frames.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// One plan on one device, as an executor sees it: nodes go to the device's lane, launched one by one or as
/// graphs of the device, and come back when they have ended. `run` and `serve` may be called by many threads;
/// the lane lets one of them in at a time. StepDevices has the order of the calls of a step.
class DeviceRun {
 public:
  /// The device at `slot` of the rank's. `inputs` are those of the running step, from `begin` on. All outlive
  /// the object.
  DeviceRun(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, const RankDevices& devices,
            std::size_t slot, MessagePump& pump, TaskFrames& frames, const StepInputs& inputs,
            const RunnerOptions& options);

  /// Brings here, of the values of this device's patches, what the plan reads of Old, and to the host what
  /// the host reads.
  void copyOldToDevice() { old_.copy(); }
  /// Decides whether the step is replayed.
  void choose() { isReplayed_ = replay_ && replay_->choose(); }
  /// Whether the step is replayed as graphs of the device; the same on all devices of a rank.
  bool isReplayed() const { return isReplayed_; }
  /// Whether some of it may start before other devices have come to the end of the last one.
  bool startsIndependent() const { return layout_.startsIndependent() && !isReplayed_; }
  /// Hands all to the lane that waits for nothing on the host.
  void begin();
  /// Whether `take` gives the node when it has ended.
  bool reports(NodeId node) const { return layout_.reports(layout_.taskOf(node)); }
  /// The executor has come to the node: it may be launched now. False: `take` will give it when it has ended.
  bool run(NodeId node);
  /// Launches what is ready and looks at what has ended. Any thread.
  void serve();
  /// Calls `take(node)` for nodes of the executor that have ended since. One thread at a time.
  template <class Take>
  void take(const Take& take) {
    ended_.takeAll([&](std::int32_t task) { take(layout_.nodeOf(task)); });
  }
  /// After a step, when the executor has come to its end: launches what can be. Whether nothing is left.
  bool finish();
  /// When nothing is left on any device of the rank.
  void end() { nodes_.endStep(); }
  /// Nodes of the executor that were launched and have not ended, for the page about a stall.
  std::vector<NodeId> begun() const;

  /// Copies Old values of these variables to the host where it does not have them; waits for that.
  void copyToHost(Generation generation, std::span<const LabelId> labels) {
    old_.copyToHost(generation, labels);
  }

  /// Likewise to the device.
  void copyToDevice(Generation generation, std::span<const LabelId> labels) {
    old_.copyToDevice(generation, labels);
  }

  /// Throws what the devices of a rank have found out first about tasks of any plan, if there is anything.
  static void expectNothingFound(std::span<const std::unique_ptr<DeviceRun>> runs);
  /// When the device has found out something about a task of this plan: the run that the task belongs to.
  const std::optional<StepMoment>& failedAt() const { return nodes_.failedAt(); }

  /// Of all devices, by slot, for one plan: their nodes wait for one another. Once, before the first step.
  static void join(std::span<const std::unique_ptr<DeviceRun>> runs);

  /// Why steps of the plan are not replayed as graphs of the device, for people; empty where they are, or
  /// nobody has asked for it.
  const std::string& whyNoGraphs() const { return whyNoGraphs_; }
  /// Between steps.
  ReplayCounts replayCounts() const { return replay_ ? replay_->counts() : ReplayCounts{}; }

 private:
  void endOf(std::int32_t task);
  void end(std::int32_t task, DeviceLoops* finished);
  bool isPackedHere(const PackItem& item) const;

  const CompiledGraph& graph_;
  DeviceSide& side_;
  const PlacedGraph& placed_;
  DeviceMoves fills_;
  const LaneLayout layout_;
  DeviceNodes nodes_;
  OldValues old_;
  std::unique_ptr<LaneWork> work_;
  Submissions<> ended_;
  std::string whyNoGraphs_;
  std::unique_ptr<GraphReplay> replay_;  ///< null: every step is launched
  bool isReplayed_ = false;              ///< the step at hand
};

}  // namespace tessera::detail
