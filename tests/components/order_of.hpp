#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tessera::test {

/// The order of convergence between each two grids of `cells`, the smallest of them: log2 of the ratio of
/// errors. Each grid is twice as fine as the one before it.
template <class ErrorOf>
double orderOf(ErrorOf errorOf, const std::vector<std::int64_t>& cells) {
  double order = 1e9;
  double before = errorOf(cells.front());
  for (std::size_t n = 1; n < cells.size(); ++n) {
    const double error = errorOf(cells[n]);
    order = std::min(order, std::log2(before / error));
    before = error;
  }
  return order;
}

}  // namespace tessera::test
