#pragma once

#include "components/euler/ideal_gas.hpp"
#include "core/geometry/index.hpp"
#include "core/kernel.hpp"

// What a stage does in each cell or face, beside the fluxes: classes, since more than one source of kernels
// has them. Fields are those of a task.

namespace tessera {

/// dt/h times what leaves through the faces of an axis less what enters; 0 along an axis of one cell.
template <class Field>
struct Outflow {
  Field flux[kAxes];
  double dtOverH[kAxes];
  Index e[kAxes];  ///< to the upper face of a cell; nowhere along an axis of one cell

  TESSERA_KERNEL double operator()(Index x) const { return (along(0, x) + along(1, x)) + along(2, x); }

 private:
  TESSERA_KERNEL double along(int axis, Index x) const {
    return dtOverH[axis] * (flux[axis](x + e[axis]) - flux[axis](x));
  }
};

/// What has passed a face: the first stage sets it, later ones add to it.
template <class Flux, class Sum>
struct Pass {
  Flux flux;
  Sum sum;
  double part;

  TESSERA_KERNEL void operator()(Index x) const { sum(x) = part * flux(x); }
};

/// Of fluxes, and of sources of energy.
template <class From, class Sum>
struct AddPart {
  From from;
  Sum sum;
  double part;

  TESSERA_KERNEL void operator()(Index x) const { sum(x) += part * from(x); }
};

template <class Sum>
struct PassNothing {
  Sum sum;

  TESSERA_KERNEL void operator()(Index x) const { sum(x) = 0.0; }
};

/// A solid cell keeps what it has.
template <class Solid, class In, class Out>
struct KeepSolid {
  Solid solid;
  In before;
  Out after;

  TESSERA_KERNEL void operator()(Index x) const {
    if (solid(x) != 0.0) after(x) = before(x);
  }
};

/// A step of Euler's method.
template <class In, class Flux, class Out>
struct AdvanceGas {
  In from;
  Flux outflow;
  Out to;

  TESSERA_KERNEL void operator()(Index x) const { to(x) = from(x) - outflow(x); }
};

/// The same, and a mean with what was there before the whole step.
template <class In, class Flux, class Out>
struct CorrectGas {
  In old;
  In from;
  Flux outflow;
  Out to;
  double ofOld;
  double ofStep;

  TESSERA_KERNEL void operator()(Index x) const { to(x) = ofOld * old(x) + ofStep * (from(x) - outflow(x)); }
};

template <class In, class Out>
struct PullGas {
  In rho;
  In before;  ///< the momentum
  Out momentum;
  Out energy;
  double kick;

  TESSERA_KERNEL void operator()(Index x) const {
    momentum(x) += kick * rho(x);
    energy(x) += kick * before(x);
  }
};

/// A cell below a floor gets the floor's density or pressure at its own velocity.
template <class Fields, class Count, class Before>
struct RaiseToFloors {
  IdealGas gas;
  Fields u;
  Count count;
  Before before;
  double leastDensity;
  double leastPressure;

  TESSERA_KERNEL void operator()(Index x) const {
    Primitive w = gas.primitive(u(x));
    const bool isBelow = w.rho() < leastDensity || w.p() < leastPressure;
    count(x) = before(x) + (isBelow ? 1.0 : 0.0);
    if (!isBelow) return;
    w.v[kDensity] = w.rho() < leastDensity ? leastDensity : w.rho();
    w.v[kLast] = w.p() < leastPressure ? leastPressure : w.p();
    u.set(x, gas.conserved(w));
  }
};

/// A failed cell gets what it had.
template <class Fields, class Before>
struct PutBack {
  IdealGas gas;
  Fields u;
  Before before;

  TESSERA_KERNEL void operator()(Index x) const {
    if (!gas.exists(u(x))) u.set(x, before(x));
  }
};

}  // namespace tessera
