#pragma once

#include <cstdint>

#include "components/rmcrt/ray_numbers.hpp"

namespace tessera {

/// Rays from the cells of a level, for what the matter in them takes up.
struct CellSource {
  RayRegion region;        ///< of the level that the rays start on
  RayLaw law;              ///< how many rays, and how they are drawn
  std::int32_t level = 0;  ///< its number

  /// A ray of cell `x`; `own` is the intensity of the matter in it.
  TESSERA_KERNEL Ray ray(Index x, std::uint32_t number, double own) const {
    Ray ray = RayCellNumber::of(x, region.domain, level, 0).ray(number, own, law);
    const PhiloxWords first = wordsOf(ray, law.key, 0);
    ray.turnTo(anyDirection(directionNumbers(ray, law, first)));
    Real3 within{0.5, 0.5, 0.5};
    if (!law.fromCentre) {
      const PhiloxWords second = wordsOf(ray, law.key, 1);
      within = {unitReal(first.z), unitReal(first.w), unitReal(second.x)};
    }
    for (int d = 0; d < kAxes; ++d)
      ray.origin[d] = region.lower[d] + (static_cast<double>(x[d]) + within[d]) * region.spacing[d];
    return ray;
  }
  /// A place in the cell, from which it is found.
  TESSERA_KERNEL Real3 start(Index x) const {
    Real3 centre;
    for (int d = 0; d < kAxes; ++d)
      centre[d] = region.lower[d] + (static_cast<double>(x[d]) + 0.5) * region.spacing[d];
    return centre;
  }
};

/// Rays from the faces of a wall; the cells are those beside it.
struct WallSource {
  RayRegion region;        ///< of the level that the rays start on
  RayLaw law;              ///< how many rays, and how they are drawn
  std::int32_t level = 0;  ///< its number
  std::int32_t side = 0;   ///< the wall's: x_low, x_high, y_low ...

  /// A ray of the face of cell `x` on the wall; `own` is the intensity of the wall.
  TESSERA_KERNEL Ray ray(Index x, std::uint32_t number, double own) const {
    const int axis = side / 2;
    const bool high = side % 2 == 1;
    Ray ray = RayCellNumber::of(x, region.domain, level, 1 + side).ray(number, own, law);
    const PhiloxWords words = wordsOf(ray, law.key, 0);
    ray.turnTo(directionFromWall(directionNumbers(ray, law, words), axis, !high));
    const RayPair within = law.fromCentre ? RayPair{0.5, 0.5} : RayPair{unitReal(words.z), unitReal(words.w)};
    for (int d = 0; d < kAxes; ++d) {
      const double part = d == axis ? (high ? 1.0 : 0.0) : (d == (axis == 0 ? 1 : 0) ? within.u : within.v);
      ray.origin[d] = region.lower[d] + (static_cast<double>(x[d]) + part) * region.spacing[d];
    }
    return ray;
  }
  /// A place in the cell beside the face.
  TESSERA_KERNEL Real3 start(Index x) const { return CellSource{region, law, level}.start(x); }
};

}  // namespace tessera
