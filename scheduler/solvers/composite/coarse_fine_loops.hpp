#pragma once

#include <cstdint>

#include "core/exec/exec.hpp"
#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/field.hpp"
#include "grid/beyond_level.hpp"

namespace tessera {

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

/// Values beyond a level, as `BeyondLevel` has them. `cells`: which have a value.
template <class Exec>
void interpolateSide(Exec exec, const CoarseFineSide& side, const Refinement& r, Field<double> coarse,
                     Field<double> fine, const CellsOfOne<Field<double>>& cells) {
  const BeyondLevel<Field<double>, Field<double>, CellsOfOne<Field<double>>> beyond{
      coarse, fine, r, side.axis, side.inward(), cells};
  forEach(exec, "Solver::interpolate", side.layer(r.ratio),
          [=] TESSERA_KERNEL(Index x) { fine(x) = beyond(x); });
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
