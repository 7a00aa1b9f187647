#pragma once

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/field.hpp"
#include "datawarehouse/read_only_field.hpp"
#include "scheduler/solvers/loops/piece_loops.hpp"

namespace tessera {

/// next = u + beyond (u - before)
struct Extrapolate {
  static constexpr const char* kName = "Solver::extrapolate";
  double beyond = 0.0;
  ReadOnlyField<double> before, u;
  Field<double> next;
  TESSERA_KERNEL void operator()(Index x) const { next(x) = u(x) + beyond * (u(x) - before(x)); }
};

/// Numbers of faces where something flows: what they conduct, `factor` times b, or without b `factor`, and
/// what flows through them by `flowFactor` times `speed`, upwind, in the rows of the cells above and below.
struct FacesWithFlow {
  static constexpr const char* kName = "Solver::flow";
  double factor = 1.0;
  bool hasB = false;
  ReadOnlyField<double> b;
  double flowFactor = 1.0;
  ReadOnlyField<double> speed;
  Field<double> above, below;
  TESSERA_KERNEL void operator()(Index x) const {
    const double conducts = hasB ? factor * b(x) : factor;
    const double q = flowFactor * speed(x);
    const double amount = q < 0.0 ? -q : q;
    above(x) = conducts + 0.5 * (amount + q);
    below(x) = conducts + 0.5 * (amount - q);
  }
};

/// What holds on the face of a cell of a side.
struct SideValue {
  static constexpr double kNothing = 0.0;
  static constexpr double kSlope = 1.0;
  static constexpr double kOnFace = 2.0;
  static constexpr double kInCell = 3.0;
  double value = 0.0;
  double kind = kNothing;  ///< a number too, so that doubles are all that goes to a device
};

/// Those of a side of a box, by the place of their cells.
struct SideValues {
  Box cells;
  const SideValue* values = nullptr;
  TESSERA_KERNEL SideValue operator()(Index x) const { return values[placeIn(cells, x)]; }
};

/// The faces of a side: what conducts to a value that is given there and is carried in from it, and what the
/// condition adds to the right-hand side. `k` is the number in the row of the cells of the side, `other` the
/// one that nobody has.
template <class Values>
struct CloseSide {
  static constexpr const char* kName = "Solver::side";
  int axis = 0;
  bool high = false;
  double h = 1.0;
  Values values;
  Field<double> k, other, f;
  TESSERA_KERNEL void operator()(Index x) const {
    const Index face = high ? x + unit(axis) : x;
    const double above = k(face);
    const double below = other(face);
    const double conducts = below < above ? below : above;
    const double carried = above - conducts;
    k(face) = other(face) = 0.0;
    const SideValue what = values(x);
    if (what.kind == SideValue::kSlope) {
      f(x) += (conducts + carried) * h * what.value;
    } else if (what.kind == SideValue::kOnFace || what.kind == SideValue::kInCell) {
      const double weight = what.kind == SideValue::kOnFace ? 2.0 * conducts : conducts;
      other(face) = weight;
      k(face) = weight + carried;
      f(x) += (weight + carried) * what.value;
    }
  }
};

}  // namespace tessera
