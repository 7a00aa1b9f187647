#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/exact_sum.hpp"
#include "datawarehouse/task_frame.hpp"
#include "scheduler/detail/fill_run.hpp"
#include "scheduler/detail/message_pump.hpp"
#include "scheduler/detail/node_names.hpp"
#include "scheduler/step_runner.hpp"

namespace tessera::detail {

/// One compiled graph ready to be replayed: what each kind of node does. `run` is called by many threads at
/// once, for different nodes; the graph's edges make sure that no two of them touch the same data.
///
/// Homes: the own patches of each level, which lie along a space-filling curve, are dealt out in ranges of
/// equal length; what belongs to no patch is where its data come from.
class GraphRun : public NodeSource {
 public:
  GraphRun(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, Transport& transport,
           const RunnerOptions& options, int workers);

  void begin(const StepInputs& inputs, std::span<double> control);
  /// Fills the reductions of the result; the New values become Old ones.
  void end(StepResult& result);

  std::int64_t nodeCount() const override { return graph_.nodeCount(); }
  std::span<const std::int32_t> predecessorCounts() const override { return graph_.predecessorCounts; }
  std::span<const std::int32_t> successors(std::int32_t node) const override {
    return graph_.successors(node);
  }
  NodeTraits traits(std::int32_t node, int workers) const override;
  bool run(std::int32_t node, int worker) override;
  std::span<const std::int32_t> poll() override { return pump_.poll(); }
  std::string describe(std::int32_t node) const override { return nodeName(graphs_, plan_, node); }
  std::vector<std::int32_t> begun() override { return pump_.begun(); }

  std::int64_t taskCount() const { return taskCount_; }
  /// In tasks, and in all other nodes, all workers together. Between steps only.
  double taskSeconds() const;
  double messageSeconds() const;
  const CompiledGraph& graph() const { return graph_; }

 private:
  /// More accesses than this in one task are refused when the run is made.
  static constexpr std::size_t kMaxAccesses = 48;

  struct ReductionState {
    double value = 0.0;
    ExactSum sum;
  };

  /// What one worker has spent, on a cache line of its own.
  struct alignas(64) WorkerTimes {
    std::chrono::nanoseconds tasks{0};
    std::chrono::nanoseconds messages{0};
  };

  int homeOf(const NodeBlock& block, std::int32_t number, int workers) const;
  int homeOfLocal(std::int32_t local, int workers) const;
  bool runNode(const NodeBlock& block, std::int32_t node, int worker);
  void runTask(const NodeBlock& block, std::int32_t number, int worker);
  void runBody(TaskFrame& frame, std::span<TaskAccess> accesses, const TaskDeclaration& task);
  void packMessage(std::int32_t send);
  void joinContributions(std::int32_t reduction);
  TaskFrame frameOf(const TaskUnit& unit, const NodeBlock& block, std::int32_t number);
  std::size_t resolveAccesses(const TaskUnit& unit, std::int32_t number, std::int32_t local,
                              const Patch* patch, std::array<TaskAccess, kMaxAccesses>& accesses);
  TaskAccess resolveGather(const UnitAccess& access, std::int32_t number, const Patch* patch);
  void layOutContributions();

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  std::size_t plan_;
  DataWarehouse& data_;
  RunnerOptions options_;
  MessagePump pump_;
  FillRun fills_;
  StepInputs inputs_;
  std::vector<std::string> places_;               ///< where each task was declared, for messages
  std::vector<PatchContribution> contributions_;  ///< of all task nodes, one after another
  std::vector<ReductionState> reductions_;
  std::int64_t taskCount_ = 0;
  std::vector<WorkerTimes> times_;  ///< by worker
};

}  // namespace tessera::detail
