#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/device_store.hpp"
#include "datawarehouse/task_frame.hpp"
#include "scheduler/step/task_accesses.hpp"
#include "scheduler/step_inputs.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// What a task that works on all own patches of its level sees of each of them.
struct PatchFrames {
  std::vector<TaskFrame> frames;
  std::vector<TaskAccess> accesses;  ///< of all of them, one patch after the other
  std::vector<TaskAccess> ofLevel;   ///< those of the task itself: whole levels
};

/// What the tasks of one compiled graph see, wherever they run: accesses resolved to memory, numbers of the
/// step, and room for what they contribute to reductions. Any number of threads at once, for different nodes.
class TaskFrames {
 public:
  /// Tasks run on `workers` threads, and on `devices`.
  TaskFrames(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, bool checked, int workers,
             std::size_t devices);

  /// Node `number` of the block, without its accesses. What it gives to sums `adder` keeps: one thread at a
  /// time runs tasks of one adder.
  TaskFrame frameOf(const TaskUnit& unit, const NodeBlock& block, std::int32_t number,
                    const StepInputs& inputs, std::size_t adder);
  std::size_t adderOfWorker(int worker) const { return static_cast<std::size_t>(worker); }
  std::size_t adderOfDevice(int slot) const { return static_cast<std::size_t>(workers_ + slot); }
  /// Adds the accesses of that node, which works on own patch `local`. In the memory of the device whose
  /// store is given, else in the host's.
  void resolve(const TaskUnit& unit, std::int32_t number, std::int32_t local, const Patch* patch,
               TaskAccesses& accesses, DeviceStore* store = nullptr);

  /// Of a task that works on all own patches of its level; `frame` is the task's, and gets them. In the
  /// memory of the host. Valid until the next call for the unit.
  PatchFrames& framesOnPatches(const TaskUnit& unit, const NodeBlock& block, TaskFrame& frame);

  /// Adds the scratch fields of that node, in `memory` of so many bytes; null: nobody will touch them.
  void addScratch(const TaskUnit& unit, const Patch* patch, std::byte* memory, TaskAccesses& accesses) const;
  std::int64_t scratchBytesOf(const TaskUnit& unit, const Patch* patch) const;

  /// Before a step.
  void forgetContributions();
  /// By the graph's numbers.
  const PatchContribution& contribution(std::int64_t n) const {
    return contributions_[static_cast<std::size_t>(n)];
  }
  /// What all tasks have given to a sum of the graph.
  ExactSum sumOf(LabelId reduction) const;

 private:
  /// Where a task may touch what it accesses; nothing for plain reads outside of checked mode.
  Box declaredBox(const UnitAccess& access, const Patch& patch) const;
  TaskAccess resolveGather(const UnitAccess& access, std::int32_t number, const Patch* patch,
                           DeviceStore* store);
  void layOutSums(std::size_t adders);
  void layOutContributions();
  void layOutFrames();
  ExactSum* sumOf(LabelId reduction, std::size_t adder);

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  std::size_t plan_;
  DataWarehouse& data_;
  bool checked_;
  int workers_;
  std::vector<std::int32_t> sumOfReduction_;  ///< place among the sums of an adder, by label; -1: no sum
  std::size_t sumCount_ = 0;
  std::vector<ExactSum> sums_;                    ///< of each adder, one after another
  std::vector<std::string> places_;               ///< where each task was declared, for messages
  std::vector<PatchContribution> contributions_;  ///< of all task nodes, one after another
  std::vector<TableView> tables_;                 ///< constant tables, in the memory of the host
  std::vector<TaskFrame> alike_;                  ///< by unit: what all of its nodes see alike
  std::vector<PatchFrames> onPatches_;            ///< by unit; empty but for tasks on all patches of a level
};

}  // namespace tessera::detail
