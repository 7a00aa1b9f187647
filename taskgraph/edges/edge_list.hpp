#pragma once

#include <vector>

#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// Edges between all nodes of two blocks. A node that works on all patches of its level stands for each of
/// them.
struct Relation {
  enum class Kind : std::uint8_t {
    SamePatch,      ///< each node of `before` precedes the node of `after` on the same patch
    SourcesBefore,  ///< the nodes of `before` on the sources of each row of fill block `after` precede that
                    ///< row
    SourcesAfter,   ///< each row of fill block `before` precedes the nodes of `after` on its sources
    All,            ///< every node precedes every node; one of the blocks is a single node
  };
  Kind kind = Kind::SamePatch;
  std::int32_t before = 0;
  std::int32_t after = 0;
  friend bool operator==(const Relation&, const Relation&) = default;
};

/// Collects the edges of a graph as relations between blocks of nodes, and turns them into successor lists in
/// two passes: one counts, one fills. Nothing is stored for each edge in between.
class EdgeList {
 public:
  explicit EdgeList(CompiledGraph& graph) : graph_(graph) {}

  void samePatch(std::int32_t before, std::int32_t after) { add({Relation::Kind::SamePatch, before, after}); }
  void sourcesBefore(std::int32_t before, std::int32_t after) {
    add({Relation::Kind::SourcesBefore, before, after});
  }
  void sourcesAfter(std::int32_t before, std::int32_t after) {
    add({Relation::Kind::SourcesAfter, before, after});
  }
  void all(std::int32_t before, std::int32_t after) { add({Relation::Kind::All, before, after}); }
  /// One edge between two nodes.
  void single(NodeId before, NodeId after) { singles_.push_back({before, after}); }
  /// For fills whose first member does the work of a group: `leadOf` names the row that a row follows. The
  /// lead comes before the row, and after all that comes before the row. Call it when all other edges are
  /// there.
  void follow(const IdVector<NodeId, NodeId>& leadOf);

  /// Whether what has been added so far leads, patch by patch, from one block to another.
  bool samePatchPath(std::int32_t before, std::int32_t after) const;

  /// Writes counts, successors, single edges and block priorities (length of the longest way to the end, in
  /// blocks) into the graph.
  void finish();

  /// The relations, each once, in the order in which successors are listed.
  const std::vector<Relation>& relations() const { return relations_; }
  /// The single edges, ascending, each once.
  std::vector<NodeEdge> takeSingles();
  /// Sets the priorities of the blocks, which hold those of their tasks. Needs the graph's single edges.
  void setSlack();

 private:
  void add(Relation relation);
  template <class Emit>
  void emit(Emit&& emit) const;
  template <class Emit>
  void emitRelation(const Relation& relation, Emit&& emit) const;
  const NodeBlock& block(std::int32_t n) const { return graph_.blocks[static_cast<std::size_t>(n)]; }

  CompiledGraph& graph_;
  std::vector<Relation> relations_;
  std::vector<NodeEdge> singles_;
};

}  // namespace tessera::detail
