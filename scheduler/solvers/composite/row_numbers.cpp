#include "scheduler/solvers/composite/row_numbers.hpp"

#include <numeric>

#include "grid/refine.hpp"
#include "scheduler/solvers/loops/piece_loops.hpp"

namespace tessera {

RowNumbers::RowNumbers(const SolverSystem& system, int ranks)
    : firstOfRank_(static_cast<std::size_t>(ranks) + 1, 0) {
  for (const auto& level : system.levels) {
    const GridBoxes& grid = level->boxes;
    levels_.push_back({&grid, BoxTree(grid.boxes), std::vector<std::int64_t>(grid.boxes.size(), 0)});
    for (std::size_t n = 0; n < grid.boxes.size(); ++n)
      firstOfRank_[static_cast<std::size_t>(grid.owners[n]) + 1] += grid.boxes[n].volume();
  }
  std::partial_sum(firstOfRank_.begin(), firstOfRank_.end(), firstOfRank_.begin());
  std::vector<std::int64_t> next = firstOfRank_;
  for (OfLevel& level : levels_) {
    for (std::size_t n = 0; n < level.first.size(); ++n) {
      std::int64_t& row = next[static_cast<std::size_t>(level.grid->owners[n])];
      level.first[n] = row;
      row += level.grid->boxes[n].volume();
    }
  }
}

std::optional<std::int64_t> RowNumbers::find(std::size_t level, Index x) const {
  const OfLevel& of = levels_[level];
  const Extent n = of.grid->domain.extent();
  for (int d = 0; d < kAxes; ++d) {
    if (of.grid->wraps[static_cast<std::size_t>(d)]) x[d] -= n[d] * floorDivide(x[d], n[d]);
  }
  std::optional<std::int64_t> row;
  of.tree.visit(of.grid->boxes, {x, x + Index{1, 1, 1}},
                [&](std::size_t box) { row = of.first[box] + placeIn(of.grid->boxes[box], x); });
  return row;
}

}  // namespace tessera
