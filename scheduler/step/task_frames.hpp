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

/// What the tasks of one compiled graph see, wherever they run: accesses resolved to memory, numbers of the
/// step, and room for what they contribute to reductions. Any number of threads at once, for different nodes.
class TaskFrames {
 public:
  TaskFrames(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, bool checked);

  /// Node `number` of the block, without its accesses.
  TaskFrame frameOf(const TaskUnit& unit, const NodeBlock& block, std::int32_t number,
                    const StepInputs& inputs);
  /// Adds the accesses of that node, which works on own patch `local`. In the memory of the device whose
  /// store is given, else in the host's.
  void resolve(const TaskUnit& unit, std::int32_t number, std::int32_t local, const Patch* patch,
               TaskAccesses& accesses, DeviceStore* store = nullptr);

  /// Adds the scratch fields of that node, in `memory` of so many bytes; null: nobody will touch them.
  void addScratch(const TaskUnit& unit, const Patch* patch, std::byte* memory, TaskAccesses& accesses) const;
  std::int64_t scratchBytesOf(const TaskUnit& unit, const Patch* patch) const;

  /// Before a step.
  void forgetContributions();
  /// By the graph's numbers.
  const PatchContribution& contribution(std::int64_t n) const {
    return contributions_[static_cast<std::size_t>(n)];
  }

 private:
  TaskAccess resolveGather(const UnitAccess& access, std::int32_t number, const Patch* patch,
                           DeviceStore* store);
  void layOutContributions();

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  std::size_t plan_;
  DataWarehouse& data_;
  bool checked_;
  std::vector<std::string> places_;               ///< where each task was declared, for messages
  std::vector<PatchContribution> contributions_;  ///< of all task nodes, one after another
};

}  // namespace tessera::detail
