#pragma once

#include <cstdint>

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// How cells of a level of the mesh lie in those of the next coarser one. A plain value that kernels capture.
struct Refinement {
  Extent ratio{1, 1, 1};
  Box coarseDomain;
  Extent wraps{0, 0, 0};   ///< 1: the axis is periodic
  Extent active{0, 0, 0};  ///< 1: the axis has differences

  TESSERA_KERNEL Index parent(Index fine) const {
    Index coarse = fine;
    for (int d = 0; d < kAxes; ++d) {
      const std::int64_t r = ratio[d];
      coarse[d] = (fine[d] >= 0 ? fine[d] : fine[d] - r + 1) / r;
    }
    return coarse;
  }
  TESSERA_KERNEL Index first(Index coarse) const {
    return {coarse.i * ratio.i, coarse.j * ratio.j, coarse.k * ratio.k};
  }
  TESSERA_KERNEL double cellsInOne() const { return static_cast<double>(ratio.i * ratio.j * ratio.k); }
  TESSERA_KERNEL bool exists(Index coarse, int axis) const {
    return wraps[axis] == 1 ||
           (coarse[axis] >= coarseDomain.lo[axis] && coarse[axis] < coarseDomain.hi[axis]);
  }
};

/// All cells of both levels have values.
struct AllCells {
  TESSERA_KERNEL static bool hasCoarse(Index /*x*/) { return true; }
  TESSERA_KERNEL static bool hasFine(Index /*x*/) { return true; }
};

/// Cells that have values are those where a number is 1, but for rounding; under finer cells it is their
/// mean.
template <class Number>
struct CellsOfOne {
  static constexpr double kWhole = 1.0 - 1e-9;
  Number coarse, fine;

  TESSERA_KERNEL bool hasCoarse(Index x) const { return coarse(x) > kWhole; }
  TESSERA_KERNEL bool hasFine(Index x) const { return fine(x) > kWhole; }
};

/// Values in the cells beside a level, beyond its end, as the composite operator of linear solves has them:
/// along the faces by a parabola through coarse cells, where the domain ends by a line; across them by the
/// parabola through that value and two cells of the level. Linear functions come out exact but for rounding.
/// Cells without a value end the parabolas as the domain does; the first two on both sides of a face have
/// one, or nothing passes it. What takes the gradient of a solution at such faces has the fluxes that the
/// solve has balanced.
template <class Coarse, class Fine, class Cells = AllCells>
struct BeyondLevel {
  Coarse coarse;
  Fine fine;
  Refinement r;
  int axis = 0;
  Index in;  ///< from a cell beyond the level to the first one inside
  Cells cells{};

  TESSERA_KERNEL double operator()(Index x) const {
    const auto n = static_cast<double>(r.ratio[axis]);
    if (!cells.hasFine(x + in + in))
      return 2.0 / (n + 1.0) * alongFaces(x) + (n - 1.0) / (n + 1.0) * fine(x + in);
    const double outer = 8.0 / ((n + 1.0) * (n + 3.0));
    const double first = 2.0 * (n - 1.0) / (n + 1.0);
    const double second = -(n - 1.0) / (n + 3.0);
    return outer * alongFaces(x) + (first * fine(x + in) + second * fine(x + in + in));
  }

 private:
  TESSERA_KERNEL double alongFaces(Index x) const {
    const Index at = r.parent(x);
    const double here = coarse(at);
    double value = here;
    for (int t = 0; t < kAxes; ++t) {
      if (t == axis || r.active[t] == 0) continue;
      const auto within = static_cast<double>(x[t] - at[t] * r.ratio[t]);
      const double s = (within + 0.5) / static_cast<double>(r.ratio[t]) - 0.5;
      const Index e = unit(t);
      const bool hasUpper = r.exists(at + e, t) && cells.hasCoarse(at + e);
      const bool hasLower = r.exists(at - e, t) && cells.hasCoarse(at - e);
      const double upper = hasUpper ? coarse(at + e) : 0.0;
      const double lower = hasLower ? coarse(at - e) : 0.0;
      if (hasUpper && hasLower) {
        value += s * (0.5 * (upper - lower)) + 0.5 * s * s * ((upper - here) - (here - lower));
      } else {
        value += s * (hasUpper ? upper - here : hasLower ? here - lower : 0.0);
      }
    }
    return value;
  }
};

}  // namespace tessera
