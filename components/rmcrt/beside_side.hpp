#pragma once

#include <algorithm>

#include "core/geometry/box.hpp"

namespace tessera {

/// The cells of a box that lie beside one side of the domain.
inline Box besideSide(Box box, const Box& domain, int side) {
  const int axis = side / 2;
  const std::int64_t plane = side % 2 == 1 ? domain.hi[axis] - 1 : domain.lo[axis];
  box.lo[axis] = std::max(box.lo[axis], plane);
  box.hi[axis] = std::min(box.hi[axis], plane + 1);
  return box;
}

}  // namespace tessera
