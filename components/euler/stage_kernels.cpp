#include <algorithm>
#include <cmath>
#include <limits>

#include "components/euler/euler_kernels.hpp"
#include "components/euler/flux_loops.hpp"
#include "components/euler/gas_fields.hpp"
#include "datawarehouse/task_context.hpp"

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

struct StageOfEuler {
  EulerParams params;
  EulerStage stage;
  GasLabel gas;
  EulerFluxLabels fluxes;

  template <class Task>
  void operator()(const Task& task) const {
    if (params.active[0]) along(task, fluxes.x, 0);
    if (params.active[1]) along(task, fluxes.y, 1);
    if (params.active[2]) along(task, fluxes.z, 2);
    const auto from = task.read(stage.generation, stage.from);
    const auto to = task.write(stage.to);
    const auto old = task.read(Old, gas);
    for (std::int32_t c = 0; c < kFirstScalar + params.scalars; ++c) {
      advance(task, old[c], from[c], outflow(task, c, from[c]), to[c]);
    }
    addGravity(task, from, to);
    keepAboveFloors(task, to);
  }

 private:
  /// The fluxes through all faces of the patch across an axis.
  template <class Task, class FluxLabel>
  void along(const Task& task, FluxLabel label, int axis) const {
    Box faces = task.interior();
    ++faces.hi[axis];
    runFluxLoops(FaceLoops{task, task.read(stage.generation, stage.from), task.scratch(label),
                           task.readScratch(label), faces, axis},
                 params);
  }
  /// An unresolved axis has no fluxes: `standIn`, of cells, is there in their place, and counts nothing.
  template <class Task, class Field>
  Outflow<Field> outflow(const Task& task, std::int32_t component, const Field& standIn) const {
    Outflow<Field> out{{standIn, standIn, standIn}, {}, {}};
    if (params.active[0]) out.flux[0] = task.readScratch(fluxes.x)[component];
    if (params.active[1]) out.flux[1] = task.readScratch(fluxes.y)[component];
    if (params.active[2]) out.flux[2] = task.readScratch(fluxes.z)[component];
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      out.dtOverH[axis] = task.dt() * task.inverseSpacing()[axis];
      out.e[axis] = unit(axis);
    }
    return out;
  }
  template <class Task, class In, class Flux, class Out>
  void advance(const Task& task, const In& old, const In& from, const Flux& outflow, const Out& to) const {
    const double ofOld = stage.ofOld;
    const double ofStep = stage.ofStep;
    if (ofOld == 0.0) {
      forEach(task.exec(), "Euler::advance", task.interior(),
              [=] TESSERA_KERNEL(Index x) { to(x) = from(x) - outflow(x); });
    } else {
      forEach(task.exec(), "Euler::correct", task.interior(),
              [=] TESSERA_KERNEL(Index x) { to(x) = ofOld * old(x) + ofStep * (from(x) - outflow(x)); });
    }
  }
  template <class Task, class In, class Out>
  void addGravity(const Task& task, const In& from, const Out& to) const {
    const auto rho = from[kMassComponent];
    const auto energy = to[kEnergyComponent];
    for (int axis = 0; axis < kAxes; ++axis) {
      if (params.gravity[axis] == 0.0) continue;
      const double kick = stage.ofStep * task.dt() * params.gravity[axis];
      const auto before = from[kMomentumComponent + axis];
      const auto momentum = to[kMomentumComponent + axis];
      forEach(task.exec(), "Euler::gravity", task.interior(), [=] TESSERA_KERNEL(Index x) {
        momentum(x) += kick * rho(x);
        energy(x) += kick * before(x);
      });
    }
  }
  /// A cell below a floor gets the floor's density or pressure at its own velocity.
  template <class Task, class Out>
  void keepAboveFloors(const Task& task, const Out& to) const {
    if (params.leastDensity == 0.0 && params.leastPressure == 0.0) return;
    const auto u = gasFields(to, 0);
    const IdealGas gas = params.solver.gas;
    const double leastDensity = params.leastDensity;
    const double leastPressure = params.leastPressure;
    forEach(task.exec(), "Euler::floors", task.interior(), [=] TESSERA_KERNEL(Index x) {
      Primitive w = gas.primitive(u(x));
      const bool isBelow = w.rho() < leastDensity || w.p() < leastPressure;
      if (!isBelow) return;
      w.v[kDensity] = w.rho() < leastDensity ? leastDensity : w.rho();
      w.v[kLast] = w.p() < leastPressure ? leastPressure : w.p();
      u.set(x, gas.conserved(w));
    });
  }
};

[[gnu::weak]] TaskBody stageOfEuler(const EulerParams& params, const EulerStage& stage, GasLabel gas,
                                    const EulerFluxLabels& fluxes) {
  return taskBody<Cpu, Gpu>(StageOfEuler{params, stage, gas, fluxes});
}

}  // namespace tessera
