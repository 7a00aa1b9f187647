#pragma once

#include <span>
#include <vector>

#include "taskgraph/edges/added_nodes.hpp"
#include "taskgraph/placement/node_assignments.hpp"

namespace tessera::detail {

/// How an edge of a compiled graph goes between two nodes that have places.
struct Route {
  std::int32_t first = 0;
  std::int32_t then = 0;
  DeviceAssignment from = kOnHost;  ///< place of `first`
  DeviceAssignment to = kOnHost;    ///< place of `then`; of a copy: whose memory it goes to
  LabelId copied = -1;              ///< the variable of which a copy stands between the two; -1: a plain edge
};

/// Says, for each edge of a compiled graph, how it goes once the nodes have places.
///
/// What stands in several places (fills and their twins) comes, in each, after all that stands for what is
/// before it in the compiled graph, and before all that stands for what is behind it: so any two nodes that a
/// path joins there are joined wherever they run, and its proofs hold for each memory. Two kinds of edges
/// differ:
/// * a value that is read in another place than it was written goes by way of a copy, in place of the edge;
/// * between the fill of an Old value and readers in other places there is none: nothing that the fill
/// touches
///   is written again but by fills that follow it by an edge of their own.
class EdgeRouter {
 public:
  EdgeRouter(const CompiledGraphs& graphs, std::size_t plan, const ValueFlow& flow,
             const PackedValues& packed, const DeviceAssignments& places, const AddedNodesTable& added,
             std::span<const DeviceAssignment> homes);

  /// The routes of all edges of a node of block `from`, in `routes`.
  void route(std::int32_t from, std::int32_t node, std::vector<Route>& routes);
  /// Whether nodes of other blocks read values, where they lie, that nodes of this one leave.
  bool hasReaders(std::int32_t block) const { return hasReaders_[static_cast<std::size_t>(block)]; }

 private:
  /// What the edges from one block to another are.
  struct Flow {
    enum class Kind : std::uint8_t { Order, Value, OldFill, Message };
    std::int32_t from = -1;  ///< for which block this has been found out
    Kind kind = Kind::Order;
    std::vector<LabelId> labels;  ///< of Value
  };

  const Flow& flow(std::int32_t from, std::int32_t to);
  bool readsFill(const NodeBlock& reader, std::int32_t fill) const;
  void routeValue(const Flow& flow, const Route& towards, std::int32_t local, std::int32_t row,
                  const NodeBlock& reader, std::vector<Route>& routes);
  void routeMessage(std::int32_t from, std::int32_t to, const Route& towards,
                    std::vector<Route>& routes) const;
  bool readsPeer(std::int32_t local, std::int32_t row, const NodeBlock& reader);
  std::int32_t windowOf(std::int32_t fill, std::int32_t local);
  bool hasHome(LabelId label, std::int32_t local) const;
  template <class Visit>
  void forEachInstance(std::int32_t block, std::int32_t node, Visit&& visit) const;
  const NodeBlock& block(std::int32_t n) const { return graph_.blocks[static_cast<std::size_t>(n)]; }

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  const ValueFlow& values_;
  const PackedValues& packed_;
  const DeviceAssignments& places_;
  const AddedNodesTable& added_;
  /// By label and own patch, where patches have homes: whether it shares a window with patches of others.
  std::vector<std::vector<bool>> shared_;
  std::span<const DeviceAssignment> homes_;         ///< as PlacedGraph has them
  std::vector<bool> hasReaders_;                    ///< by block
  std::vector<Flow> flows_;                         ///< by block that the edge leads to
  std::vector<std::vector<std::int32_t>> windows_;  ///< by fill, then own patch; made when asked for
};

}  // namespace tessera::detail
