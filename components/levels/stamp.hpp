#pragma once

#include <algorithm>

#include "grid/hierarchy.hpp"
#include "grid/refine.hpp"

namespace tessera {

/// A whole number that no other cell of the mesh has in the same step, up to 1000 cells along an axis.
constexpr double stampOf(LevelId level, Index x, std::int64_t step) {
  const std::int64_t cell = ((x.k + 1) * 1000 + x.j) * 1000 + x.i;
  return static_cast<double>(cell + 100'000'000 * level + 7 * step);
}

/// The mean of `value(x)` over a box of 2^n cells. Exact for stamps, whatever the order: sums of whole
/// numbers.
template <class Value>
double averageOver(const Box& box, const Value& value) {
  double sum = 0.0;
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) sum += value(Index{i, j, k});
    }
  }
  return sum / static_cast<double>(box.volume());
}

/// What a cell of a level has to hold after a step, computed from the mesh alone: its stamp, or the average
/// of the finer cells over it. An index beyond the domain means the nearest cell in it (or its image), one on
/// no patch of the level the cell of the coarser level below it.
class StampExpectation {
 public:
  StampExpectation(const Hierarchy& hierarchy, LevelId level, std::int64_t step)
      : hierarchy_(&hierarchy), level_(level), step_(step) {}

  double operator()(Index x) const {
    const Level& level = hierarchy_->level(level_);
    const Box domain = level.domain();
    for (int d = 0; d < kAxes; ++d) {
      const std::int64_t n = domain.extent()[d];
      x[d] = level.geometry().wraps(d) ? x[d] - floorDivide(x[d], n) * n
                                       : std::min(std::max(x[d], domain.lo[d]), domain.hi[d] - 1);
    }
    return hasPatch(level_, {x, x + Index{1, 1, 1}}) ? at(level_, x)
                                                     : at(level_ - 1, coarsen(x, level.ratioToCoarser()));
  }

 private:
  bool hasPatch(LevelId level, const Box& cells) const {
    bool found = false;
    hierarchy_->level(level).forEachOverlapping(cells, [&](const Patch&) { found = true; });
    return found;
  }

  double at(LevelId level, Index x) const {
    const auto finer = level + 1;
    if (finer == static_cast<LevelId>(hierarchy_->levels().size())) return stampOf(level, x, step_);
    const Box above = refine({x, x + Index{1, 1, 1}}, hierarchy_->level(finer).ratioToCoarser());
    if (!hasPatch(finer, above)) return stampOf(level, x, step_);
    return averageOver(above, [&](Index y) { return at(finer, y); });
  }

  const Hierarchy* hierarchy_;
  LevelId level_;
  std::int64_t step_;
};

}  // namespace tessera
