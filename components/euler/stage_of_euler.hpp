#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "components/euler/euler_kernels.hpp"
#include "components/euler/failed_cells.hpp"
#include "components/euler/flux_loops.hpp"
#include "components/euler/gas_fields.hpp"
#include "components/euler/stage_loops.hpp"
#include "components/reflux/kept_faces.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

// The body of a stage, which two sources of kernels share. Loops stand in flux_loops.hpp and stage_loops.hpp;
// here is in which order they run, on what, and what a task reads and writes for them.

/// Adds the fluxes of a stage to what has passed in the step.
template <class Task, class FluxLabel>
void keepFlux(const Task& task, const EulerStage& stage, FluxLabel flux, FluxLabel passed, int axis,
              std::int32_t components) {
  const auto now = task.readScratch(flux);
  const bool isFirst = stage.generation == Old;
  const auto sum = isFirst ? task.write(passed) : task.modify(passed);
  const double part = stage.ofFlux;
  for (std::int32_t c = 0; c < components; ++c) {
    const auto f = now[c];
    const auto s = sum[c];
    using Flux = std::remove_cvref_t<decltype(f)>;
    using Sum = std::remove_cvref_t<decltype(s)>;
    const auto keep = [&](const Box& faces) {
      if (isFirst) {
        forEach(task.exec(), "Euler::pass", faces, Pass<Flux, Sum>{f, s, part});
      } else {
        forEach(task.exec(), "Euler::passOn", faces, AddPart<Flux, Sum>{f, s, part});
      }
    };
    const auto rest = [&](const Box& faces) {
      if (isFirst) forEach(task.exec(), "Euler::passNothing", faces, PassNothing<Sum>{s});
    };
    forEachKeptFace(task, task.interior(passed), axis, keep, rest);
  }
}

/// The body of a stage, with limits of characteristic variables or of primitive ones: a source each, since
/// with all limiters in one the compiler would take long. `Task` is what a body gets on the host or on a
/// device.
template <bool kCharacteristic>
struct StageOfEuler {
  EulerParams params;
  EulerStage stage;
  GasLabel gas;
  EulerFluxLabels fluxes;
  EulerNotes notes;

  /// Fluxes first, then all cells of a component at once, then what changes cells by themselves.
  template <class Task>
  void operator()(const Task& task) const {
    if (params.active[0]) along(task, fluxes.x, 0);
    if (params.active[1]) along(task, fluxes.y, 1);
    if (params.active[2]) along(task, fluxes.z, 2);
    if (params.keepsFluxes) keepFluxes(task);
    const auto from = task.read(stage.generation, stage.from);
    const auto to = task.write(stage.to);
    const auto old = task.read(Old, gas);
    for (std::int32_t c = 0; c < kFirstScalar + params.scalars; ++c) {
      advance(task, old[c], from[c], outflow(task, c, from[c]), to[c]);
    }
    addGravity(task, from, to);
    addEnergy(task, to[kEnergyComponent]);
    if (notes.counts) keepAboveFloors(task, to);
    if (notes.watches) {
      putBackFailed(task, old, to);
    } else {
      nameFailed(task, gasFields(from, 0), to[kEnergyComponent]);
    }
    if (params.hasSolids) keepSolids(task, from, to);
  }

  /// What has passed faces is kept for refluxing, of all components.
  template <class Task>
  void keepFluxes(const Task& task) const {
    const std::int32_t components = kFirstScalar + params.scalars;
    if (params.active[0]) keepFlux(task, stage, fluxes.x, stage.passed.x, 0, components);
    if (params.active[1]) keepFlux(task, stage, fluxes.y, stage.passed.y, 1, components);
    if (params.active[2]) keepFlux(task, stage, fluxes.z, stage.passed.z, 2, components);
  }
  /// The fluxes through all faces of the patch across an axis.
  template <class Task, class FluxLabel>
  void along(const Task& task, FluxLabel label, int axis) const {
    Box faces = task.interior();
    ++faces.hi[axis];
    withSolids(task, params, Old, [&](auto solids) {
      runFluxLoops<kCharacteristic>(
          FaceLoops{task, task.read(stage.generation, stage.from), task.scratch(label),
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
      using Solid = std::remove_cvref_t<decltype(solid)>;
      using Before = std::remove_cvref_t<decltype(before)>;
      using After = std::remove_cvref_t<decltype(after)>;
      forEach(task.exec(), "Euler::solids", task.interior(),
              KeepSolid<Solid, Before, After>{solid, before, after});
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
    if (stage.ofOld == 0.0) {
      forEach(task.exec(), "Euler::advance", task.interior(), AdvanceGas<In, Flux, Out>{from, outflow, to});
    } else {
      forEach(task.exec(), "Euler::correct", task.interior(),
              CorrectGas<In, Flux, Out>{old, from, outflow, to, stage.ofOld, stage.ofStep});
    }
  }
  /// Momentum and energy change by what the density and the momentum before the stage say.
  template <class Task, class In, class Out>
  void addGravity(const Task& task, const In& from, const Out& to) const {
    const auto rho = from[kMassComponent];
    const auto energy = to[kEnergyComponent];
    for (int axis = 0; axis < kAxes; ++axis) {
      if (params.gravity[axis] == 0.0) continue;
      const double kick = stage.ofStep * task.dt() * params.gravity[axis];
      const auto before = from[kMomentumComponent + axis];
      const auto momentum = to[kMomentumComponent + axis];
      using Before = std::remove_cvref_t<decltype(before)>;
      using After = std::remove_cvref_t<decltype(momentum)>;
      forEach(task.exec(), "Euler::gravity", task.interior(),
              PullGas<Before, After>{rho, before, momentum, energy, kick});
    }
  }
  /// All stages take the sources of Old, so that a step takes just dt of them.
  template <class Task, class Energy>
  void addEnergy(const Task& task, const Energy& energy) const {
    for (const AddedSource& one : stage.sources) {
      const auto source = task.read(Old, one.label);
      using Source = std::remove_cvref_t<decltype(source)>;
      forEach(task.exec(), "Euler::sources", task.interior(),
              AddPart<Source, Energy>{source, energy, stage.ofStep * task.dt() * one.factor});
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
  /// `before` may be `count` itself, where a later stage goes on counting.
  template <class Task, class Fields, class Count, class Before>
  void setFloors(const Task& task, const Fields& u, const Count& count, const Before& before) const {
    forEach(task.exec(), "Euler::floors", task.interior(),
            RaiseToFloors<Fields, Count, Before>{params.solver.gas, u, count, before, params.leastDensity,
                                                 params.leastPressure});
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
    using Fields = std::remove_cvref_t<decltype(u)>;
    using Kept = std::remove_cvref_t<decltype(before)>;
    forEach(task.exec(), "Euler::putBack", task.interior(), PutBack<Fields, Kept>{gas, u, before});
  }
};

}  // namespace tessera
