#pragma once

#include <type_traits>

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

/// What passes a face: `cells` gives the states beside it from the four cells around it.
template <class From, class To, class Cells, class Solids>
struct GasFlux {
  From from;
  To to;
  Cells cells;
  Solids walls;
  RiemannSolver solver;
  Index e;  ///< to the next cell above the face

  TESSERA_KERNEL void operator()(Index x) const {
    const IdealGas gas = solver.gas;
    const FourCells four = walls.seen({gas.primitive(from(x - e - e)), gas.primitive(from(x - e)),
                                       gas.primitive(from(x)), gas.primitive(from(x + e))},
                                      x, e);
    const FaceStates at = cells(four.w0, four.w1, four.w2, four.w3);
    to.set(x, solver(at.low, at.high));
  }
};

/// What the mass that passes a face carries of a scalar.
template <class In, class Mass, class To, class Scalar>
struct CarriedFlux {
  In rho;
  In s;
  Mass mass;
  To to;
  Scalar scalar;
  Index e;

  TESSERA_KERNEL void operator()(Index x) const {
    to(x) = scalar(mass(x), s(x - e - e) / rho(x - e - e), s(x - e) / rho(x - e), s(x) / rho(x),
                   s(x + e) / rho(x + e));
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
    const auto from = gasFields(u, axis);
    const auto to = gasFields(flux, axis);
    using From = std::remove_cvref_t<decltype(from)>;
    using To = std::remove_cvref_t<decltype(to)>;
    forEachHeavy(task.exec(), "Euler::flux", faces,
                 GasFlux<From, To, Cells, Solids>{from, to, cells, solids, solver, unit(axis)});
  }
  /// A passive scalar, after the gas: what the mass that passes carries.
  template <class Scalar>
  void ofScalar(std::int32_t component, const Scalar& scalar) const {
    const auto rho = u[kMassComponent];
    const auto mass = known[kMassComponent];
    const auto to = flux[component];
    using In = std::remove_cvref_t<decltype(rho)>;
    using Mass = std::remove_cvref_t<decltype(mass)>;
    using To = std::remove_cvref_t<decltype(to)>;
    forEach(task.exec(), "Euler::scalarFlux", faces,
            CarriedFlux<In, Mass, To, Scalar>{rho, u[component], mass, to, scalar, unit(axis)});
  }
};

/// The loops of one axis with the slopes of the deck.
template <bool kCharacteristic, class Loops, class Slope>
void runFluxLoops(const Loops& loops, const EulerParams& params, Slope slope) {
  if constexpr (kCharacteristic) {
    loops.ofGas(params.solver, LinearCells<CharacteristicSlopes<Slope>>{params.solver.gas, {slope}});
  } else {
    loops.ofGas(params.solver, LinearCells<PrimitiveSlopes<Slope>>{params.solver.gas, {slope}});
  }
  for (std::int32_t n = 0; n < params.scalars; ++n)
    loops.ofScalar(kFirstScalar + n, ScalarFlux<Slope>{slope});
}

/// The same, for the limiter of the deck: 0, 1 and 2 are the theta of no slopes, of minmod and of mc.
template <bool kCharacteristic, class Loops>
void runFluxLoops(const Loops& loops, const EulerParams& params) {
  switch (params.limiter) {
    case Limiter::Flat:
      return runFluxLoops<kCharacteristic>(loops, params, ThetaSlope{0.0});
    case Limiter::Minmod:
      return runFluxLoops<kCharacteristic>(loops, params, ThetaSlope{1.0});
    case Limiter::Mc:
      return runFluxLoops<kCharacteristic>(loops, params, ThetaSlope{2.0});
    case Limiter::None:
      return runFluxLoops<kCharacteristic>(loops, params, FixedSlope<CentralSlope>{});
    case Limiter::VanLeer:
      return runFluxLoops<kCharacteristic>(loops, params, FixedSlope<VanLeerSlope>{});
  }
}

}  // namespace tessera
