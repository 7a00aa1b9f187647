#pragma once

#include <cstdint>

#include "components/rmcrt/medium.hpp"
#include "components/rmcrt/ray.hpp"
#include "components/rmcrt/ray_numbers.hpp"
#include "datawarehouse/table_view.hpp"

namespace tessera {

/// A wall, or the face of a solid cell.
struct RaySurface {
  double intensity = 0.0;   ///< of a black body of its temperature
  double emissivity = 1.0;  ///< what it sends of that, and takes up of what falls on it
  double mirrored = 0.0;    ///< part of what it reflects that leaves as from a mirror; the rest goes anywhere
};

/// The two other axes.
TESSERA_KERNEL constexpr int firstAcross(int axis) { return axis == 0 ? 1 : 0; }
TESSERA_KERNEL constexpr int secondAcross(int axis) { return axis == 2 ? 1 : 2; }

/// Where the properties of a wall are in the table of walls.
struct RayWall {
  std::int64_t first = 0;           ///< its first face
  std::int64_t across[2] = {1, 1};  ///< faces along the two other axes  NOLINT: a kernel has no std::array
};

/// The walls of the domain, x_low, x_high, y_low ...: of each face of level 0, or of a whole wall that is the
/// same everywhere, the numbers of a RaySurface. `Table` is what `task.table` gives.
template <class Table>
struct RayWalls {
  static constexpr std::int64_t kNumbers = 3;

  Table table;
  RayWall walls[6];  // NOLINT: likewise
  Real3 lower;       ///< of level 0
  Real3 spacing;

  /// The wall of a side at a place on it; of the bits that the medium has, so that a wall as hot as it sends
  /// as much.
  template <class Real>
  TESSERA_KERNEL RaySurface at(int side, const Real3& place) const {
    const RayWall& wall = walls[side];
    const int axis = side / 2;
    const std::int64_t u = faceAlong(firstAcross(axis), place, wall.across[0]);
    const std::int64_t v = faceAlong(secondAcross(axis), place, wall.across[1]);
    const std::int64_t face = kNumbers * (wall.first + v * wall.across[0] + u);
    return {static_cast<double>(static_cast<Real>(table[face])), table[face + 1], table[face + 2]};
  }

 private:
  TESSERA_KERNEL std::int64_t faceAlong(int axis, const Real3& place, std::int64_t count) const {
    const double faces = (place[axis] - lower[axis]) / spacing[axis];
    if (!(faces > 0.0)) return 0;
    return faces < static_cast<double>(count) ? static_cast<std::int64_t>(faces) : count - 1;
  }
};

/// What stands around and in the medium.
template <class Table>
struct RaySurfaces {
  RayWalls<Table> walls;
  double mirroredOfSolids = 0.0;
  double threshold = 1e-4;  ///< a ray ends where less than that part of the radiation comes through
  PhiloxKey key;
};

/// Cells of a level that rays pass, and what is in them.
template <class View>
struct RayLayer {
  RayRegion region;
  View medium;
};

/// Follows rays through layers: the fine cells around a patch, then, where there are levels between, cells of
/// coarser and coarser levels around these, and then the whole of the coarsest level. A ray goes from one
/// layer to the next and never back. Where there is one level alone, it is the one layer.
///
/// All that it computes of a ray depends on the ray alone, so the bits are the same for any patches, and the
/// vectors of `RayBatch` compute each ray as `follow` does.
template <class View, class Table = TableView>
struct RayTracer {
  using Medium = MediumOf<View>;
  static constexpr bool kScatters = MediumTraits<Medium>::kScatters;
  static constexpr std::int32_t kMostTurns = 10000;
  static constexpr int kMostLayers = 4;

  RayLayer<View> layers[kMostLayers];  // NOLINT: likewise
  std::int32_t count = 1;              ///< of them
  RaySurfaces<Table> surfaces;

  TESSERA_KERNEL const RayRegion& near() const { return layers[0].region; }
  TESSERA_KERNEL const View& nearMedium() const { return layers[0].medium; }

  /// What has arrived at the end of the ray, less what would if all were of its own temperature.
  TESSERA_KERNEL double follow(Ray ray, const Real3& start) const {
    RayWalk walk{};
    Index x = enter(near(), ray, start, walk);
    View medium = nearMedium();
    for (;;) {
      const Medium cell = medium(x);
      const double absorption = cell[0];
      const bool solid = isSolidCode(absorption);
      if (!solid) pass(walk, cell, ray.own);
      if (solid | (walk.transmitted < surfaces.threshold) | (walk.at >= walk.end) | isScattered(walk)) {
        const std::int32_t layer = ray.layer;
        if (!goesOn(ray, walk, absorption, cell[1], x)) return ray.sum;
        if (ray.layer != layer) medium = layers[ray.layer].medium;
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

  /// After a ray has stopped at a surface, at the end of its region, where it is scattered or for want of
  /// strength: whether it goes on, and then from which cell. `absorption` and `intensity` are those of the
  /// cell it has stopped in.
  TESSERA_KERNEL bool goesOn(Ray& ray, RayWalk& walk, double absorption, double intensity, Index& x) const {
    ray.at = walk.at;
    ray.transmitted = walk.transmitted;
    ray.sum = walk.sum;
    if (ray.transmitted < surfaces.threshold) return false;
    ray.toScatter = walk.toScatter;
    const RayRegion& region = layers[ray.layer].region;
    if (isSolidCode(absorption)) {
      const RaySurface solid{intensity, emissivityOfCode(absorption), surfaces.mirroredOfSolids};
      return leaves(ray, solid, axisOfEntry(walk), walk, x);
    }
    if (isScattered(walk)) return scatter(ray, walk, x);
    const int axis = axisOfExit(region, ray);
    const bool up = ray.goesUp(axis);
    const bool isWall = up ? region.cells.hi[axis] == region.domain.hi[axis]
                           : region.cells.lo[axis] == region.domain.lo[axis];
    if (isWall) {
      const RaySurface wall = surfaces.walls.template at<Real>(2 * axis + (up ? 1 : 0), ray.place());
      return leaves(ray, wall, axis, walk, x);
    }
    ++ray.layer;
    x = enter(layers[ray.layer].region, ray, ray.place(), walk);
    return true;
  }

 private:
  using Real = typename MediumTraits<Medium>::Real;

  TESSERA_KERNEL static bool isScattered(const RayWalk& walk) { return kScatters && walk.toScatter <= 0.0; }
  TESSERA_KERNEL static void pass(RayWalk& walk, const Medium& cell, double own) {
    if constexpr (kScatters) {
      walk.pass(cell[0], cell[1], cell[2], own);
    } else {
      walk.pass(cell[0], cell[1], own);
    }
  }
  TESSERA_KERNEL PhiloxWords wordsOfTurn(Ray& ray) const {
    return wordsOf(ray, surfaces.key, 2U + static_cast<std::uint32_t>(ray.turns++));
  }

  /// In any direction, from where it is.
  TESSERA_KERNEL bool scatter(Ray& ray, RayWalk& walk, Index& x) const {
    if (ray.turns == kMostTurns) return false;
    const PhiloxWords words = wordsOfTurn(ray);
    ray.origin = ray.place();
    ray.at = 0.0;
    ray.toScatter = depthToScatter(words.w);
    ray.turnTo(anyDirection({unitReal(words.x), unitReal(words.y)}));
    x = enter(layers[ray.layer].region, ray, ray.origin, walk);
    return true;
  }

  /// Takes what the surface sends, and reflects the ray.
  TESSERA_KERNEL bool leaves(Ray& ray, const RaySurface& surface, int axis, RayWalk& walk, Index& x) const {
    ray.sum += surface.emissivity * (surface.intensity - ray.own) * ray.transmitted;
    ray.transmitted *= 1.0 - surface.emissivity;
    if (ray.transmitted < surfaces.threshold || ray.turns == kMostTurns) return false;
    const PhiloxWords words = wordsOfTurn(ray);
    const bool up = ray.goesUp(axis);
    Real3 beside = ray.place();
    ray.origin = beside;
    ray.at = 0.0;
    Real3 direction = ray.direction;
    direction[axis] = -direction[axis];
    if (unitReal(words.z) >= surface.mirrored)
      direction = directionFromWall({unitReal(words.x), unitReal(words.y)}, axis, !up);
    ray.turnTo(direction);
    const RayRegion& region = layers[ray.layer].region;
    beside[axis] += (up ? -1e-6 : 1e-6) * region.spacing[axis];
    x = enter(region, ray, beside, walk);
    const Medium cell = layers[ray.layer].medium(x);
    if (!isSolidCode(cell[0])) return true;
    // A coarse solid cell reaches into where the ray came from: what is sent from there ends in it.
    ray.sum += (cell[1] - ray.own) * ray.transmitted;
    return false;
  }
};

/// The mean over the rays of a cell or of a face, or the sum of some of their parts.
template <class View, class Table, class Source>
TESSERA_KERNEL double meanOfRays(const RayTracer<View, Table>& tracer, const Source& source, Index x,
                                 double own, RayParts parts = {}) {
  const std::uint32_t rays = source.law.rays;
  double sum = 0.0;
  for (int part = parts.first; part < parts.last; ++part) {
    const std::uint32_t end = RayParts::begin(part + 1, rays);
    double ofPart = 0.0;
    for (std::uint32_t n = RayParts::begin(part, rays); n < end; ++n)
      ofPart += tracer.follow(source.ray(x, n, own), source.start(x));
    sum += ofPart;
  }
  return parts.result(sum, rays);
}

}  // namespace tessera
