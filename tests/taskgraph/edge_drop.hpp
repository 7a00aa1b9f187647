#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "taskgraph/compiled_graph.hpp"

namespace tessera::testing {

/// An edge of the graph of one rank: entry `at` of its successor list, which belongs to node `before`.
struct EdgeAt {
  int rank = 0;
  std::int32_t before = 0;
  std::int64_t at = 0;
  std::int32_t after = 0;
};

inline std::vector<EdgeAt> edgesOf(const std::vector<CompiledGraphs>& ranks, std::size_t plan) {
  std::vector<EdgeAt> edges;
  for (const CompiledGraphs& rank : ranks) {
    const CompiledGraph& graph = rank.plans[plan];
    for (std::int32_t n = 0; n < graph.nodeCount(); ++n) {
      for (std::int64_t at = graph.successorOffsets[static_cast<std::size_t>(n)];
           at < graph.successorOffsets[static_cast<std::size_t>(n) + 1]; ++at) {
        edges.push_back({rank.rank, n, at, graph.successorList[static_cast<std::size_t>(at)]});
      }
    }
  }
  return edges;
}

/// The graph without one of its edges, as a compiler that forgot it would have made it.
inline void dropEdge(CompiledGraph& graph, const EdgeAt& edge) {
  graph.successorList.erase(graph.successorList.begin() + edge.at);
  for (auto n = static_cast<std::size_t>(edge.before) + 1; n < graph.successorOffsets.size(); ++n) {
    --graph.successorOffsets[n];
  }
  --graph.predecessorCounts[static_cast<std::size_t>(edge.after)];
}

inline NodeKind kindOf(const std::vector<CompiledGraphs>& ranks, std::size_t plan, int rank,
                       std::int32_t node) {
  return ranks[static_cast<std::size_t>(rank)].plans[plan].block(node).kind;
}

/// Whether a path leads from one node to another without the given edge; over messages, too.
class OtherPath {
 public:
  OtherPath(const std::vector<CompiledGraphs>& ranks, std::size_t plan);
  bool around(const EdgeAt& edge) const;

 private:
  struct Node {
    int rank;
    std::int32_t node;
  };
  std::vector<Node> after(Node n) const;

  const std::vector<CompiledGraphs>& ranks_;
  std::size_t plan_;
};

inline OtherPath::OtherPath(const std::vector<CompiledGraphs>& ranks, std::size_t plan)
    : ranks_(ranks), plan_(plan) {}

inline std::vector<OtherPath::Node> OtherPath::after(Node n) const {
  const CompiledGraph& graph = ranks_[static_cast<std::size_t>(n.rank)].plans[plan_];
  std::vector<Node> next;
  for (const std::int32_t s : graph.successors(n.node)) next.push_back({n.rank, s});
  const NodeBlock& block = graph.block(n.node);
  if (block.kind != NodeKind::Send) return next;
  const MessagePlan& sent = graph.sends[static_cast<std::size_t>(block.item + n.node - block.firstNode)];
  const CompiledGraph& peer = ranks_[static_cast<std::size_t>(sent.peer)].plans[plan_];
  for (const NodeBlock& b : peer.blocks) {
    if (b.kind != NodeKind::Receive) continue;
    for (std::int32_t m = 0; m < b.count; ++m) {
      const MessagePlan& received = peer.receives[static_cast<std::size_t>(b.item + m)];
      if (received.peer == n.rank && received.tag == sent.tag) next.push_back({sent.peer, b.firstNode + m});
    }
  }
  return next;
}

inline bool OtherPath::around(const EdgeAt& edge) const {
  std::vector<std::vector<bool>> seen;
  for (const CompiledGraphs& rank : ranks_)
    seen.emplace_back(static_cast<std::size_t>(rank.plans[plan_].nodeCount()));
  std::vector<Node> open{{edge.rank, edge.before}};
  bool first = true;
  while (!open.empty()) {
    const Node n = open.back();
    open.pop_back();
    bool skipped = false;
    for (const Node& next : after(n)) {
      const bool target = next.rank == edge.rank && next.node == edge.after;
      if (first && target && !skipped) {
        skipped = true;  // the edge itself; a second one between the same nodes counts
        continue;
      }
      if (target) return true;
      if (seen[static_cast<std::size_t>(next.rank)][static_cast<std::size_t>(next.node)]) continue;
      seen[static_cast<std::size_t>(next.rank)][static_cast<std::size_t>(next.node)] = true;
      open.push_back(next);
    }
    first = false;
  }
  return false;
}

}  // namespace tessera::testing
