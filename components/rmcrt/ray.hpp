#pragma once

#include <cstdint>

#include "core/elementary.hpp"
#include "core/geometry/box.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// Cells of a level that rays may be in, and where they lie.
struct RayRegion {
  Real3 lower;  ///< corner of the level's domain
  Real3 spacing;
  Box cells;
  Box domain;

  /// How much sooner than at its border a ray is taken to have left the region: more than what the rounding
  /// of distances adds up to on the way, and nothing beside a cell.
  TESSERA_KERNEL double tolerance() const {
    const Extent n = cells.extent();
    const auto most = 1000.0 + static_cast<double>(n.i + n.j + n.k);
    double widest = 0.0;
    for (int d = 0; d < kAxes; ++d)
      widest = spacing[d] > widest && spacing[d] < kEndless ? spacing[d] : widest;
    return 1e-15 * most * most * widest;
  }
  /// Spacing of an axis of one cell, along which all goes on alike.
  static constexpr double kEndless = 1e100;
};

/// A ray that is followed backwards, from where radiation arrives to where it comes from.
struct Ray {
  Real3 origin;  ///< of the stretch since it was last reflected or scattered
  Real3 direction;
  Real3 inverse;              ///< 1 / direction along each axis
  double at = 0.0;            ///< distance from the origin
  double own = 0.0;           ///< intensity of what the ray starts from
  double transmitted = 1.0;   ///< part of what is sent here that arrives at the start
  double sum = 0.0;           ///< what has arrived, less what would at `own` everywhere
  double toScatter = 0.0;     ///< optical depth of scattering before it is scattered next
  std::uint32_t cellLow = 0;  ///< what its random numbers belong to
  std::uint32_t cellHigh = 0;
  std::uint32_t number = 0;
  std::int32_t turns = 0;  ///< how often it was reflected or scattered
  std::int32_t layer = 0;  ///< of RayTracer, in which it is

  TESSERA_KERNEL void turnTo(Real3 to) {
    direction = to;
    for (int d = 0; d < kAxes; ++d) {
      constexpr double kLeast = 1e-200;  // a ray along another axis never gets anywhere along this one
      const double component =
          to[d] < 0.0 ? (to[d] < -kLeast ? to[d] : -kLeast) : (to[d] > kLeast ? to[d] : kLeast);
      inverse[d] = 1.0 / component;
    }
  }
  TESSERA_KERNEL Real3 place() const {
    return {origin.x + at * direction.x, origin.y + at * direction.y, origin.z + at * direction.z};
  }
  TESSERA_KERNEL bool goesUp(int axis) const { return inverse[axis] > 0.0; }
};

/// Where a ray is among the cells (J. Amanatides, A. Woo, "A fast voxel traversal algorithm for ray tracing",
/// Eurographics 1987): the distances at which it next passes a face of each axis, and those from one to the
/// next. `Real` is double or a vector of doubles, for several rays.
template <class Real>
struct RayWalkOf {
  Real nextX, nextY, nextZ;
  Real stepX, stepY, stepZ;
  Real end;  ///< where it leaves the region
  Real at;
  Real transmitted;
  Real sum;
  Real toScatter;

  /// Through the present cell: what the matter in it sends arrives as far as it is transmitted.
  TESSERA_KERNEL void pass(const Real& absorption, const Real& intensity, const Real& own) {
    const Real firstTwo = nextX < nextY ? nextX : nextY;
    const Real leaves = firstTwo < nextZ ? firstTwo : nextZ;
    const Real ahead = leaves - at;
    const Real length = ahead > 0.0 ? ahead : Real{};
    take(length, absorption, intensity, own);
    at = ahead > 0.0 ? leaves : at;
  }
  /// The same in matter that scatters: to where the ray is scattered, if that is in the cell; then
  /// `toScatter` is 0.
  TESSERA_KERNEL void pass(const Real& absorption, const Real& intensity, const Real& scattering,
                           const Real& own) {
    const Real firstTwo = nextX < nextY ? nextX : nextY;
    const Real leaves = firstTwo < nextZ ? firstTwo : nextZ;
    const Real ahead = leaves - at;
    const Real whole = ahead > 0.0 ? ahead : Real{};
    const Real depth = scattering * whole;
    const auto scatters = depth >= toScatter;
    const Real length = scatters ? toScatter / scattering : whole;
    toScatter = scatters ? Real{} : toScatter - depth;
    take(length, absorption, intensity, own);
    const Real reached = ahead > 0.0 ? leaves : at;
    at = scatters ? at + length : reached;
  }
  /// Whether the face of the cell that the ray passes first is one of x; else, whether it is one of y.
  TESSERA_KERNEL bool leavesAlongX() const { return nextX <= nextY && nextX <= nextZ; }
  TESSERA_KERNEL bool leavesAlongY() const { return nextY <= nextZ; }

 private:
  TESSERA_KERNEL void take(const Real& length, const Real& absorption, const Real& intensity,
                           const Real& own) {
    Real through;
    setToPlainExp<Real>(through, -absorption * length);
    const Real after = transmitted * through;
    sum += (intensity - own) * (transmitted - after);
    transmitted = after;
  }
};
using RayWalk = RayWalkOf<double>;

/// Along one axis: the cell that holds `place`, and the first faces of it and of the region that the ray
/// meets.
struct RayEntry {
  std::int64_t cell = 0;
  double next = 0.0;
  double step = 0.0;
  double end = 0.0;
};

TESSERA_KERNEL inline RayEntry entryAlong(const RayRegion& region, const Ray& ray, const Real3& place,
                                          int axis) {
  const double h = region.spacing[axis];
  const double lower = region.lower[axis];
  const double inverse = ray.inverse[axis];
  const double cells = (place[axis] - lower) / h;
  RayEntry entry;
  const std::int64_t low = region.cells.lo[axis];
  const std::int64_t high = region.cells.hi[axis] - 1;
  entry.cell = cells < 0.0 ? low : static_cast<std::int64_t>(cells);
  entry.cell = entry.cell < low ? low : (entry.cell > high ? high : entry.cell);
  const bool up = inverse > 0.0;
  const auto distanceTo = [&](std::int64_t face) {
    return (lower + static_cast<double>(face) * h - ray.origin[axis]) * inverse;
  };
  entry.next = distanceTo(entry.cell + (up ? 1 : 0));
  entry.step = up ? h * inverse : -h * inverse;
  entry.end = distanceTo(up ? high + 1 : low);
  return entry;
}

/// Puts a ray into the region at `place`, which is where it is, or a little beside that; gives the cell.
TESSERA_KERNEL inline Index enter(const RayRegion& region, const Ray& ray, const Real3& place,
                                  RayWalk& walk) {
  const RayEntry x = entryAlong(region, ray, place, 0);
  const RayEntry y = entryAlong(region, ray, place, 1);
  const RayEntry z = entryAlong(region, ray, place, 2);
  const double firstTwo = x.end < y.end ? x.end : y.end;
  walk = {x.next,
          y.next,
          z.next,
          x.step,
          y.step,
          z.step,
          (firstTwo < z.end ? firstTwo : z.end) - region.tolerance(),
          ray.at,
          ray.transmitted,
          ray.sum,
          ray.toScatter};
  return {x.cell, y.cell, z.cell};
}

/// The axis across which the ray leaves the region.
TESSERA_KERNEL inline int axisOfExit(const RayRegion& region, const Ray& ray) {
  const double x = entryAlong(region, ray, ray.origin, 0).end;
  const double y = entryAlong(region, ray, ray.origin, 1).end;
  const double z = entryAlong(region, ray, ray.origin, 2).end;
  return x <= y && x <= z ? 0 : (y <= z ? 1 : 2);
}

/// The axis across which it has come into its cell.
TESSERA_KERNEL inline int axisOfEntry(const RayWalk& walk) {
  const double x = walk.nextX - walk.stepX;
  const double y = walk.nextY - walk.stepY;
  const double z = walk.nextZ - walk.stepZ;
  return x >= y && x >= z ? 0 : (y >= z ? 1 : 2);
}

}  // namespace tessera
