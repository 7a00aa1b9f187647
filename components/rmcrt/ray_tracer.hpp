#pragma once

#include <cstdint>

#include "components/rmcrt/medium.hpp"
#include "components/rmcrt/ray.hpp"
#include "components/rmcrt/ray_numbers.hpp"

namespace tessera {

/// A wall, or the face of a solid cell.
struct RaySurface {
  double intensity = 0.0;   ///< of a black body of its temperature
  double emissivity = 1.0;  ///< what it sends of that, and takes up of what falls on it
  double mirrored = 0.0;    ///< part of what it reflects that leaves as from a mirror; the rest goes anywhere
};

/// What stands around and in the medium.
struct RaySurfaces {
  RaySurface sides[6];  ///< of the domain: x_low, x_high, y_low ... NOLINT: a kernel has no std::array
  double mirroredOfSolids = 0.0;
  double threshold = 1e-4;  ///< a ray ends where less than that part of the radiation comes through
  PhiloxKey key;
};

/// Follows rays through the fine cells around a patch and then through the whole of a coarser level, from
/// which no ray comes back. Where there is one level alone, both regions are that level.
///
/// All that it computes of a ray depends on the ray alone, so the bits are the same for any patches, and the
/// vectors of `RayBatch` compute each ray as `follow` does.
template <class View>
struct RayTracer {
  static constexpr std::int32_t kMostReflections = 10000;

  RayRegion near, far;
  View nearMedium, farMedium;
  RaySurfaces surfaces;

  TESSERA_KERNEL const RayRegion& regionOf(const Ray& ray) const { return ray.isFar != 0 ? far : near; }
  TESSERA_KERNEL auto mediumAt(const Ray& ray, Index x) const {
    return ray.isFar != 0 ? farMedium(x) : nearMedium(x);
  }

  /// What has arrived at the end of the ray, less what would if all were of its own temperature.
  TESSERA_KERNEL double follow(Ray ray, const Real3& start) const {
    RayWalk walk{};
    Index x = enter(near, ray, start, walk);
    for (;;) {
      const auto cell = mediumAt(ray, x);
      const double absorption = cell[0];
      const bool solid = isSolidCode(absorption);
      if (!solid) walk.pass(absorption, cell[1], ray.own);
      if (solid | (walk.transmitted < surfaces.threshold) | (walk.at >= walk.end)) {
        if (!goesOn(ray, walk, absorption, cell[1], x)) return ray.sum;
        continue;
      }
      if (walk.leavesAlongX()) {
        walk.nextX += walk.stepX;
        x.i += ray.goesUp(0) ? 1 : -1;
      } else if (walk.leavesAlongY()) {
        walk.nextY += walk.stepY;
        x.j += ray.goesUp(1) ? 1 : -1;
      } else {
        walk.nextZ += walk.stepZ;
        x.k += ray.goesUp(2) ? 1 : -1;
      }
    }
  }

  /// After a ray has stopped at a surface, at the end of its region or for want of strength: whether it goes
  /// on, and then from which cell. `absorption` and `intensity` are those of the cell it has stopped in.
  TESSERA_KERNEL bool goesOn(Ray& ray, RayWalk& walk, double absorption, double intensity, Index& x) const {
    ray.at = walk.at;
    ray.transmitted = walk.transmitted;
    ray.sum = walk.sum;
    if (ray.transmitted < surfaces.threshold) return false;
    const RayRegion& region = regionOf(ray);
    if (isSolidCode(absorption)) {
      const RaySurface solid{intensity, emissivityOfCode(absorption), surfaces.mirroredOfSolids};
      return leaves(ray, solid, axisOfEntry(walk), walk, x);
    }
    const int axis = axisOfExit(region, ray);
    const bool up = ray.goesUp(axis);
    const bool isWall = up ? region.cells.hi[axis] == region.domain.hi[axis]
                           : region.cells.lo[axis] == region.domain.lo[axis];
    if (isWall) return leaves(ray, surfaces.sides[2 * axis + (up ? 1 : 0)], axis, walk, x);
    ray.isFar = 1;
    x = enter(far, ray, ray.place(), walk);
    return true;
  }

 private:
  /// Takes what the surface sends, and reflects the ray.
  TESSERA_KERNEL bool leaves(Ray& ray, const RaySurface& surface, int axis, RayWalk& walk, Index& x) const {
    ray.sum += surface.emissivity * (surface.intensity - ray.own) * ray.transmitted;
    ray.transmitted *= 1.0 - surface.emissivity;
    if (ray.transmitted < surfaces.threshold || ray.reflections == kMostReflections) return false;
    const PhiloxWords words = wordsOf(ray, surfaces.key, 2U + static_cast<std::uint32_t>(ray.reflections));
    ++ray.reflections;
    const bool up = ray.goesUp(axis);
    Real3 beside = ray.place();
    ray.origin = beside;
    ray.at = 0.0;
    Real3 direction = ray.direction;
    direction[axis] = -direction[axis];
    if (unitReal(words.z) >= surface.mirrored)
      direction = directionFromWall({unitReal(words.x), unitReal(words.y)}, axis, !up);
    ray.turnTo(direction);
    const RayRegion& region = regionOf(ray);
    beside[axis] += (up ? -1e-6 : 1e-6) * region.spacing[axis];
    x = enter(region, ray, beside, walk);
    const auto cell = mediumAt(ray, x);
    if (!isSolidCode(cell[0])) return true;
    // A coarse solid cell reaches into where the ray came from: what is sent from there ends in it.
    ray.sum += (cell[1] - ray.own) * ray.transmitted;
    return false;
  }
};

/// The mean over the rays of a cell or of a face of a wall.
template <class View, class Source>
TESSERA_KERNEL double meanOfRays(const RayTracer<View>& tracer, const Source& source, Index x, double own) {
  double sum = 0.0;
  for (std::uint32_t n = 0; n < source.law.rays; ++n)
    sum += tracer.follow(source.ray(x, n, own), source.start(x));
  return sum / static_cast<double>(source.law.rays);
}

}  // namespace tessera
