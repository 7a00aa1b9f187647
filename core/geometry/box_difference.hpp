#pragma once

#include "core/geometry/box.hpp"

namespace tessera {

/// Calls `visit(Box)` for the parts of `a` outside `b`: at most six disjoint boxes in a fixed order (z, y, x
/// slabs). As `subtract`, without memory for a list.
template <class Visit>
void forEachOutside(const Box& a, const Box& b, Visit&& visit) {
  const auto give = [&](const Box& part) {
    if (!part.empty()) visit(part);
  };
  const Box common = intersect(a, b);
  if (common.empty()) return give(a);
  Box rest = a;
  for (int axis = kAxes - 1; axis >= 0; --axis) {
    Box below = rest;
    below.hi[axis] = common.lo[axis];
    give(below);
    Box above = rest;
    above.lo[axis] = common.hi[axis];
    give(above);
    rest.lo[axis] = common.lo[axis];
    rest.hi[axis] = common.hi[axis];
  }
}

}  // namespace tessera
