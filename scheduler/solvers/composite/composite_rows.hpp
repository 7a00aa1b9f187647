#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/exec/exec.hpp"
#include "scheduler/solvers/composite/composite_operator.hpp"
#include "scheduler/solvers/composite/row_numbers.hpp"

namespace tessera {

/// The matrix of CompositeOperator written out row by row, for libraries. Each row is multiplied by the
/// weight of its level (the volume of a cell in cells of level 0, a power of two for ratios that are): what
/// flows through a face then is in the rows of both its sides with one size. Rows of cells that are no
/// unknowns, under finer ones or holes, have their weight on the diagonal alone.
class CompositeRows {
 public:
  struct Entry {
    std::int64_t column;
    double number;
  };

  /// All outlive it, and `composite` is prepared. Collective.
  CompositeRows(SolverSystem& system, CompositeOperator& composite, const RowNumbers& rows);

  /// Calls `visit(row, entries)` for own rows in their order; columns rise.
  template <class Visit>
  void forEach(const Visit& visit) {
    for (std::size_t level = 0; level < system_.levels.size(); ++level) {
      const GridBoxes& grid = system_.levels[level]->boxes;
      for (std::size_t box = 0; box < grid.own.size(); ++box) {
        std::int64_t row = rows_.firstOfBox(level, grid.own[box]);
        const Box& cells = grid.boxes[grid.own[box]];
        detail::forEachInOrder(cells, [&](Index x) { visit(row++, entriesOf(level, box, x)); });
      }
    }
  }
  /// That of the rows of a level.
  double weightOf(std::size_t level) const { return weights_[level]; }

 private:
  struct FineFace {
    std::int64_t row;  ///< of the coarse cell
    CoarseFine::FineFace face;
  };
  void takeFineFaces(std::size_t fine);
  std::span<const Entry> entriesOf(std::size_t level, std::size_t box, Index x);
  void addFineFaces(std::size_t level, std::int64_t row);
  /// Adds `factor` times the value beyond a level, at the cell `x`.
  void addBeyond(std::size_t level, Index x, int axis, Index in, double factor, const CellsBeyond& cells);
  /// Adds `factor` times the value of a cell, which is the mean of finer ones where these are.
  void addCell(std::size_t level, Index x, double factor);
  void join();

  SolverSystem& system_;
  CompositeOperator& composite_;
  const RowNumbers& rows_;
  std::vector<double> weights_;                   ///< by level
  std::vector<std::vector<FineFace>> fineFaces_;  ///< by level of their coarse cells, by row
  std::vector<Entry> entries_;
};

}  // namespace tessera
