#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// "A path has to lead from `before` to `after`", nodes of the union; `reason` belongs to who asks.
struct WantedPath {
  std::int64_t before = 0;
  std::int64_t after = 0;
  std::int64_t reason = 0;
};

/// The graphs of one plan on all ranks as one graph. Edges may be added (from sends to receives) before
/// `sort`.
class UnionGraph {
 public:
  UnionGraph(std::span<const CompiledGraphs> ranks, std::size_t plan);
  /// So many nodes on each rank, without edges.
  explicit UnionGraph(std::span<const std::int64_t> nodesOfRanks);

  std::int64_t nodeCount() const { return firstOf_.back(); }
  std::int64_t edgeCount() const { return edges_; }
  std::int64_t node(Rank rank, std::int64_t local) const {
    return firstOf_[static_cast<std::size_t>(rank)] + local;
  }
  Rank rankOf(std::int64_t node) const;
  std::int32_t localOf(std::int64_t node) const {
    return static_cast<std::int32_t>(node - firstOf_[static_cast<std::size_t>(rankOf(node))]);
  }
  std::span<const std::int64_t> successors(std::int64_t node) const {
    return after_[static_cast<std::size_t>(node)];
  }

  void addEdge(std::int64_t before, std::int64_t after);
  /// Finds an order in which every edge leads forward. Returns the nodes on or behind a cycle; empty: there
  /// is none.
  std::vector<std::int64_t> sort();
  /// Of a node in that order.
  std::int64_t position(std::int64_t node) const { return positionOf_[static_cast<std::size_t>(node)]; }
  /// The wanted paths that are not there; after `sort`.
  std::vector<WantedPath> missing(std::vector<WantedPath> wanted) const;

 private:
  std::vector<std::int64_t> firstOf_;  ///< by rank, and one more
  std::vector<std::vector<std::int64_t>> after_;
  std::vector<std::int64_t> order_;
  std::vector<std::int64_t> positionOf_;
  std::int64_t edges_ = 0;
};

}  // namespace tessera::detail
