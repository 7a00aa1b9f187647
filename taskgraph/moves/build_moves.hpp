#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/moves/move.hpp"

namespace tessera {

/// The moves of one compiled graph: what a row of a fill and a message consist of. This is the only place
/// that turns halos, images, levels and sides of the domain into boxes to be moved; the engines of the host
/// and of devices, and all who ask what a node touches, take it from here.
///
///   const MoveBuilder moves(graphs, plan);
///   for (const Move& move : moves.ofRow(fill, row)) ...
///
/// Pure: the same moves from the same graphs. Lists are made when they are asked for; engines keep what they
/// make of them, once for all rows of equal geometry. Any number of threads at once.
class MoveBuilder {
 public:
  /// `graphs` outlive the builder.
  MoveBuilder(const CompiledGraphs& graphs, std::size_t plan);

  /// In the order in which they are carried out: conditions come last, x before y before z, and each of them
  /// reads what those before it have filled. All others write disjoint indices, in any order. Empty where
  /// another row does the work, or where nothing has to be moved.
  std::vector<Move> ofRow(std::int32_t fill, std::int32_t row) const;
  /// One move for each PackItem of a send, in their order.
  std::vector<Move> ofMessage(std::int32_t send) const;

  /// Rows of a fill that may have moves; 0 where readers look at the windows of the patches themselves.
  std::int32_t rowCount(std::int32_t fill) const;

  const CompiledGraphs& graphs() const { return graphs_; }
  const CompiledGraph& graph() const { return graph_; }

 private:
  /// Who does the work of a row: the row itself, another one, or (from 0 on) it does that of this window.
  static constexpr std::int32_t kItself = -1;
  static constexpr std::int32_t kAnother = -2;

  std::int32_t roleOf(std::int32_t fill, std::int32_t row) const {
    const std::vector<std::int32_t>& roles = roles_[static_cast<std::size_t>(fill)];
    return roles.empty() ? kItself : roles[static_cast<std::size_t>(row)];
  }
  void noteRoles(const FillPlan& fill);
  /// The shared window that the row works for: it brings in what lies around all members. Null for rows that
  /// work for their own patch, and for those of the other members.
  const SharedWindow* windowOf(std::int32_t fill, std::int32_t row) const;
  bool readsFacesOnly(std::int32_t fill) const;
  std::vector<Move> ofPrivateRow(std::int32_t fill, std::int32_t row) const;
  std::vector<Move> ofWindow(const FillPlan& fill, const SharedWindow& shared) const;
  Move taken(const FillPlan& fill, const MoveRef& to, const MoveRef& from, const Box& region,
             Index shift) const;
  MoveRef targetOf(const FillPlan& fill, std::int32_t row) const;
  void addReceived(std::vector<Move>& moves, const FillPlan& fill, std::int32_t row, const MoveRef& to) const;
  Move fromBelow(const FillPlan& fill, const CoarsePiece& piece, const Box& region, const MoveRef& to) const;
  Move fromRing(const FillPlan& fill, const Box& region, std::int32_t row, const MoveRef& to) const;

  const Patch& patchOf(std::int64_t local) const {
    return graphs_.hierarchy->patch(graphs_.ownPatches[static_cast<std::size_t>(local)]);
  }
  const Level& levelOf(const FillPlan& fill) const { return graphs_.hierarchy->level(fill.sourceLevel); }
  Centering centeringOf(const FillPlan& fill) const { return graphs_.labels->info(fill.label).centering; }
  std::int32_t firstLocal(const FillPlan& fill) const {
    return static_cast<std::int32_t>(graphs_.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)].begin);
  }

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  std::vector<std::vector<std::int32_t>> roles_;  ///< by fill, then row; empty where nothing is shared
  std::vector<char> facesOnly_;                   ///< by fill
};

}  // namespace tessera
