#pragma once

#include <cstdint>

#include "core/exec/exec.hpp"
#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/field.hpp"

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

/// The faces where a level ends and the next coarser one goes on, on one side of a box.
struct CoarseFineSide {
  std::size_t box = 0;  ///< own box number
  int axis = 0;
  bool high = false;
  Box outside;  ///< coarse cells beyond the faces, one deep

  /// From a cell beyond the side to the first one inside.
  Index inward() const { return high ? Index{} - unit(axis) : unit(axis); }
  /// From a cell beyond the side to its face on the side.
  Index face() const { return high ? Index{} : unit(axis); }
  /// Cells of the finer level beside the faces, beyond the level.
  Box layer(Extent ratio) const {
    Box cells = outside;
    for (int d = 0; d < kAxes; ++d) {
      cells.lo[d] *= ratio[d];
      cells.hi[d] *= ratio[d];
    }
    (high ? cells.hi : cells.lo)[axis] = high ? cells.lo[axis] + 1 : cells.hi[axis] - 1;
    return cells;
  }
};

/// Values beyond a level: along the faces by a parabola through coarse cells, where the domain ends by a
/// line; across them by the parabola through that value and two cells of the level. Linear functions come
/// out exact but for rounding.
template <class Exec>
void interpolateSide(Exec exec, const CoarseFineSide& side, const Refinement& r, Field<double> coarse,
                     Field<double> fine) {
  const int axis = side.axis;
  const Index in = side.inward();
  const auto n = static_cast<double>(r.ratio[axis]);
  const double outer = 8.0 / ((n + 1.0) * (n + 3.0));
  const double first = 2.0 * (n - 1.0) / (n + 1.0);
  const double second = -(n - 1.0) / (n + 3.0);
  forEach(exec, "Solver::interpolate", side.layer(r.ratio), [=] TESSERA_KERNEL(Index x) {
    const Index at = r.parent(x);
    const double here = coarse(at);
    double value = here;
    for (int t = 0; t < kAxes; ++t) {
      if (t == axis || r.active[t] == 0) continue;
      const auto within = static_cast<double>(x[t] - at[t] * r.ratio[t]);
      const double s = (within + 0.5) / static_cast<double>(r.ratio[t]) - 0.5;
      const Index e = unit(t);
      const bool hasUpper = r.exists(at + e, t);
      const bool hasLower = r.exists(at - e, t);
      const double upper = hasUpper ? coarse(at + e) : 0.0;
      const double lower = hasLower ? coarse(at - e) : 0.0;
      if (hasUpper && hasLower) {
        value += s * (0.5 * (upper - lower)) + 0.5 * s * s * ((upper - here) - (here - lower));
      } else {
        value += s * (hasUpper ? upper - here : hasLower ? here - lower : 0.0);
      }
    }
    fine(x) = outer * value + (first * fine(x + in) + second * fine(x + in + in));
  });
}

/// Values beyond a level: those of the coarse cells.
template <class Exec>
void repeatOnSide(Exec exec, const CoarseFineSide& side, const Refinement& r, Field<double> coarse,
                  Field<double> fine) {
  forEach(exec, "Solver::repeat", side.layer(r.ratio),
          [=] TESSERA_KERNEL(Index x) { fine(x) = coarse(r.parent(x)); });
}

/// What flows through the fine faces of each coarse cell beyond a side out of that cell, in the units of its
/// row: k (u beyond - u inside), divided by how many fine cells a coarse one has.
template <class Exec>
void sumFluxes(Exec exec, const CoarseFineSide& side, const Refinement& r, Field<double> k, Field<double> u,
               double factor, Field<double> sums) {
  const int axis = side.axis;
  const bool high = side.high;
  const Index in = side.inward();
  const Index toFace = side.face();
  const double scale = factor / r.cellsInOne();
  forEach(exec, "Solver::sumFluxes", side.outside, [=] TESSERA_KERNEL(Index x) {
    Index from = r.first(x);
    Extent cells = r.ratio;
    cells[axis] = 1;
    if (!high) from[axis] += r.ratio[axis] - 1;
    double sum = 0.0;
    for (std::int64_t c = 0; c < cells.k; ++c) {
      for (std::int64_t b = 0; b < cells.j; ++b) {
        for (std::int64_t a = 0; a < cells.i; ++a) {
          const Index beyond = from + Index{a, b, c};
          sum += k(beyond + toFace) * (u(beyond) - u(beyond + in));
        }
      }
    }
    sums(x) = scale * sum;
  });
}

/// The mean of the fine cells of each coarse one.
template <class Exec>
void meanOfFine(Exec exec, const Box& box, const Refinement& r, Field<double> fine, Field<double> mean) {
  const double part = 1.0 / r.cellsInOne();
  forEach(exec, "Solver::mean", box, [=] TESSERA_KERNEL(Index x) {
    const Index from = r.first(x);
    double sum = 0.0;
    for (std::int64_t c = 0; c < r.ratio.k; ++c) {
      for (std::int64_t b = 0; b < r.ratio.j; ++b) {
        for (std::int64_t a = 0; a < r.ratio.i; ++a) sum += fine(from + Index{a, b, c});
      }
    }
    mean(x) = part * sum;
  });
}

/// u = u + what the coarse cell has
template <class Exec>
void addParents(Exec exec, const Box& box, const Refinement& r, Field<double> coarse, Field<double> u) {
  forEach(exec, "Solver::addParents", box,
          [=] TESSERA_KERNEL(Index x) { u(x) = u(x) + coarse(r.parent(x)); });
}

}  // namespace tessera
