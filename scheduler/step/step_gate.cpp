#include "scheduler/step/step_gate.hpp"

namespace tessera::detail {

bool usesDt(const CompiledGraph& graph, std::int32_t node) {
  const NodeBlock& block = graph.block(node);
  const auto item = static_cast<std::size_t>(block.item);
  switch (block.kind) {
    case NodeKind::Task:
      return graph.plan->tasks()[static_cast<std::size_t>(graph.units[item].task)].usesDt;
    case NodeKind::Fill:
      return graph.fills[item].generation == Generation::New;
    default:
      return false;
  }
}

StepGate::StepGate(const CompiledGraph& graph, bool wanted)
    : counts_(graph.predecessorCounts.begin(), graph.predecessorCounts.end()) {
  if (!wanted) return;
  node_ = static_cast<std::int32_t>(graph.nodeCount());
  std::vector<char> comesAfter(counts_.size(), 0);
  // Every edge goes from a lower node to a higher one.
  for (std::int32_t node = 0; node < node_; ++node) {
    if (graph.isSpare(node)) continue;
    const auto n = static_cast<std::size_t>(node);
    if (comesAfter[n] == 0) {
      if (!usesDt(graph, node)) continue;
      successors_.push_back(node);
      ++counts_[n];
    }
    for (const std::int32_t next : graph.successors(node)) comesAfter[static_cast<std::size_t>(next)] = 1;
  }
  counts_.push_back(0);
}

}  // namespace tessera::detail
