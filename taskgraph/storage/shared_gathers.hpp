#pragma once

#include <vector>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera::detail {

/// What one fill has to bring into one shared window. Between members nothing is copied: their values are
/// there. The row of the first member does all of it, so nobody else writes outside what the members own.
struct SharedGather {
  /// From an own patch that is no member, or from a member seen some periods away.
  struct Copy {
    std::int32_t source = 0;
    Box region;
    Index shift;
  };

  /// A part of what comes from the coarser level.
  struct Coarse {
    const CoarsePiece* piece = nullptr;
    Box region;
  };

  const SharedWindow* shared = nullptr;
  Box bounds;                            ///< of the targets of all members
  std::int32_t firstRow = 0;             ///< own patch of row 0 of the fill
  std::vector<Copy> copies;              ///< each source and image once, however many members reach it
  std::vector<Coarse> coarse;            ///< disjoint where they come from one coarse patch
  std::vector<BoundaryPart> conditions;  ///< in the order of their dependence; each index once a side
};

/// The shared windows of the fills of one compiled graph, settled once.
class SharedGathers {
 public:
  SharedGathers(const CompiledGraphs& graphs, std::size_t plan);

  /// Whether the row of a fill belongs to a shared window.
  bool has(std::size_t fill, std::int32_t row) const { return roleOf(fill, row) != kPrivate; }
  /// The work of the row; null where another row does it, which comes first.
  const SharedGather* workOf(std::size_t fill, std::int32_t row) const {
    const std::int32_t role = roleOf(fill, row);
    return role < 0 ? nullptr : &gathers_[static_cast<std::size_t>(role)];
  }

 private:
  static constexpr std::int32_t kPrivate = -1;
  static constexpr std::int32_t kFollows = -2;

  std::int32_t roleOf(std::size_t fill, std::int32_t row) const {
    return roles_[fill].empty() ? kPrivate : roles_[fill][static_cast<std::size_t>(row)];
  }
  static SharedGather make(const CompiledGraphs& graphs, const CompiledGraph& graph, const FillPlan& fill,
                           const SharedWindow& shared);

  std::vector<std::vector<std::int32_t>> roles_;  ///< by fill, then row; empty where nothing is shared
  std::vector<SharedGather> gathers_;
};

}  // namespace tessera::detail
