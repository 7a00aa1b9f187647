#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/geometry/index.hpp"

namespace tessera {

/// Layers around a box, per side and axis; the unit of every halo declaration. All entries >= 0.
struct Halo {
  Index lo;
  Index hi;

  friend constexpr bool operator==(const Halo&, const Halo&) = default;
  constexpr bool isZero() const { return *this == Halo{}; }
};

/// The same number of layers on all six sides.
constexpr Halo uniformHalo(std::int64_t n) { return {{n, n, n}, {n, n, n}}; }

/// The smallest halo that contains both.
constexpr Halo unite(const Halo& a, const Halo& b) {
  Halo r;
  for (int d = 0; d < kAxes; ++d) {
    r.lo[d] = std::max(a.lo[d], b.lo[d]);
    r.hi[d] = std::max(a.hi[d], b.hi[d]);
  }
  return r;
}

/// A half-open box of indices [lo, hi). Empty when hi <= lo on any axis.
///
///   Box b{{0, 0, 0}, {16, 16, 1}};
///   b.volume();                    // 256
///   grow(b, uniformHalo(1));       // [-1, 17) x [-1, 17) x [-1, 2)
struct Box {
  Index lo;
  Index hi;

  TESSERA_KERNEL constexpr Extent extent() const { return hi - lo; }
  TESSERA_KERNEL constexpr bool empty() const { return hi.i <= lo.i || hi.j <= lo.j || hi.k <= lo.k; }
  /// Number of indices inside, 0 when empty. Throws InternalError when it exceeds 63 bits.
  std::int64_t volume() const;
  TESSERA_KERNEL constexpr bool contains(Index x) const {
    return x.i >= lo.i && x.i < hi.i && x.j >= lo.j && x.j < hi.j && x.k >= lo.k && x.k < hi.k;
  }
  constexpr bool contains(const Box& b) const {
    return b.empty() || (contains(b.lo) && contains(b.hi - Index{1, 1, 1}));
  }
  friend constexpr bool operator==(const Box&, const Box&) = default;
};

/// The common part; may be empty.
constexpr Box intersect(const Box& a, const Box& b) {
  return {{std::max(a.lo.i, b.lo.i), std::max(a.lo.j, b.lo.j), std::max(a.lo.k, b.lo.k)},
          {std::min(a.hi.i, b.hi.i), std::min(a.hi.j, b.hi.j), std::min(a.hi.k, b.hi.k)}};
}

/// The smallest box that contains both (an empty operand is ignored).
constexpr Box boundingBox(const Box& a, const Box& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {{std::min(a.lo.i, b.lo.i), std::min(a.lo.j, b.lo.j), std::min(a.lo.k, b.lo.k)},
          {std::max(a.hi.i, b.hi.i), std::max(a.hi.j, b.hi.j), std::max(a.hi.k, b.hi.k)}};
}

constexpr Box grow(const Box& b, const Halo& h) { return {b.lo - h.lo, b.hi + h.hi}; }
constexpr Box shift(const Box& b, Index by) { return {b.lo + by, b.hi + by}; }

/// The parts of `a` outside `b`, as at most six disjoint boxes in a fixed order (z, y, x slabs).
std::vector<Box> subtract(const Box& a, const Box& b);
/// The parts of each of `parts` outside `b`, in their order.
std::vector<Box> subtract(const std::vector<Box>& parts, const Box& b);

/// "[0,0,0]..[15,15,0]" (inclusive corners, as users count cells).
std::string asText(const Box& b);

}  // namespace tessera
