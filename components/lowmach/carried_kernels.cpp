#include "components/lowmach/carried.hpp"
#include "components/lowmach/divergence.hpp"
#include "components/lowmach/lowmach_kernels.hpp"

namespace tessera {

/// Mass through faces: the velocity there over the volume that a unit of mass has of what it brings along.
template <class Field, class Target, class Between>
struct FluxLoop {
  Field u;
  Field f;
  Field T;
  Target mass;
  StateRelation relation;
  Index e;
  bool hasMixture;
  bool hasTemperature;

  TESSERA_KERNEL void operator()(Index x) const {
    const double mixture = hasMixture ? Between::at(f, x - e, e, u(x)) : 0.0;
    const double temperature = hasTemperature ? Between::at(T, x - e, e, u(x)) : 0.0;
    mass(x) = u(x) / relation.volume(mixture, temperature);
  }
};

struct FluxOfMass {
  FlowParams params;
  FlowStage stage;

  template <class Task>
  void operator()(const Task& task) const {
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      if (params.limitedScalars) {
        along<LimitedBetween>(task, axis);
      } else {
        along<UnlimitedBetween>(task, axis);
      }
    }
  }

  template <class Between, class Task>
  void along(const Task& task, int axis) const {
    const auto u = readFaces(task, stage.generation, stage.from.velocity, axis);
    const auto mass = writeFaces(task, params.flux, axis);
    const CarriedLabels& mixture = stage.from.carried[kMixture];
    const CarriedLabels& temperature = stage.from.carried[kTemperature];
    FluxLoop<std::remove_cvref_t<decltype(u)>, std::remove_cvref_t<decltype(mass)>, Between> loop{
        u, u, u, mass, params.relation, unit(axis), mixture.isThere(), temperature.isThere()};
    if (mixture.isThere()) loop.f = task.read(stage.generation, mixture.value);
    if (temperature.isThere()) loop.T = task.read(stage.generation, temperature.value);
    forEach(task.exec(), "Lowmach::flux", facesAcross(task, params.flux, axis), loop);
  }
};

struct AdvanceDensity {
  FlowParams params;
  FlowState state;
  FlowStage stage;

  template <class Task>
  void operator()(const Task& task) const {
    const auto outflow = divergenceOf(task, params, New, params.flux);
    const auto before = task.read(Old, state.density);
    const auto from = task.read(stage.generation, stage.from.density);
    const auto after = task.write(stage.to.density);
    const double ofOld = stage.ofOld;
    const double ofStage = stage.ofStage;
    const double dt = task.dt();
    forEach(task.exec(), "Lowmach::density", task.interior(), [=] TESSERA_KERNEL(Index x) {
      after(x) = ofOld * before(x) + ofStage * (from(x) - dt * outflow(x));
    });
  }
};

/// One loop over cells.
template <class Field, class Target, class Between>
struct CarriedLoop {
  CarriedRate<Field, Between> rate;
  NumberOrField<Field> before;  ///< density of Old
  NumberOrField<Field> after;   ///< of the stage
  NumberOrField<Field> source;
  Field old;
  Target next;
  double ofOld;
  double dt;  ///< of the stage

  TESSERA_KERNEL void operator()(Index x) const {
    const double rho = after(x);
    const double gains = rate.diffusion(x) - rate.convection(x) + source(x);
    const double kept = (rho - ofOld * before(x)) * (rate.q(x) - old(x));
    next(x) = old(x) + (kept + dt * gains) / rho;
  }
};

struct AdvanceCarried {
  FlowParams params;
  FlowState state;
  FlowStage stage;
  std::size_t which;

  template <class Task>
  void operator()(const Task& task) const {
    if (params.limitedScalars) {
      advance<LimitedBetween>(task);
    } else {
      advance<UnlimitedBetween>(task);
    }
  }

  template <class Between, class Task>
  void advance(const Task& task) const {
    const CarriedLabels& from = stage.from.carried[which];
    const auto q = task.read(stage.generation, from.value);
    const auto next = task.write(stage.to.carried[which].value);
    using Field = std::remove_cvref_t<decltype(q)>;
    const double perDensity = params.perDensity();
    CarriedRate<Field, Between> rate{q, {q, q, q}, {}, {}, params.diffusivity[which] * perDensity};
    for (int d = 0; d < kAxes; ++d) {
      if (!params.active[static_cast<std::size_t>(d)]) continue;
      rate.mass[d] = params.densityVaries ? readFaces(task, New, params.flux, d)
                                          : readFaces(task, stage.generation, stage.from.velocity, d);
    }
    setAxes(task, params, rate.e, rate.inverse);
    const NumberOrField<Field> one{q, 1.0, 0.0};
    CarriedLoop<Field, std::remove_cvref_t<decltype(next)>, Between> loop{
        rate,
        one,
        one,
        {q, 0.0, 0.0},
        task.read(Old, state.carried[which].value),
        next,
        stage.ofOld,
        stage.ofStage * task.dt()};
    if (params.densityVaries) {
      loop.before = {task.read(Old, state.density), 0.0, 1.0};
      loop.after = {task.read(New, stage.to.density), 0.0, 1.0};
    }
    if (from.source.id >= 0) loop.source = {task.read(stage.generation, from.source), 0.0, perDensity};
    forEachHeavy(task.exec(), "Lowmach::carry", task.interior(), loop);
  }
};

[[gnu::weak]] TaskBody fluxOfMass(const FlowParams& params, const FlowStage& stage) {
  return taskBody<Cpu, Gpu>(FluxOfMass{params, stage});
}

[[gnu::weak]] TaskBody advanceDensity(const FlowParams& params, const FlowState& state,
                                      const FlowStage& stage) {
  return taskBody<Cpu, Gpu>(AdvanceDensity{params, state, stage});
}

[[gnu::weak]] TaskBody advanceCarried(const FlowParams& params, const FlowState& state,
                                      const FlowStage& stage, std::size_t which) {
  return taskBody<Cpu, Gpu>(AdvanceCarried{params, state, stage, which});
}

}  // namespace tessera
