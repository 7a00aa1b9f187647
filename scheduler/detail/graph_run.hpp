#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/exact_sum.hpp"
#include "datawarehouse/task_frame.hpp"
#include "scheduler/detail/message_pump.hpp"
#include "scheduler/step_runner.hpp"

namespace tessera::detail {

/// One compiled graph ready to be replayed: what each kind of node does. `run` is called by many threads at once,
/// for different nodes; the graph's edges make sure that no two of them touch the same data.
class GraphRun : public NodeSource {
 public:
  GraphRun(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, Transport& transport,
           const RunnerOptions& options);

  void begin(const StepInputs& inputs, std::span<double> control);
  /// Fills the reductions of the result; the New values become Old ones.
  void end(StepResult& result);

  std::int64_t nodeCount() const override { return static_cast<std::int64_t>(graph_.nodes.size()); }
  std::span<const std::int32_t> predecessorCounts() const override { return graph_.predecessorCounts; }
  std::span<const std::int32_t> successors(std::int32_t node) const override { return graph_.successors(node); }
  int priority(std::int32_t node) const override { return graph_.priorities[static_cast<std::size_t>(node)]; }
  bool run(std::int32_t node) override;
  void poll(const std::function<void(std::int32_t)>& finished) override { pump_.poll(finished); }

  std::int64_t taskNanoseconds() const { return taskNanoseconds_.load(std::memory_order_relaxed); }
  const CompiledGraph& graph() const { return graph_; }

 private:
  /// More accesses than this in one task are refused when the run is made.
  static constexpr std::size_t kMaxAccesses = 48;

  struct ReductionState {
    double value = 0.0;
    ExactSum sum;
  };

  void runTask(const TaskInstance& instance, std::size_t number);
  void runHalo(const HaloFill& fill);
  void packMessage(std::int32_t send);
  void joinContributions(std::int32_t reduction);
  std::size_t resolveAccesses(const TaskInstance& instance, std::array<TaskAccess, kMaxAccesses>& accesses);
  void layOutContributions();

  const CompiledGraph& graph_;
  DataWarehouse& data_;
  RunnerOptions options_;
  MessagePump pump_;
  StepInputs inputs_;
  std::vector<std::string> places_;                   ///< where each task was declared, for messages
  std::vector<PatchContribution> contributions_;      ///< of all instances, one after another
  std::vector<Range> contributionsOf_;                ///< by instance
  std::vector<ReductionState> reductions_;
  std::atomic<std::int64_t> taskNanoseconds_{0};
};

}  // namespace tessera::detail
