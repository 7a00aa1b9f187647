#pragma once

#include <string>

#include "core/geometry/index.hpp"
#include "core/kernel.hpp"
#include "grid/hierarchy.hpp"

namespace tessera {

/// A number for each cell of all levels, in the order of levels and of places on them: what a Min reduction
/// needs to find the first cell of some kind. Exact for up to 2^53 cells, where each level is counted as if
/// it covered the domain.
class CellCodes {
 public:
  /// Of the cells of `level`.
  CellCodes(const Hierarchy& hierarchy, const Level& level);

  TESSERA_KERNEL double operator()(Index cell) const {
    const std::int64_t row = (cell.k - low_.k) * cells_.j + (cell.j - low_.j);
    return before_ + static_cast<double>(row * cells_.i + (cell.i - low_.i));
  }

 private:
  double before_ = 0.0;  ///< cells of coarser levels
  Index low_;
  Extent cells_;
};

/// "cell [3,1,0] of level 1, patch ...": the cell that has the code.
std::string cellOfCode(const Hierarchy& hierarchy, double code);

}  // namespace tessera
