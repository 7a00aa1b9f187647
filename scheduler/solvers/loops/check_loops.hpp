#pragma once

#include <limits>

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/read_only_field.hpp"
#include "scheduler/solvers/loops/stencil_loops.hpp"

namespace tessera {

/// Which cells of a box are unknowns, and the place of each in the order of all cells of its level.
struct Unknowns {
  bool isWeighted = false;
  ReadOnlyField<double> weight;
  Extent cells{1, 1, 1};  ///< of the level
  TESSERA_KERNEL bool has(Index x) const { return !isWeighted || weight(x) > 0.0; }
  TESSERA_KERNEL double placeOf(Index x) const {
    return static_cast<double>((x.k * cells.j + x.j) * cells.i + x.i);
  }
  /// For the search for the first cell.
  TESSERA_KERNEL double placeIf(bool isWanted, Index x) const {
    return isWanted && has(x) ? placeOf(x) : std::numeric_limits<double>::infinity();
  }
};

TESSERA_KERNEL inline bool isFinite(double number) { return number - number == 0.0; }
TESSERA_KERNEL inline double amountOf(double number) { return number < 0.0 ? -number : number; }

/// Where the matrix has an entry that is no number, or a coefficient below 0.
struct BadMatrix {
  static constexpr const char* kName = "Solver::badMatrix";
  Unknowns unknowns;
  StencilFields A;
  TESSERA_KERNEL double operator()(Index x) const {
    bool isGood = isFinite(A.diagonal(x));
    isGood = isGood && A.kx(x) >= 0.0 && A.belowX(x + ex) >= 0.0;
    isGood = isGood && A.ky(x) >= 0.0 && A.belowY(x + ey) >= 0.0;
    isGood = isGood && A.kz(x) >= 0.0 && A.belowZ(x + ez) >= 0.0;
    return unknowns.placeIf(!isGood, x);
  }
};

/// Where the right-hand side, or the value to begin with, is no number.
struct BadSource {
  static constexpr const char* kName = "Solver::badSource";
  Unknowns unknowns;
  ReadOnlyField<double> f, u;
  TESSERA_KERNEL double operator()(Index x) const {
    return unknowns.placeIf(!isFinite(f(x)) || !isFinite(u(x)), x);
  }
};

/// Where a cell has a source, and nothing to balance it.
struct ShutIn {
  static constexpr const char* kName = "Solver::shutIn";
  Unknowns unknowns;
  StencilFields A;
  ReadOnlyField<double> f;
  TESSERA_KERNEL double operator()(Index x) const {
    return unknowns.placeIf(A.diagonal(x) == 0.0 && f(x) != 0.0, x);
  }
};

/// Numbers of cells, or of one of their faces; 0 in cells that are no unknowns.
struct NumberBeside {
  static constexpr const char* kName = "Solver::conducts";
  Unknowns unknowns;
  ReadOnlyField<double> numbers;
  Index step;
  TESSERA_KERNEL double operator()(Index x) const { return unknowns.has(x) ? numbers(x + step) : 0.0; }
};

/// The amount of a number; 0 in cells that are no unknowns.
struct AmountInSystem {
  static constexpr const char* kName = "Solver::amount";
  Unknowns unknowns;
  ReadOnlyField<double> numbers;
  TESSERA_KERNEL double operator()(Index x) const { return unknowns.has(x) ? amountOf(numbers(x)) : 0.0; }
};

/// Where a number has that amount.
struct HasAmount {
  static constexpr const char* kName = "Solver::hasAmount";
  Unknowns unknowns;
  ReadOnlyField<double> numbers;
  double amount = 0.0;
  TESSERA_KERNEL double operator()(Index x) const {
    return unknowns.placeIf(amountOf(numbers(x)) == amount, x);
  }
};

/// 1 where the row of a cell has no entry, and the cell no source, else 0.
struct IsHole {
  static constexpr const char* kName = "Solver::isHole";
  StencilFields A;
  ReadOnlyField<double> f;
  TESSERA_KERNEL double operator()(Index x) const { return A.diagonal(x) == 0.0 && f(x) == 0.0 ? 1.0 : 0.0; }
};

/// number = factor * number + a in unknowns
struct ChangeUnknowns {
  static constexpr const char* kName = "Solver::changeUnknowns";
  Unknowns unknowns;
  double factor = 1.0;
  double a = 0.0;
  Field<double> numbers;
  TESSERA_KERNEL void operator()(Index x) const {
    numbers(x) = unknowns.has(x) ? factor * numbers(x) + a : numbers(x);
  }
};

/// What flows through faces of a cell: the largest that one carries, the largest that one conducts, or what
/// is lost in all.
struct FlowOfCell {
  static constexpr const char* kName = "Solver::flowOfCell";
  enum What { Carried, Conducted, Lost };
  Unknowns unknowns;
  StencilFields A;
  What what = Carried;
  TESSERA_KERNEL double operator()(Index x) const {
    if (!unknowns.has(x)) return 0.0;
    Largest3 largest{what == Conducted};
    const double x0 = largest.add(A.kx(x), A.belowX(x));
    const double x1 = largest.add(A.kx(x + ex), A.belowX(x + ex));
    const double y0 = largest.add(A.ky(x), A.belowY(x));
    const double y1 = largest.add(A.ky(x + ey), A.belowY(x + ey));
    const double z0 = largest.add(A.kz(x), A.belowZ(x));
    const double z1 = largest.add(A.kz(x + ez), A.belowZ(x + ez));
    if (what != Lost) return largest.value;
    return amountOf(((x1 - x0) + (y1 - y0)) + (z1 - z0));
  }

 private:
  struct Largest3 {
    bool ofConducted;
    double value = 0.0;
    /// What a face carries, upwards.
    TESSERA_KERNEL double add(double above, double below) {
      const double carried = above - below;
      const double number = ofConducted ? above : amountOf(carried);
      value = number > value ? number : value;
      return carried;
    }
  };
};

}  // namespace tessera
