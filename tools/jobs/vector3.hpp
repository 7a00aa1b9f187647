#pragma once

#include <cmath>

#include "core/geometry/index.hpp"

namespace tessera::jobs {

// Products and sums of Real3, for bodies of jobs: without libraries but the square root, which rounds alike
// everywhere.

TESSERA_KERNEL constexpr Real3 operator+(Real3 a, Real3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
TESSERA_KERNEL constexpr Real3 operator-(Real3 a, Real3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
TESSERA_KERNEL constexpr Real3 operator*(double s, Real3 a) { return {s * a.x, s * a.y, s * a.z}; }
TESSERA_KERNEL constexpr double dot(Real3 a, Real3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
TESSERA_KERNEL constexpr Real3 cross(Real3 a, Real3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
TESSERA_KERNEL inline Real3 normalised(Real3 a) { return (1.0 / sqrt(dot(a, a))) * a; }

}  // namespace tessera::jobs
