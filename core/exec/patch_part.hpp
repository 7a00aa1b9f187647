#pragma once

#include <cstdint>

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// Which part of each patch a launch does, where a task's kernel is split over several streams.
struct PatchPart {
  std::int32_t part = 0;
  std::int32_t parts = 1;
};

namespace detail {

TESSERA_KERNEL constexpr void cut(std::int64_t& low, std::int64_t& high, PatchPart which) {
  const std::int64_t n = high - low;
  high = low + n * (which.part + 1) / which.parts;
  low += n * which.part / which.parts;
}

}  // namespace detail

/// That part of a box: whole planes across its last axis that has enough of them.
TESSERA_KERNEL constexpr Box partOf(Box box, PatchPart which) {
  // By name and not by number: an axis that is known only at run time would put the box into slow memory.
  if (box.hi.k - box.lo.k >= which.parts) {
    detail::cut(box.lo.k, box.hi.k, which);
  } else if (box.hi.j - box.lo.j >= which.parts) {
    detail::cut(box.lo.j, box.hi.j, which);
  } else {
    detail::cut(box.lo.i, box.hi.i, which);
  }
  return box;
}

/// Widens `largest`, cells along each axis, to hold each of the `parts` of a box.
inline void widen(Extent& largest, const Box& box, std::int32_t parts) {
  for (std::int32_t part = 0; part < parts; ++part) {
    const Extent n = partOf(box, {part, parts}).extent();
    for (int axis = 0; axis < kAxes; ++axis)
      largest[axis] = n[axis] > largest[axis] ? n[axis] : largest[axis];
  }
}

}  // namespace tessera
