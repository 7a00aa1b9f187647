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
    Ray ray = RayCellNumber::of(x, region.domain, level, RaySeries::kCell).ray(number, own, law);
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

/// Rays from faces of cells, to one side of them.
struct FaceSource {
  RayRegion region;         ///< of the level that the rays start on
  RayLaw law;               ///< how many rays, and how they are drawn
  std::int32_t level = 0;   ///< its number
  std::int32_t side = 0;    ///< on which the face lies of its cell: x_low, x_high, y_low ...
  bool outward = false;     ///< whether rays leave the cell, or go through it
  std::int32_t series = 0;  ///< RaySeries

  TESSERA_KERNEL bool isHigh() const { return side % 2 == 1; }
  /// A ray of the face of cell `x`; `own` is the intensity of what it starts from.
  TESSERA_KERNEL Ray ray(Index x, std::uint32_t number, double own) const {
    const int axis = side / 2;
    Ray ray = RayCellNumber::of(x, region.domain, level, series).ray(number, own, law);
    const PhiloxWords words = wordsOf(ray, law.key, 0);
    ray.turnTo(directionFromWall(directionNumbers(ray, law, words), axis, isHigh() == outward));
    const RayPair within = law.fromCentre ? RayPair{0.5, 0.5} : RayPair{unitReal(words.z), unitReal(words.w)};
    for (int d = 0; d < kAxes; ++d) {
      const double part =
          d == axis ? (isHigh() ? 1.0 : 0.0) : (d == (axis == 0 ? 1 : 0) ? within.u : within.v);
      ray.origin[d] = region.lower[d] + (static_cast<double>(x[d]) + part) * region.spacing[d];
    }
    return ray;
  }
  /// A place in the first cell that the rays pass.
  TESSERA_KERNEL Real3 start(Index x) const {
    if (outward) x[side / 2] += isHigh() ? 1 : -1;
    return CellSource{region, law, level}.start(x);
  }
};

}  // namespace tessera
