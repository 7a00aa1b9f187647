#pragma once

#include "core/geometry/index.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// The 3-, 5- or 7-point Laplacian of a cell-centred field; needs halo(1). `inverseSquaredSpacing` holds
/// 1/h^2 along each axis and 0 along unresolved ones. The two neighbours of an axis are added first, so
/// mirrored input gives mirrored output, bit by bit.
template <class Field>
TESSERA_KERNEL double laplacian(const Field& u, Index x, Real3 inverseSquaredSpacing) {
  const double twice = 2.0 * u(x);
  const double alongX = inverseSquaredSpacing.x * ((u(x - ex) + u(x + ex)) - twice);
  const double alongY = inverseSquaredSpacing.y * ((u(x - ey) + u(x + ey)) - twice);
  const double alongZ = inverseSquaredSpacing.z * ((u(x - ez) + u(x + ez)) - twice);
  return (alongX + alongY) + alongZ;
}

/// The sum of the components: of 1/h^2, what limits the time step of explicit schemes with this stencil.
constexpr double sumOf(Real3 v) { return (v.x + v.y) + v.z; }

}  // namespace tessera
