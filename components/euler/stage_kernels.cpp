#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "components/euler/euler_kernels.hpp"
#include "components/euler/failed_cells.hpp"
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
  EulerNotes notes;

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
    if (notes.counts) keepAboveFloors(task, to);
    if (notes.watches) {
      putBackFailed(task, old, to);
    } else {
      nameFailed(task, gasFields(from, 0), to[kEnergyComponent]);
    }
    if (params.hasSolids) keepSolids(task, from, to);
  }

  /// The fluxes through all faces of the patch across an axis.
  template <class Task, class FluxLabel>
  void along(const Task& task, FluxLabel label, int axis) const {
    Box faces = task.interior();
    ++faces.hi[axis];
    withSolids(task, params, Old, [&](auto solids) {
      runFluxLoops(FaceLoops{task, task.read(stage.generation, stage.from), task.scratch(label),
                             task.readScratch(label), faces, axis, solids},
                   params);
    });
  }
  /// What a solid cell holds does not change.
  template <class Task, class In, class Out>
  void keepSolids(const Task& task, const In& from, const Out& to) const {
    const auto solid = task.read(Old, params.solid);
    for (std::int32_t c = 0; c < kFirstScalar + params.scalars; ++c) {
      const auto before = from[c];
      const auto after = to[c];
      forEach(task.exec(), "Euler::solids", task.interior(), [=] TESSERA_KERNEL(Index x) {
        if (solid(x) != 0.0) after(x) = before(x);
      });
    }
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
    if (stage.generation == Old) {
      const auto before = task.read(Old, notes.floored);
      setFloors(task, gasFields(to, 0), task.write(notes.floored), before);
    } else {
      const auto count = task.modify(notes.floored);
      setFloors(task, gasFields(to, 0), count, count);
    }
  }
  template <class Task, class Fields, class Count, class Before>
  void setFloors(const Task& task, const Fields& u, const Count& count, const Before& before) const {
    const IdealGas gas = params.solver.gas;
    const double leastDensity = params.leastDensity;
    const double leastPressure = params.leastPressure;
    forEach(task.exec(), "Euler::floors", task.interior(), [=] TESSERA_KERNEL(Index x) {
      Primitive w = gas.primitive(u(x));
      const bool isBelow = w.rho() < leastDensity || w.p() < leastPressure;
      count(x) = before(x) + (isBelow ? 1.0 : 0.0);
      if (!isBelow) return;
      w.v[kDensity] = w.rho() < leastDensity ? leastDensity : w.rho();
      w.v[kLast] = w.p() < leastPressure ? leastPressure : w.p();
      u.set(x, gas.conserved(w));
    });
  }
  /// On the host, numbers that are none are traced back to the failed cell that they come from. Reading one
  /// component once is little beside the fluxes.
  template <class Task, class Fields, class Energy>
  void nameFailed(const Task& task, const Fields& from, const Energy& energy) const {
    if constexpr (std::is_same_v<typename Task::ReducedReal, double>) {
      const double isWrong = reduce(task.exec(), "Euler::look", task.interior(), Max,
                                    [=](Index x) { return energy(x) == energy(x) ? 0.0 : 1.0; });
      if (isWrong == 0.0) return;
      double first = std::numeric_limits<double>::infinity();
      for (int axis = 0; axis < kAxes; ++axis) {
        if (!params.active[static_cast<std::size_t>(axis)]) continue;
        const Box around = grow(task.interior(), {2 * unit(axis), 2 * unit(axis)});
        const Box box = intersect(around, task.level().domain());
        first = std::min(first, firstFailed(task, from, params.solver.gas, box));
      }
      if (std::isfinite(first)) reportFailed(task.hierarchy(), first, task.step() + 1, task.time());
    }
  }
  /// The first failed cell, and all of them as they were in Old. On a device nothing can branch on what was
  /// found, so there the second loop always runs.
  template <class Task, class Before, class Out>
  void putBackFailed(const Task& task, const Before& old, const Out& to) const {
    const auto u = gasFields(to, 0);
    const auto before = gasFields(old, 0);
    const IdealGas gas = params.solver.gas;
    const auto first = firstFailed(task, u, gas, task.interior());
    task.contribute(notes.failed, first);
    if constexpr (std::is_same_v<typename Task::ReducedReal, double>) {
      if (first == std::numeric_limits<double>::infinity()) return;
    }
    forEach(task.exec(), "Euler::putBack", task.interior(), [=] TESSERA_KERNEL(Index x) {
      if (!gas.exists(u(x))) u.set(x, before(x));
    });
  }
};

[[gnu::weak]] TaskBody stageOfEuler(const EulerParams& params, const EulerStage& stage, GasLabel gas,
                                    const EulerFluxLabels& fluxes, const EulerNotes& notes) {
  return taskBody<Cpu, Gpu>(StageOfEuler{params, stage, gas, fluxes, notes});
}

}  // namespace tessera
