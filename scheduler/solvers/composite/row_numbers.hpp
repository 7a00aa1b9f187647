#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/geometry/index.hpp"
#include "grid/search/box_tree.hpp"
#include "scheduler/solvers/solver_system.hpp"

namespace tessera {

/// The rows of a system on several levels as one matrix: those of a rank follow one another, by level, box
/// and cell, x fastest. Cells under finer ones have a row too, so that each rank knows the rows of all boxes
/// from their corners. Immutable.
class RowNumbers {
 public:
  /// `system` outlives it.
  RowNumbers(const SolverSystem& system, int ranks);

  /// Of all ranks.
  std::int64_t count() const { return firstOfRank_.back(); }
  std::int64_t firstOf(Rank rank) const { return firstOfRank_[static_cast<std::size_t>(rank)]; }
  std::int64_t endOf(Rank rank) const { return firstOfRank_[static_cast<std::size_t>(rank) + 1]; }
  /// Of the lowest cell of a box, by its position in the list of all of its level.
  std::int64_t firstOfBox(std::size_t level, std::size_t box) const { return levels_[level].first[box]; }
  /// Of a cell, or its image across a period; none where the level has no cell.
  std::optional<std::int64_t> find(std::size_t level, Index x) const;

 private:
  struct OfLevel {
    const GridBoxes* grid;
    BoxTree tree;
    std::vector<std::int64_t> first;  ///< by box
  };
  std::vector<OfLevel> levels_;
  std::vector<std::int64_t> firstOfRank_;  ///< and the count of all
};

}  // namespace tessera
