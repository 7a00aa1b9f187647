#pragma once

#include <cstdint>

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/field.hpp"
#include "datawarehouse/read_only_field.hpp"

// Kernels that bring numbers of one region: from box to box, into a message and out of it.

namespace tessera {

/// Of a region, by the place of an index in it, x fastest.
TESSERA_KERNEL inline std::int64_t placeIn(const Box& region, Index x) {
  const std::int64_t nI = region.hi.i - region.lo.i;
  const std::int64_t nJ = region.hi.j - region.lo.j;
  return ((x.k - region.lo.k) * nJ + (x.j - region.lo.j)) * nI + (x.i - region.lo.i);
}

/// to(x) = from(x - step), or adds it. Both may be fields on the same numbers, in other cells.
template <bool kAdds>
struct BringPiece {
  static constexpr const char* kName = kAdds ? "Solver::addPiece" : "Solver::copyPiece";
  Field<double> from;
  Index step;
  Field<double> to;
  TESSERA_KERNEL void operator()(Index x) const {
    const double number = from(x - step);
    to(x) = kAdds ? to(x) + number : number;
  }
};

/// packed = what a region of another box has, x fastest.
struct PackPiece {
  static constexpr const char* kName = "Solver::pack";
  ReadOnlyField<double> from;
  Index step;
  Box region;
  double* packed = nullptr;
  TESSERA_KERNEL void operator()(Index x) const { packed[placeIn(region, x)] = from(x - step); }
};

/// The reverse: a region gets, or adds, what is packed.
template <bool kAdds>
struct UnpackPiece {
  static constexpr const char* kName = kAdds ? "Solver::addUnpacked" : "Solver::unpack";
  const double* packed = nullptr;
  Box region;
  Field<double> to;
  TESSERA_KERNEL void operator()(Index x) const {
    const double number = packed[placeIn(region, x)];
    to(x) = kAdds ? to(x) + number : number;
  }
};

}  // namespace tessera
