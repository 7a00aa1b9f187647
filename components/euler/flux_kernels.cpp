#include "components/euler/euler_kernels.hpp"
#include "components/euler/gas_fields.hpp"
#include "components/euler/reconstruction.hpp"
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
template <class Task, class View, class FluxView>
struct FaceLoops {
  const Task& task;
  View u;
  FluxView flux;
  Box faces;
  int axis;

  template <class Cells>
  void ofGas(const RiemannSolver& solver, const Cells& cells) const {
    const auto from = gasFields(u, axis);
    const auto to = gasFields(flux, axis);
    const Index e = unit(axis);
    const IdealGas gas = solver.gas;
    forEach(task.exec(), "Euler::flux", faces, [=] TESSERA_KERNEL(Index x) {
      const FaceStates at = cells(gas.primitive(from(x - e - e)), gas.primitive(from(x - e)),
                                  gas.primitive(from(x)), gas.primitive(from(x + e)));
      to.set(x, solver(at.low, at.high));
    });
  }
  template <class Scalar>
  void ofScalar(std::int32_t component, const Scalar& scalar) const {
    const auto rho = u[kMassComponent];
    const auto s = u[component];
    const auto mass = flux[kMassComponent];
    const auto to = flux[component];
    const Index e = unit(axis);
    forEach(task.exec(), "Euler::scalarFlux", faces, [=] TESSERA_KERNEL(Index x) {
      to(x) = scalar(mass(x), s(x - e - e) / rho(x - e - e), s(x - e) / rho(x - e), s(x) / rho(x),
                     s(x + e) / rho(x + e));
    });
  }
};

struct FluxesOfEuler {
  EulerParams params;
  EulerStage stage;
  EulerFluxLabels fluxes;

  template <class Task>
  void operator()(const Task& task) const {
    if (params.active[0]) along(task, fluxes.x, 0);
    if (params.active[1]) along(task, fluxes.y, 1);
    if (params.active[2]) along(task, fluxes.z, 2);
  }

 private:
  template <class Task, class FluxLabel>
  void along(const Task& task, FluxLabel label, int axis) const {
    const FaceLoops loops{task, task.read(stage.generation, stage.from), task.write(label),
                          task.interior(label), axis};
    switch (params.limiter) {
      case Limiter::Flat:
        return withSlope(loops, ThetaSlope{0.0});
      case Limiter::Minmod:
        return withSlope(loops, ThetaSlope{1.0});
      case Limiter::Mc:
        return withSlope(loops, ThetaSlope{2.0});
      case Limiter::None:
        return withSlope(loops, FixedSlope<CentralSlope>{});
      case Limiter::VanLeer:
        return withSlope(loops, FixedSlope<VanLeerSlope>{});
    }
  }
  template <class Loops, class Slope>
  void withSlope(const Loops& loops, Slope slope) const {
    if (params.characteristic) {
      loops.ofGas(params.solver, LinearCells<CharacteristicSlopes<Slope>>{params.solver.gas, {slope}});
    } else {
      loops.ofGas(params.solver, LinearCells<PrimitiveSlopes<Slope>>{params.solver.gas, {slope}});
    }
    for (std::int32_t n = 0; n < params.scalars; ++n)
      loops.ofScalar(kFirstScalar + n, ScalarFlux<Slope>{slope});
  }
};

[[gnu::weak]] TaskBody fluxesOfEuler(const EulerParams& params, const EulerStage& stage,
                                     const EulerFluxLabels& fluxes) {
  return taskBody<Cpu, Gpu>(FluxesOfEuler{params, stage, fluxes});
}

}  // namespace tessera
