#pragma once

#include "components/euler/euler_kernels.hpp"
#include "components/euler/gas_fields.hpp"
#include "components/euler/reconstruction.hpp"
#include "components/euler/solid_cells.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// The flux of a passive scalar: the mass that passes carries what its cell has in a unit of mass, on a
/// straight line in the cell. Constant concentrations stay exactly constant.
template <class Slope>
struct ScalarFlux {
  Slope slope;

  TESSERA_KERNEL double operator()(double mass, double c0, double c1, double c2, double c3) const {
    const double across = c2 - c1;
    const double low = c1 + 0.5 * slope(c1 - c0, across);
    const double high = c2 - 0.5 * slope(across, c3 - c2);
    return mass * (mass >= 0.0 ? low : high);
  }
};

/// The loops of one axis; `e` leads from a face to the cell above it one further up.
template <class Task, class View, class FluxView, class KnownView, class Solids>
struct FaceLoops {
  const Task& task;
  View u;
  FluxView flux;
  KnownView known;  ///< the same, to be read
  Box faces;
  int axis;
  Solids solids;

  /// Density, momentum and energy: `cells` gives the states beside a face from the four cells around it.
  template <class Cells>
  void ofGas(const RiemannSolver& solver, const Cells& cells) const {
    const Solids walls = solids;
    const auto from = gasFields(u, axis);
    const auto to = gasFields(flux, axis);
    const Index e = unit(axis);
    const IdealGas gas = solver.gas;
    forEachHeavy(task.exec(), "Euler::flux", faces, [=] TESSERA_KERNEL(Index x) {
      const FourCells four = walls.seen({gas.primitive(from(x - e - e)), gas.primitive(from(x - e)),
                                         gas.primitive(from(x)), gas.primitive(from(x + e))},
                                        x, e);
      const FaceStates at = cells(four.w0, four.w1, four.w2, four.w3);
      to.set(x, solver(at.low, at.high));
    });
  }
  /// A passive scalar, after the gas: what the mass that passes carries.
  template <class Scalar>
  void ofScalar(std::int32_t component, const Scalar& scalar) const {
    const auto rho = u[kMassComponent];
    const auto s = u[component];
    const auto mass = known[kMassComponent];
    const auto to = flux[component];
    const Index e = unit(axis);
    forEach(task.exec(), "Euler::scalarFlux", faces, [=] TESSERA_KERNEL(Index x) {
      to(x) = scalar(mass(x), s(x - e - e) / rho(x - e - e), s(x - e) / rho(x - e), s(x) / rho(x),
                     s(x + e) / rho(x + e));
    });
  }
};

/// The loops of one axis with the slopes of the deck.
template <class Loops, class Slope>
void runFluxLoops(const Loops& loops, const EulerParams& params, Slope slope) {
  if (params.characteristic) {
    loops.ofGas(params.solver, LinearCells<CharacteristicSlopes<Slope>>{params.solver.gas, {slope}});
  } else {
    loops.ofGas(params.solver, LinearCells<PrimitiveSlopes<Slope>>{params.solver.gas, {slope}});
  }
  for (std::int32_t n = 0; n < params.scalars; ++n)
    loops.ofScalar(kFirstScalar + n, ScalarFlux<Slope>{slope});
}

/// The same, for the limiter of the deck: 0, 1 and 2 are the theta of no slopes, of minmod and of mc.
template <class Loops>
void runFluxLoops(const Loops& loops, const EulerParams& params) {
  switch (params.limiter) {
    case Limiter::Flat:
      return runFluxLoops(loops, params, ThetaSlope{0.0});
    case Limiter::Minmod:
      return runFluxLoops(loops, params, ThetaSlope{1.0});
    case Limiter::Mc:
      return runFluxLoops(loops, params, ThetaSlope{2.0});
    case Limiter::None:
      return runFluxLoops(loops, params, FixedSlope<CentralSlope>{});
    case Limiter::VanLeer:
      return runFluxLoops(loops, params, FixedSlope<VanLeerSlope>{});
  }
}

}  // namespace tessera
