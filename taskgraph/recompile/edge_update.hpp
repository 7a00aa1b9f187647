#pragma once

#include <cstdint>
#include <vector>

#include "taskgraph/compile/fill_shapes.hpp"
#include "taskgraph/edges/edge_list.hpp"

namespace tessera::detail {

/// Brings numbers into rising order, each once.
void sortUnique(std::vector<std::int32_t>& numbers);

/// Gives those nodes of a graph other successors that need them after a change of the mesh: blocks, tables
/// and relations are the new ones already, successors and counts of predecessors the old ones.
class EdgeUpdate {
 public:
  /// `countsBefore`: nodes of each block on the old mesh.
  EdgeUpdate(CompiledGraph& graph, const std::vector<Relation>& relations, const FillShapes& shapes,
             std::vector<std::int32_t> countsBefore);

  /// `singles` are the single edges of the new mesh, ascending. False where the graph lacks room.
  bool run(std::vector<NodeEdge> singles);

 private:
  void findNodes(const std::vector<NodeEdge>& singles);
  void findNodesOf(const Relation& relation);
  void findReaders();
  void addEdges(std::int32_t b, std::int32_t number, std::vector<std::int32_t>& list) const;
  void addSources(const Relation& relation, std::int32_t number, std::vector<std::int32_t>& list) const;
  bool usedChanged(std::int32_t b) const {
    return block(b).count != countsBefore_[static_cast<std::size_t>(b)];
  }
  const NodeBlock& block(std::int32_t b) const { return graph_.blocks[static_cast<std::size_t>(b)]; }
  const FillPlan& fillOf(std::int32_t b) const {
    return graph_.fills[static_cast<std::size_t>(block(b).item)];
  }
  void mark(std::int32_t b, std::span<const std::int32_t> slots);

  CompiledGraph& graph_;
  const FillShapes& shapes_;
  std::vector<std::int32_t> countsBefore_;
  std::vector<std::vector<Relation>> from_;         ///< by block, those that start there
  std::vector<std::vector<std::int32_t>> numbers_;  ///< by block, ascending: nodes to give new successors
  std::vector<ReaderLists> readers_;                ///< by table
};

}  // namespace tessera::detail
