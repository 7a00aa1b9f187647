#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/device/lane/launch_watch.hpp"
#include "scheduler/device/lane/submissions.hpp"
#include "scheduler/device/loops/task_loops.hpp"
#include "scheduler/device/moves/device_moves.hpp"
#include "scheduler/device_step/device_checks.hpp"
#include "scheduler/device_step/device_paging.hpp"
#include "scheduler/device_step/plan_placing.hpp"
#include "scheduler/device_step/plan_replay.hpp"
#include "scheduler/device_step/rank_devices.hpp"
#include "scheduler/messages/message_pump.hpp"
#include "scheduler/step/task_frames.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// Notes in status words that a task has written its outputs on own patch `local` in this space.
void noteWritten(DataWarehouse& data, const CompiledGraph& graph, const TaskUnit& unit, std::int32_t local,
                 MemorySpace space);

/// The nodes of one plan that run on one device: what each of them launches. `run` and `serve` may be called
/// by many threads; the lane lets one of them in at a time.
class DeviceRun : public LaneClient, private ReplaySource {
 public:
  /// The device at `slot` of the rank's. `inputs` are those of the running step, from `begin` on; of the
  /// options: `checked`, `findNonFinite` and `nvtx`. All outlive the object.
  DeviceRun(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, const RankDevices& devices,
            std::size_t slot, MessagePump& pump, TaskFrames& frames, const StepInputs& inputs,
            const RunnerOptions& options);

  /// Before a step, first of all: brings here, of the values of this device's patches, what the plan reads of
  /// Old, and to the host what the host reads.
  void bringOld();
  /// Then: decides whether the step is replayed.
  void choose() { isReplayed_ = replay_ && replay_->begin(placing_.now()); }
  /// Whether some of it may start before other devices have come to the end of the last one.
  bool startsApart() const { return startsApart_ && !isReplayed_; }
  /// Then: hands all to the lane that waits for nothing on the host.
  void begin();
  /// Whether the step is replayed as graphs of the device; the same on all devices of a rank.
  bool isReplayed() const { return isReplayed_; }
  /// Whether `take` gives the node when it has ended.
  bool reports(std::int32_t node) const {
    return reports_[static_cast<std::size_t>(taskOf_[static_cast<std::size_t>(node)])] != 0;
  }
  /// The executor has come to the node: it may be launched now. False: `take` will give it when it has ended.
  bool run(std::int32_t node);
  /// Launches what is ready and looks at what has ended. Any thread.
  void serve();
  /// Calls `take(node)` for nodes of the executor that have ended since. One thread at a time.
  template <class Take>
  void take(const Take& take) {
    ended_.takeAll([&](std::int32_t task) { take(nodes_[static_cast<std::size_t>(task)]); });
  }
  /// After a step, when the executor has come to its end: launches what can be. Whether nothing is left.
  bool finish();
  /// Nodes of the executor that were launched and have not ended, for the page about a stall.
  std::vector<std::int32_t> begun() const;

  /// Copies Old values of these variables to the host where it does not have them; waits for that.
  void bringHome(std::span<const LabelId> labels);

  /// Throws what the devices of a rank have found out first about tasks of any plan, if there is anything.
  static void expectNothingFound(std::span<const std::unique_ptr<DeviceRun>> runs);
  /// When the device has found out something about a task of this plan: the run that the task belongs to.
  const std::optional<StepMoment>& failedAt() const { return failedAt_; }

  void launch(std::int32_t kind, std::span<const std::int32_t> tasks,
              std::span<const DeviceStream> streams) override;

  /// Of all devices, by slot, for one plan: their nodes wait for one another. Once, before the first step.
  static void join(std::span<const std::unique_ptr<DeviceRun>> runs);
  /// What the run launches, for a DevicePaging.
  DevicePaging::Part part() { return {&side_, nodes_, &watch_}; }
  /// From now on launches go through `paging`, which outlives the run. Where the rank's variables do not all
  /// fit on its devices, before the first step.
  void launchBy(DevicePaging& paging) { paging_ = &paging; }

  /// Why steps of the plan are not replayed as graphs of the device, for people; empty where they are, or
  /// nobody has asked for it.
  const std::string& whyNoGraphs() const { return whyNoGraphs_; }
  /// Between steps.
  ReplayCounts replayCounts() const { return replay_ ? replay_->counts() : ReplayCounts{}; }

 private:
  void layOutChecks();
  /// What the host would say about it.
  [[noreturn]] void report(const TaskFinding& finding);
  void unsetGathers(const FillPlan& fill, DeviceStream stream);
  /// A plan's launches as graphs, where they can be some; `lane` is what the lane was given, `segments` are
  /// by node.
  void makeReplay(const LanePlan& lane, const std::vector<std::int32_t>& segments);
  bool hasBodies(std::int32_t kind) const override;
  void callBody(std::int32_t kind, std::int32_t task, DeviceLoops& loops) override;
  DeviceMoves::KeptValues keepValues(std::int32_t kind, std::span<const std::int32_t> tasks,
                                     DeviceStream stream) override;
  void giveValues(const DeviceMoves::KeptValues& kept, DeviceStream stream) override;
  void evaluate(std::int32_t kind, std::span<const std::int32_t> tasks,
                const DeviceMoves::KeptValues& kept) override;
  std::int64_t captureMoves(std::int32_t kind, std::span<const std::int32_t> tasks,
                            const DeviceMoves::KeptValues& kept, DeviceStream stream) override;
  void noteLaunched(std::int32_t kind, std::span<const std::int32_t> tasks) override;
  bool isFill(const PlacedBlock& placed) const;
  double timeOf(const FillPlan& fill) const;
  /// What the tasks of a launch stand for, counted from `first`, into `numbers_`.
  void setNumbers(std::span<const std::int32_t> tasks, std::int32_t first);
  void putCopies(const PlacedBlock& placed, DeviceStream stream);
  void noteCopied(const PlacedBlock& placed);
  /// One of those that are this kind of the lane: tasks of all are launched together.
  const PlacedBlock& placedOf(std::int32_t kind) const {
    return placed_.blocks[static_cast<std::size_t>(kinds_[static_cast<std::size_t>(kind)])];
  }
  /// Of tasks whose memory is there.
  void put(std::int32_t kind, std::span<const std::int32_t> tasks, std::span<const DeviceStream> streams);
  bool readsHost(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node) const;
  bool crossesTheBus(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node) const;
  LaneTask laneTask(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node) const;
  LanePlan layOut();
  void addEdges(LanePlan& lane) const;
  void nameLaunches();
  bool isPackedHere(const PackItem& item) const;
  void listOldNeeds();
  /// Of the patches of this device.
  void bring(DeviceMoves::CopyTo to, LabelId label, LevelId level);
  /// Patches of this device whose Old value is valid in space `from` and not in `to`.
  std::vector<std::int32_t> localsToBring(LabelId label, LevelId level, MemorySpace from,
                                          MemorySpace to) const;
  void launchTasks(std::int32_t kind, const PlacedBlock& placed, std::span<const std::int32_t> tasks,
                   std::span<const DeviceStream> streams);
  void launchMoves(const PlacedBlock& placed, std::span<const std::int32_t> tasks, DeviceStream stream);
  void launchFills(const PlacedBlock& placed, std::span<const std::int32_t> tasks, DeviceStream stream);
  void launchCopies(const PlacedBlock& placed, std::span<const std::int32_t> tasks, DeviceStream stream);
  /// What a task sees, but for its loops. `accesses` is what the frame's accesses lie in.
  TaskFrame frameOf(const PlacedBlock& placed, std::int32_t task, TaskAccesses& accesses);
  const TaskDeclaration& declarationOf(const PlacedBlock& placed) const;
  /// Runs the body of a task whose `loops` are given; see TaskLoops.
  void callBody(const PlacedBlock& placed, std::int32_t task, DeviceLoops& loops);
  void endOf(std::int32_t task);
  template <class Results>
  void end(std::int32_t task, Results& results);
  void beginReplay();
  /// The executor has come to a task of a step that is replayed.
  void comeTo(std::int32_t task);
  /// What a task of the lane stands for, in its block of the compiled graph.
  std::int32_t numberOf(std::int32_t task) const {
    return placed_.numberOf(nodes_[static_cast<std::size_t>(task)]);
  }

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  const std::size_t plan_;
  DataWarehouse& data_;
  DeviceSide& side_;
  const PlacedGraph& placed_;
  DeviceTurn* const turn_;    ///< null: the lane lets one thread in, and that is enough
  const bool hasPeers_;       ///< other devices of the rank
  bool startsApart_ = false;  ///< some task of the lane is `apart`
  TaskFrames& frames_;
  const StepInputs& inputs_;
  DeviceMoves moves_;
  TaskLoops loops_;
  LaunchWatch watch_;
  DeviceChecks checks_;
  std::optional<StepMoment> failedAt_;
  std::vector<std::int32_t> copyKinds_;  ///< of `watch_`: of a label to the device, and back
  std::vector<std::int32_t> nodes_;      ///< by task of the lane
  std::vector<std::int32_t> taskOf_;     ///< by node; -1: not of this device
  std::vector<std::int32_t> kinds_;      ///< by kind of the lane: a position in the placed graph's blocks
  std::vector<char> reports_;            ///< by task
  std::vector<Range> first_;             ///< tasks that wait for nothing on the host
  std::vector<OldNeed> oldNeeds_;        ///< of this device and of the host
  std::unique_ptr<LaneWork> work_;
  Submissions<> ended_;
  std::vector<std::int32_t> numbers_;  ///< of the launch at hand
  DevicePaging* paging_ = nullptr;     ///< null where all variables fit on the devices
  PlanPlacing placing_;
  std::string whyNoGraphs_;
  std::unique_ptr<PlanReplay> replay_;              ///< null: every step is launched
  bool isReplayed_ = false;                         ///< the step at hand
  std::vector<std::int32_t> segments_;              ///< of `replay_`, by task
  std::vector<std::int32_t> nodesOf_;               ///< by segment: nodes of the executor
  std::vector<std::atomic<std::int32_t>> missing_;  ///< by segment: those that it has not come to
};

}  // namespace tessera::detail
