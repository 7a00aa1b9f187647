#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/device/lane/device_lane.hpp"
#include "scheduler/device/lane/launch_profiler.hpp"
#include "scheduler/device/loops/task_loops.hpp"
#include "scheduler/device/moves/device_moves.hpp"
#include "scheduler/device_step/device_checks.hpp"
#include "scheduler/device_step/device_paging.hpp"
#include "scheduler/device_step/lane_layout.hpp"
#include "scheduler/runner_options.hpp"
#include "scheduler/step/task_frames.hpp"
#include "scheduler/step_inputs.hpp"

namespace tessera::detail {

struct DeviceSide;

/// Notes in status words that a task has written its outputs on own patch `local` in this space.
void noteWritten(DataWarehouse& data, const CompiledGraph& graph, const TaskUnit& unit, std::int32_t local,
                 MemorySpace space);

/// What the nodes of one plan that run on one device put into its streams: bodies of tasks with their checks,
/// fills, packs and copies; and what status words say afterwards. Kinds and tasks are those of the layout.
/// Thread rule: the lane's.
class DeviceNodes final : public LaneClient {
 public:
  /// `inputs` are those of the running step, from `beginStep` on; of the options: `checked`, `findNonFinite`
  /// and `nvtx`. All outlive the object.
  DeviceNodes(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, const PlacedGraph& placed,
              DeviceSide& side, const LaneLayout& layout, DeviceMoves& fills, TaskFrames& frames,
              const StepInputs& inputs, const RunnerOptions& options);

  void beginStep();
  /// When all of the step has been launched.
  void endStep();
  void launch(std::int32_t kind, std::span<const std::int32_t> tasks,
              std::span<const DeviceStream> streams) override;
  /// Copies Old values of own patches between the host and the device.
  void copyValues(DeviceMoves::CopyTo to, Generation generation, LabelId label,
                  std::span<const std::int32_t> locals, DeviceStream stream);
  /// Whether a task contributes to reductions: `contribute` gives their values when it has ended.
  bool contributes(std::int32_t task) const;
  void contribute(std::int32_t task, DeviceLoops& finished) { callBody(task, finished); }
  /// Whether some task has scratch fields, which lie elsewhere in each launch.
  bool hasScratch() const;
  DeviceLoops& finished(std::int32_t task) { return loops_.finished(task); }

  // For launches that are captured, and repeated in later steps.

  /// Whether the tasks of a kind have bodies; others move bytes.
  bool hasBodies(std::int32_t kind) const;
  /// Runs the body of a task whose `loops` are given; see TaskLoops.
  /// Its scratch fields lie in `scratch`.
  void callBody(std::int32_t task, DeviceLoops& loops, std::byte* scratch = nullptr);
  /// Tasks that move bytes: memory for what changes from step to step, its values for the step at hand, and
  /// the launches.
  DeviceMoves::KeptValues keepValues(std::int32_t kind, std::span<const std::int32_t> tasks,
                                     DeviceStream stream);
  void giveValues(const DeviceMoves::KeptValues& kept, DeviceStream stream) {
    fills_.giveValues(kept, stream);
  }
  void evaluate(std::int32_t kind, std::span<const std::int32_t> tasks, const DeviceMoves::KeptValues& kept);
  /// ... and how many bytes these carry.
  std::int64_t captureMoves(std::int32_t kind, std::span<const std::int32_t> tasks,
                            const DeviceMoves::KeptValues& kept, DeviceStream stream);
  /// Notes in status words what a launch of these tasks does.
  void noteLaunched(std::int32_t kind, std::span<const std::int32_t> tasks);

  LaunchProfiler& watch() { return watch_; }
  const std::string& planName() const { return graph_.plan->name(); }
  const DeviceChecks& checks() const { return checks_; }
  /// Whether variables are swapped with the host, since the device has no room for all.
  bool swaps() const { return paging_ != nullptr; }
  /// When the device has found out something about a task of this plan: the run that the task belongs to.
  const std::optional<StepMoment>& failedAt() const { return failedAt_; }

 private:
  void nameLaunches();
  void layOutChecks();
  /// What the host would say about it.
  [[noreturn]] void report(const TaskError& finding);
  /// Of tasks whose memory is there.
  void put(std::int32_t kind, std::span<const std::int32_t> tasks, std::span<const DeviceStream> streams);
  void launchTasks(std::int32_t kind, std::span<const std::int32_t> tasks,
                   std::span<const DeviceStream> streams);
  void launchMoves(const PlacedBlock& placed, std::span<const std::int32_t> tasks, DeviceStream stream);
  void putCopies(const PlacedBlock& placed, DeviceStream stream);
  void noteCopied(const PlacedBlock& placed);
  void unsetGathers(const FillPlan& fill, DeviceStream stream);
  /// What the tasks of a launch stand for, counted from `first`, into `numbers_`.
  void setNumbers(std::span<const std::int32_t> tasks, std::int32_t first);
  double timeOf(const FillPlan& fill) const;
  /// What a task sees, but for its loops. `accesses` is what the frame's accesses lie in.
  TaskFrame frameOf(std::int32_t task, TaskAccesses& accesses, std::byte* scratch = nullptr);
  std::int64_t scratchBytes(std::int32_t task) const;
  const NodeBlock& original(const PlacedBlock& placed) const {
    return graph_.blocks[static_cast<std::size_t>(placed.block)];
  }
  const TaskUnit& unitOf(const PlacedBlock& placed) const {
    return graph_.units[static_cast<std::size_t>(original(placed).item)];
  }
  bool isTask(const PlacedBlock& placed) const {
    return placed.kind == PlacedKind::Original && original(placed).kind == NodeKind::Task;
  }
  static bool isCopy(const PlacedBlock& placed) {
    return placed.kind == PlacedKind::CopyIn || placed.kind == PlacedKind::CopyOut;
  }

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  const std::size_t plan_;
  DataWarehouse& data_;
  DeviceBackend& backend_;
  DeviceStore& store_;
  DeviceSide& side_;
  const LaneLayout& layout_;
  DeviceMoves& fills_;
  TaskFrames& frames_;
  const std::span<const TableView> constants_;
  const std::size_t adder_;
  const StepInputs& inputs_;
  TaskLoops loops_;
  LaunchProfiler watch_;  ///< kinds of the lane; then, by label, copies of Old to the device and to the host
  DeviceChecks checks_;
  std::unique_ptr<DevicePaging> paging_;  ///< null where all variables fit on the device
  std::optional<StepMoment> failedAt_;
  std::vector<std::int32_t> numbers_;  ///< of the launch at hand
};

}  // namespace tessera::detail
