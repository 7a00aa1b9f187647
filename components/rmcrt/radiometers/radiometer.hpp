#pragma once

#include <cstdint>
#include <string>

#include "components/rmcrt/ray_source.hpp"
#include "grid/label.hpp"

namespace tessera {

/// An instrument at a place in the domain that measures the power which falls on a unit of area across its
/// direction from the directions within its view: the integral of intensity times the cosine over a cone.
struct Radiometer {
  std::string name;  ///< of its column of the history
  ReductionLabel reading;
  Real3 place;
  Real3 direction{1.0, 0.0, 0.0};  ///< of length 1, to where it looks
  Real3 right;                     ///< across it, of length 1
  Real3 up;                        ///< across both
  double sineSquared = 1.0;        ///< of half its angle of view
  std::uint32_t rays = 1000;
  std::uint32_t number = 0;  ///< in the deck
};

/// Rays of a radiometer, by Lambert's law within its view: the mean of what arrives times pi and
/// `sineSquared` is the reading.
struct RadiometerSource {
  RayLaw law;
  Real3 place;
  Real3 direction, right, up;
  double sineSquared = 1.0;
  std::uint32_t radiometer = 0;

  TESSERA_KERNEL Ray ray(Index /*x*/, std::uint32_t number, double own) const {
    Ray ray = RayCellNumber{radiometer, RaySeries::bits(RaySeries::kRadiometer)}.ray(number, own, law);
    const RayPair at = directionNumbers(ray, law, wordsOf(ray, law.key, 0));
    const double sineSquaredOfRay = at.u * sineSquared;
    const double ahead = std::sqrt(1.0 - sineSquaredOfRay);
    const double aside = std::sqrt(sineSquaredOfRay);
    const SineCosine angle = plainSineCosine(at.v);
    Real3 to;
    for (int d = 0; d < kAxes; ++d)
      to[d] = ahead * direction[d] + aside * (angle.cosine * right[d] + angle.sine * up[d]);
    ray.turnTo(to);
    ray.origin = place;
    return ray;
  }
  TESSERA_KERNEL Real3 start(Index /*x*/) const { return place; }
};

}  // namespace tessera
