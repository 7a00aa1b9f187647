#pragma once

#include <array>
#include <span>

#include "core/deck/expression.hpp"
#include "grid/level.hpp"

namespace tessera {

/// Points and weights of Gauss's rule on [-1/2, 1/2], in pairs about 0; the weights sum to 1.
std::span<const std::array<double, 2>> gaussRule(int points);

/// The mean of an expression over a cell, by Gauss's rule with so many points along each axis of more than
/// one cell: exact for polynomials of degree 2 points - 1. Host only.
class CellMean {
 public:
  CellMean(const Expression& expression, const Level& level, double time, int points);

  double operator()(Index cell);

 private:
  Expression::Evaluator evaluator_;
  const Level& level_;
  double time_;
  std::array<std::span<const std::array<double, 2>>, kAxes> rules_;
};

/// Calls `visit(cell, mean)` for every cell of `box`, in order.
template <class Visit>
void forEachMean(const Expression& expression, const Level& level, const Box& box, double time, int points,
                 Visit&& visit) {
  CellMean mean(expression, level, time, points);
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) visit(Index{i, j, k}, mean(Index{i, j, k}));
    }
  }
}

}  // namespace tessera
