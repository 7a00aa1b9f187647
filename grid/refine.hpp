#pragma once

#include "core/geometry/box.hpp"

namespace tessera {

/// a / b rounded towards minus infinity, for b > 0.
constexpr std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// The index of the next coarser level that `fine` lies in (cells), or starts from (nodes, faces).
constexpr Index coarsen(Index fine, Extent ratio) {
  return {floorDivide(fine.i, ratio.i), floorDivide(fine.j, ratio.j), floorDivide(fine.k, ratio.k)};
}

/// The coarse indices that hold some index of `fine`.
constexpr Box coarsen(const Box& fine, Extent ratio) {
  return {coarsen(fine.lo, ratio), coarsen(fine.hi - Index{1, 1, 1}, ratio) + Index{1, 1, 1}};
}

/// All fine indices whose coarse index lies in `coarse`.
constexpr Box refine(const Box& coarse, Extent ratio) {
  return {{coarse.lo.i * ratio.i, coarse.lo.j * ratio.j, coarse.lo.k * ratio.k},
          {coarse.hi.i * ratio.i, coarse.hi.j * ratio.j, coarse.hi.k * ratio.k}};
}

}  // namespace tessera
