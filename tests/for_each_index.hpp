#pragma once

#include <cstdint>

#include "core/geometry/box.hpp"

namespace tessera::test {

/// Calls `visit(Index)` for each index of the box, x fastest.
template <class Visit>
void forEachIndex(const Box& box, Visit&& visit) {
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) visit(Index{i, j, k});
    }
  }
}

}  // namespace tessera::test
