#pragma once

#include "scheduler/runner_options.hpp"
#include "scheduler/step/host_moves.hpp"
#include "scheduler/step/node_runner.hpp"

namespace tessera::detail {

/// Fills halos, and buffers with cells of other levels.
class FillNodes final : public NodeRunner {
 public:
  /// All of these outlive the object.
  FillNodes(const CompiledGraphs& graphs, std::size_t plan, HostMoves& moves, const RunningStep& step,
            const RunnerOptions& options)
      : graphs_(graphs), graph_(graphs.plans[plan]), moves_(moves), step_(step), options_(options) {}

  bool run(const NodeAt& at, int /*worker*/) override {
    const FillPlan& fill = graph_.fillOf(at.block);
    const double time = step_.inputs.timeOf(fill.generation, graphs_.labels->info(fill.label).stagePart);
    if (options_.checked) moves_.unset(fill, at.number);
    moves_.fill(at.block.item, at.number, time);
    return true;
  }
  int homeOf(const NodeAt& at, int workers) const override {
    return homeOfPatch(graphs_, at.local(), workers);
  }
  int urgencyOf(const NodeAt& /*at*/) const override { return 0; }

 private:
  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  HostMoves& moves_;
  const RunningStep& step_;
  const RunnerOptions& options_;
};

}  // namespace tessera::detail
