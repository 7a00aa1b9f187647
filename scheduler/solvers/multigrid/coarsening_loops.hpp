#pragma once

#include <cstdint>

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/field.hpp"
#include "datawarehouse/read_only_field.hpp"

namespace tessera {

/// How cells of one level make those of the next coarser one: coarse cell C has the cells from C * ratio on,
/// those of them that the domain has. A ratio is 1 or 2. A plain value that kernels capture.
struct Coarsening {
  Extent ratio{1, 1, 1};
  Extent cells{1, 1, 1};  ///< of the finer level
  Extent wraps{0, 0, 0};  ///< 1: the axis is periodic

  TESSERA_KERNEL Index first(Index coarse) const {
    return {coarse.i * ratio.i, coarse.j * ratio.j, coarse.k * ratio.k};
  }
  TESSERA_KERNEL std::int64_t end(Index coarse, int axis) const {
    const std::int64_t last = (coarse[axis] + 1) * ratio[axis];
    return last < cells[axis] ? last : cells[axis];
  }
  TESSERA_KERNEL Index parent(Index fine) const {
    return {ratio.i == 2 ? fine.i >> 1 : fine.i, ratio.j == 2 ? fine.j >> 1 : fine.j,
            ratio.k == 2 ? fine.k >> 1 : fine.k};
  }
  template <class Numbers>
  TESSERA_KERNEL double sumOfChildren(const Numbers& u, Index coarse) const {
    const Index x0 = first(coarse);
    const std::int64_t endI = end(coarse, 0);
    const std::int64_t endJ = end(coarse, 1);
    const std::int64_t endK = end(coarse, 2);
    double sum = 0.0;
    for (std::int64_t k = x0.k; k < endK; ++k) {
      for (std::int64_t j = x0.j; j < endJ; ++j) {
        for (std::int64_t i = x0.i; i < endI; ++i) sum += u(Index{i, j, k});
      }
    }
    return sum;
  }
};

/// Three resistances in a row: half of that inside of one coarse cell, of the face, half of that inside of
/// the other.
TESSERA_KERNEL inline double inSeries(double inside, double face, double outside, bool hasInside,
                                      bool hasOutside) {
  if (!(face > 0.0) || (hasInside && !(inside > 0.0)) || (hasOutside && !(outside > 0.0))) return 0.0;
  double resistance = 1.0 / face;
  if (hasInside) resistance += 0.5 / inside;
  if (hasOutside) resistance += 0.5 / outside;
  return 1.0 / resistance;
}

/// What a face conducts whose numbers in the rows beside it are these.
struct FaceConducts {
  Field<double> above, below;
  TESSERA_KERNEL double operator()(Index face) const {
    const double a = above(face);
    const double b = below(face);
    return a < b ? a : b;
  }
};

/// What conducts through the lower face of coarse cells along `axis`, whose fine faces conduct `k`: lines
/// side by side, and in each of them, where the axis is coarsened, resistances in series between the centres
/// of the coarse cells.
template <class Conducts>
struct CoarsenFaces {
  static constexpr const char* kName = "Solver::coarsenFaces";
  Coarsening c;
  int axis = 0;
  Conducts k;
  Field<double> coarse;
  TESSERA_KERNEL void operator()(Index x) const {
    const Index along = unit(axis);
    const std::int64_t cells = c.cells[axis];
    const bool halves = c.ratio[axis] == 2;
    Index from = c.first(x);
    if (from[axis] > cells) from[axis] = cells;
    const std::int64_t face = from[axis];
    const bool isOdd = (cells & 1) != 0;
    const bool hasUpper = halves && face + 1 < cells;
    const bool hasLower = halves && (face > 0 ? !(face == cells && isOdd) : c.wraps[axis] == 1 && !isOdd);
    // Along the axis itself one layer of faces, across it all children.
    const std::int64_t endI = axis == 0 ? from.i + 1 : c.end(x, 0);
    const std::int64_t endJ = axis == 1 ? from.j + 1 : c.end(x, 1);
    const std::int64_t endK = axis == 2 ? from.k + 1 : c.end(x, 2);
    double sum = 0.0;
    for (std::int64_t n = from.k; n < endK; ++n) {
      for (std::int64_t m = from.j; m < endJ; ++m) {
        for (std::int64_t l = from.i; l < endI; ++l) {
          const Index f{l, m, n};
          const double lower = hasLower ? k(f - along) : 0.0;
          const double upper = hasUpper ? k(f + along) : 0.0;
          sum += inSeries(lower, k(f), upper, hasLower, hasUpper);
        }
      }
    }
    coarse(x) = sum;
  }
};

/// What fine faces carry to one of their rows, beyond what they conduct, is carried by the coarse faces that
/// they lie in; `above` and `below` of these: before, what they conduct.
struct AddCarried {
  static constexpr const char* kName = "Solver::addCarried";
  Coarsening c;
  int axis = 0;
  FaceConducts fine;
  Field<double> above, below;
  TESSERA_KERNEL void operator()(Index x) const {
    Index from = c.first(x);
    if (from[axis] > c.cells[axis]) from[axis] = c.cells[axis];
    const std::int64_t endI = axis == 0 ? from.i + 1 : c.end(x, 0);
    const std::int64_t endJ = axis == 1 ? from.j + 1 : c.end(x, 1);
    const std::int64_t endK = axis == 2 ? from.k + 1 : c.end(x, 2);
    double toAbove = 0.0;
    double toBelow = 0.0;
    for (std::int64_t n = from.k; n < endK; ++n) {
      for (std::int64_t m = from.j; m < endJ; ++m) {
        for (std::int64_t l = from.i; l < endI; ++l) {
          const Index f{l, m, n};
          const double conducts = fine(f);
          toAbove += fine.above(f) - conducts;
          toBelow += fine.below(f) - conducts;
        }
      }
    }
    const double conducts = above(x);
    above(x) = conducts + toAbove;
    below(x) = conducts + toBelow;
  }
};

struct CoarsenSums {
  static constexpr const char* kName = "Solver::restrict";
  Coarsening c;
  ReadOnlyField<double> fine;
  Field<double> coarse;
  TESSERA_KERNEL void operator()(Index x) const { coarse(x) = c.sumOfChildren(fine, x); }
};

/// u = u + what the coarse cell has
struct AddFromCoarse {
  static constexpr const char* kName = "Solver::prolong";
  static constexpr bool kStreams = true;
  Coarsening c;
  ReadOnlyField<double> coarse;
  Field<double> u;
  TESSERA_KERNEL void operator()(Index x) const { u(x) = u(x) + coarse(c.parent(x)); }
};

}  // namespace tessera
