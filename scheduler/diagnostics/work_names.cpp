#include "scheduler/diagnostics/work_names.hpp"

namespace tessera::detail {

WorkNames::WorkNames(const CompiledGraphs& graphs, std::size_t plan)
    : graphs_(graphs), graph_(graphs.plans[plan]), summary_(summarise(graphs, plan)) {}

std::string WorkNames::work(NodeId node) const {
  const NodeBlock& block = graph_.block(node);
  const auto item = static_cast<std::size_t>(block.item + (node - block.firstNode));
  if (block.kind == NodeKind::Send) return "pack for rank " + std::to_string(graph_.sends[item].peer);
  if (block.kind == NodeKind::Reduce) {
    return "join " + graphs_.labels->reductionName(graph_.reductions[item].reduction);
  }
  return summary_.blocks[static_cast<std::size_t>(&block - graph_.blocks.data())].name;
}

std::string WorkNames::wait(NodeId node) const {
  const NodeBlock& block = graph_.block(node);
  const auto item = static_cast<std::size_t>(block.item + (node - block.firstNode));
  switch (block.kind) {
    case NodeKind::Send:
      return "to rank " + std::to_string(graph_.sends[item].peer);
    case NodeKind::Receive:
      return "from rank " + std::to_string(graph_.receives[item].peer);
    case NodeKind::Reduce:
      return "reduce " + graphs_.labels->reductionName(graph_.reductions[item].reduction);
    default:
      return "";
  }
}

}  // namespace tessera::detail
