#pragma once

#include <cmath>
#include <cstdint>

#include "components/rmcrt/ray.hpp"
#include "core/elementary.hpp"
#include "core/philox.hpp"

namespace tessera {

/// How rays are drawn.
struct RayLaw {
  std::uint32_t rays = 1;   ///< from each cell or face of a wall
  bool fromCentre = false;  ///< from its centre; else from anywhere in it
  bool stratified = false;  ///< the sines of heights and the azimuths of the rays of a cell are spread evenly
  PhiloxKey key;            ///< seed and step
  bool scatters = false;    ///< whether rays need a place where they are scattered
};

/// Rays of a cell are summed in so many parts, and the sums of these in their order: whoever follows which
/// part, the sum has the same bits. These are the parts from `first` to before `last`.
struct RayParts {
  static constexpr int kCount = 16;

  int first = 0;
  int last = kCount;

  TESSERA_KERNEL bool areAll() const { return last - first == kCount; }
  /// The first ray of a part; that of the one behind the last is the number of rays.
  TESSERA_KERNEL static std::uint32_t begin(int part, std::uint32_t rays) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(rays) * static_cast<std::uint64_t>(part) /
                                      kCount);
  }
  /// The mean of all rays, or else the sum of some of their parts.
  TESSERA_KERNEL double result(double sum, std::uint32_t rays) const {
    return areAll() ? sum / static_cast<double>(rays) : sum;
  }
};

/// The n-th random words of a ray: 0 and 1 for where it starts, from 2 on for where it turns.
TESSERA_KERNEL inline PhiloxWords wordsOf(const Ray& ray, PhiloxKey key, std::uint32_t n) {
  return philox({ray.cellLow, ray.cellHigh, ray.number, n}, key);
}

/// The optical depth of scattering that a ray passes before it is scattered, from a random word.
TESSERA_KERNEL inline double depthToScatter(std::uint32_t word) { return -plainLog(unitReal(word)); }

/// Where `number` goes in a shuffle of 0 ... count - 1 that the words choose. Steps of which each can be
/// undone shuffle the numbers below a power of two; who lands outside goes on.
TESSERA_KERNEL inline std::uint32_t shuffled(std::uint32_t number, std::uint32_t count,
                                             const PhiloxWords& words) {
  std::uint32_t bits = 1;
  while ((count - 1) >> bits != 0) ++bits;
  const std::uint32_t mask = bits == 32 ? 0xffffffffU : (1U << bits) - 1;
  const std::uint32_t shift = (bits + 1) / 2;
  do {
    number = (number * (words.x | 1U) + words.y) & mask;
    number ^= number >> shift;
    number = (number * (words.z | 1U) + words.w) & mask;
    number ^= number >> shift;
  } while (number >= count);
  return number;
}

/// Two numbers between 0 and 1 for a direction.
struct RayPair {
  double u = 0.0;
  double v = 0.0;
};

TESSERA_KERNEL inline RayPair directionNumbers(const Ray& ray, const RayLaw& law, const PhiloxWords& words) {
  const RayPair plain{unitReal(words.x), unitReal(words.y)};
  if (!law.stratified) return plain;
  const PhiloxWords shuffle = philox({ray.cellLow, ray.cellHigh, 0xffffffffU, 0}, law.key);
  const double part = 1.0 / static_cast<double>(law.rays);
  return {(static_cast<double>(ray.number) + plain.u) * part,
          (static_cast<double>(shuffled(ray.number, law.rays, shuffle)) + plain.v) * part};
}

/// Every direction alike.
TESSERA_KERNEL inline Real3 anyDirection(RayPair at) {
  const double height = 1.0 - 2.0 * at.u;
  const double aside = std::sqrt(1.0 - height * height);
  const SineCosine angle = plainSineCosine(at.v);
  return {aside * angle.cosine, aside * angle.sine, height};
}

/// Away from a wall across `axis`, as often as light of one intensity falls on it (Lambert's law).
TESSERA_KERNEL inline Real3 directionFromWall(RayPair at, int axis, bool up) {
  const double height = std::sqrt(at.u);
  const double aside = std::sqrt(1.0 - at.u);
  const SineCosine angle = plainSineCosine(at.v);
  Real3 direction;
  direction[axis] = up ? height : -height;
  direction[axis == 2 ? 0 : axis + 1] = aside * angle.cosine;
  direction[axis == 0 ? 2 : axis - 1] = aside * angle.sine;
  return direction;
}

/// What rays of a cell are for, each with random numbers of its own.
struct RaySeries {
  static constexpr std::int32_t kCell = 0;  ///< what it takes up
  static constexpr std::int32_t ofWall(std::int32_t side) { return 1 + side; }
  static constexpr std::int32_t kRadiometer = 7;
  static constexpr std::int32_t ofBox(std::int32_t side, bool outward) {
    return 8 + side + (outward ? kOtherSide : 0);
  }

  /// Where it is among the bits of the number of a cell, beside those of the level.
  TESSERA_KERNEL static std::uint32_t bits(std::int32_t series) {
    return (static_cast<std::uint32_t>(series % kOtherSide) << 28) ^ (series >= kOtherSide ? 1U << 27 : 0U);
  }

 private:
  static constexpr std::int32_t kOtherSide = 16;
};

/// Where the random numbers of a cell come from: all cells of all levels, and their sides, have other ones.
struct RayCellNumber {
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  /// `series`: RaySeries.
  TESSERA_KERNEL static RayCellNumber of(Index x, const Box& domain, std::int32_t level,
                                         std::int32_t series) {
    const Extent n = domain.extent();
    const auto cell = static_cast<std::uint64_t>((x.k * n.j + x.j) * n.i + x.i);
    return {static_cast<std::uint32_t>(cell), static_cast<std::uint32_t>(cell >> 32) ^
                                                  (static_cast<std::uint32_t>(level) << 16) ^
                                                  RaySeries::bits(series)};
  }

  /// A ray of the cell, or of its side, that has no direction yet; `own` is the intensity where it starts.
  TESSERA_KERNEL Ray ray(std::uint32_t number, double own, const RayLaw& law) const {
    Ray ray;
    ray.own = own;
    ray.cellLow = low;
    ray.cellHigh = high;
    ray.number = number;
    if (law.scatters) ray.toScatter = depthToScatter(wordsOf(ray, law.key, 1).y);
    return ray;
  }
};

}  // namespace tessera
