#include "scheduler/step/step_gate.hpp"

namespace tessera::detail {

bool usesDt(const CompiledGraph& graph, NodeId node) {
  const NodeBlock& block = graph.block(node);
  const auto item = static_cast<std::size_t>(block.item);
  switch (block.kind) {
    case NodeKind::Task:
      return graph.plan->task(graph.units[item].task).usesDt;
    case NodeKind::Fill:
      return graph.fills[item].generation == Generation::New;
    default:
      return false;
  }
}

StepGate::StepGate(const CompiledGraph& graph, bool wanted) : counts_(graph.predecessorCounts) {
  if (!wanted) return;
  node_ = graph.blockOf.endId();
  IdVector<NodeId, char> comesAfter(counts_.size());
  // Every edge goes from a lower node to a higher one.
  for (const NodeId node : graph.nodes()) {
    if (graph.isSpare(node)) continue;
    if (comesAfter[node] == 0) {
      if (!usesDt(graph, node)) continue;
      successors_.push_back(node);
      ++counts_[node];
    }
    for (const NodeId next : graph.successors(node)) comesAfter[next] = 1;
  }
  counts_.push_back(0);
}

}  // namespace tessera::detail
