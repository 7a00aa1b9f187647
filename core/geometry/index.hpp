#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "core/kernel.hpp"

namespace tessera {

/// Number of axes that every index carries; a one- or two-dimensional run has axes of a single cell.
inline constexpr int kAxes = 3;

/// A cell, node or face position on one level, counted from the lower corner of the level's domain.
/// Negative values and values beyond the domain name halo positions. 64-bit on every axis.
struct Index {
  std::int64_t i = 0;
  std::int64_t j = 0;
  std::int64_t k = 0;

  TESSERA_KERNEL constexpr std::int64_t operator[](int axis) const {
    return axis == 0 ? i : (axis == 1 ? j : k);
  }
  TESSERA_KERNEL constexpr std::int64_t& operator[](int axis) { return axis == 0 ? i : (axis == 1 ? j : k); }
  friend constexpr bool operator==(const Index&, const Index&) = default;
};

/// Sizes along the axes; the same shape as an index, kept apart in name only.
using Extent = Index;

TESSERA_KERNEL constexpr Index operator+(Index a, Index b) { return {a.i + b.i, a.j + b.j, a.k + b.k}; }
TESSERA_KERNEL constexpr Index operator-(Index a, Index b) { return {a.i - b.i, a.j - b.j, a.k - b.k}; }
TESSERA_KERNEL constexpr Index operator*(std::int64_t s, Index a) { return {s * a.i, s * a.j, s * a.k}; }

/// The largest of the three; of a refinement ratio, which is 1 along axes that are not resolved, the ratio.
constexpr std::int64_t largestOf(Extent n) { return std::max({n.i, n.j, n.k}); }

/// Unit steps, so that a stencil reads `T(x - ex) + T(x + ex)`.
inline constexpr Index ex{1, 0, 0};
inline constexpr Index ey{0, 1, 0};
inline constexpr Index ez{0, 0, 1};

/// The unit step along `axis` (0, 1, 2).
TESSERA_KERNEL constexpr Index unit(int axis) {
  return {axis == 0 ? 1 : 0, axis == 1 ? 1 : 0, axis == 2 ? 1 : 0};
}

/// A point or a vector of reals, in the units of the deck.
struct Real3 {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;

  TESSERA_KERNEL constexpr double operator[](int axis) const { return axis == 0 ? x : (axis == 1 ? y : z); }
  TESSERA_KERNEL constexpr double& operator[](int axis) { return axis == 0 ? x : (axis == 1 ? y : z); }
  friend constexpr bool operator==(const Real3&, const Real3&) = default;
};

/// "(3, 0, 7)", the form used by every message.
std::string asText(Index x);

}  // namespace tessera
