#pragma once

#include <cstdint>

#include "datawarehouse/data_warehouse.hpp"
#include "scheduler/engine_step/begun_tasks.hpp"
#include "scheduler/runner_options.hpp"
#include "scheduler/step/border_watch.hpp"
#include "scheduler/step/host_moves.hpp"
#include "scheduler/step/node_runner.hpp"
#include "scheduler/step/scratch_windows.hpp"
#include "scheduler/step/task_accesses.hpp"
#include "scheduler/step/task_frames.hpp"
#include "scheduler/step/task_prefetches.hpp"

namespace tessera::detail {

/// Runs tasks: gathers what they read through scratch windows, calls their bodies, and looks for values that
/// are not finite in what they have written. Bodies that begin work elsewhere are looked after by `ended`.
class TaskNodes final : public NodeRunner {
 public:
  /// All of these outlive the object.
  TaskNodes(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, HostMoves& moves,
            TaskFrames& frames, const RunningStep& step, const RunnerOptions& options, int workers);

  bool run(const NodeAt& at, int worker) override;
  int homeOf(const NodeAt& at, int workers) const override {
    return homeOfPatch(graphs_, at.local(), workers);
  }
  int urgencyOf(const NodeAt& at) const override {
    return graph_.declarationOf(graph_.unitOf(at.block)).priority;
  }
  bool waits(const NodeAt& at) const override {
    return graph_.declarationOf(graph_.unitOf(at.block)).body.begins != nullptr;
  }

  /// Goes on with work that bodies have begun: the nodes whose work has ended since the last call, valid
  /// until the next one. One caller at a time. Throws what went wrong in the work.
  std::span<const NodeId> ended();
  /// What was begun and has not ended.
  const BegunTasks& begun() const { return begun_; }
  BegunTasks& begun() { return begun_; }

 private:
  /// A task that works on all own patches of its level.
  bool runOnPatches(const NodeAt& at, int worker);
  bool begin(const NodeAt& at, const TaskUnit& unit, const TaskDeclaration& task, int worker);
  void lookAtResults(const NodeAt& at, const TaskUnit& unit, TaskFrame& frame);
  void runBody(TaskFrame& frame, std::span<TaskAccess> accesses, const TaskDeclaration& task);
  /// Gathers what a task reads of variables without stored halos, and tells where it is.
  void gatherScratch(const TaskUnit& unit, const NodeAt& at, const TaskFrame& frame, std::byte* memory,
                     TaskAccesses& accesses);
  void gatherScratch(const UnitAccess& access, std::int32_t number, std::byte* memory, TaskAccess& resolved);

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  DataWarehouse& data_;
  HostMoves& moves_;
  TaskFrames& frames_;
  const RunningStep& step_;
  const RunnerOptions& options_;
  ScratchWindows scratch_;
  std::vector<char> usesScratch_;  ///< by unit
  TaskPrefetches prefetches_;
  BorderWatch borders_;
  BegunTasks begun_;
  std::vector<NodeId> ended_;
};

}  // namespace tessera::detail
