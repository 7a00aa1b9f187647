#include "components/lowmach/carried.hpp"
#include "components/lowmach/divergence.hpp"
#include "components/lowmach/lowmach_kernels.hpp"

namespace tessera {

/// Mass through faces: the velocity there over the volume that a unit of mass has of what it brings along.
template <class Field, class Target, class Between, class State>
struct FluxLoop {
  Field u;
  Field f;
  Field heat;
  Target mass;
  State state;
  Index e;
  bool hasMixture;
  bool hasHeat;

  TESSERA_KERNEL void operator()(Index x) const {
    const double mixture = hasMixture ? Between::at(f, x - e, e, u(x)) : 0.0;
    const double warmth = hasHeat ? Between::at(heat, x - e, e, u(x)) : 0.0;
    mass(x) = u(x) / state.volume(mixture, warmth);
  }
};

struct FluxOfMass {
  FlowParams params;
  FlowStage stage;

  template <class Task>
  void operator()(const Task& task) const {
    withState(task, params, [&](const auto& relation) {
      for (int axis = 0; axis < kAxes; ++axis) {
        if (!params.active[static_cast<std::size_t>(axis)]) continue;
        if (params.limitedScalars) {
          along<LimitedBetween>(task, relation, axis);
        } else {
          along<UnlimitedBetween>(task, relation, axis);
        }
      }
    });
  }

  template <class Between, class Task, class State>
  void along(const Task& task, const State& relation, int axis) const {
    const auto u = readFaces(task, stage.generation, stage.from.velocity, axis);
    const auto mass = writeFaces(task, params.flux, axis);
    const CarriedLabels& mixture = stage.from.carried[kMixture];
    const CarriedLabels& heat = stage.from.carried[kHeat];
    FluxLoop<std::remove_cvref_t<decltype(u)>, std::remove_cvref_t<decltype(mass)>, Between, State> loop{
        u, u, u, mass, relation, unit(axis), mixture.isThere(), heat.isThere()};
    if (mixture.isThere()) loop.f = task.read(stage.generation, mixture.value);
    if (heat.isThere()) loop.heat = task.read(stage.generation, heat.value);
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
    if (stage.from.massSource.id < 0) {
      forEach(task.exec(), "Lowmach::density", task.interior(), [=] TESSERA_KERNEL(Index x) {
        after(x) = ofOld * before(x) + ofStage * (from(x) - dt * outflow(x));
      });
      return;
    }
    const auto arises = task.read(stage.generation, stage.from.massSource);
    const auto fluid = fluidOf(task, params, Old, before);
    forEach(task.exec(), "Lowmach::densityAndSource", task.interior(), [=] TESSERA_KERNEL(Index x) {
      after(x) = ofOld * before(x) + ofStage * (from(x) - dt * (outflow(x) - fluid(x) * arises(x)));
    });
  }
};

/// One loop over cells.
template <class Field, class Target, class Between, class Spread>
struct CarriedLoop {
  CarriedRate<Field, Between, Spread> rate;
  NumberOrField<Field> before;  ///< density of Old
  NumberOrField<Field> after;   ///< of the stage
  NumberOrField<Field> source;
  NumberOrField<Field> fluid;
  NumberOrField<Field> arises;  ///< mass
  double arising;               ///< what it carries
  Field old;
  Target next;
  double ofOld;
  double dt;  ///< of the stage

  TESSERA_KERNEL void operator()(Index x) const {
    const double rho = after(x);
    const double sources = source(x) + arises(x) * (arising - rate.q(x));
    const double gains = fluid(x) * (rate.diffusion(x) - rate.convection(x) + sources);
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
    using Field = std::remove_cvref_t<decltype(task.read(stage.generation, state.density))>;
    if (params.isGeneral()) {
      advance<Between, GeneralSpread<Field>>(task);
    } else {
      advance<Between, PlainSpread<Field>>(task);
    }
  }

  template <class Between, class Spread, class Task>
  void advance(const Task& task) const {
    const CarriedLabels& from = stage.from.carried[which];
    const auto q = task.read(stage.generation, from.value);
    const auto next = task.write(stage.to.carried[which].value);
    using Field = std::remove_cvref_t<decltype(q)>;
    const double perDensity = params.perDensity();
    CarriedRate<Field, Between, Spread> rate{
        q, {q, q, q}, {}, {}, spreadOf<Spread>(task, params, which, stage.generation, q, perDensity)};
    for (int d = 0; d < kAxes; ++d) {
      if (!params.active[static_cast<std::size_t>(d)]) continue;
      rate.mass[d] = params.densityVaries ? readFaces(task, New, params.flux, d)
                                          : readFaces(task, stage.generation, stage.from.velocity, d);
    }
    setAxes(task, params, rate.e, rate.inverse);
    const NumberOrField<Field> one{q, 1.0, 0.0};
    const NumberOrField<Field> none{q, 0.0, 0.0};
    CarriedLoop<Field, std::remove_cvref_t<decltype(next)>, Between, Spread> loop{
        rate,
        one,
        one,
        none,
        fluidOf(task, params, Old, q),
        none,
        params.arising[which],
        task.read(Old, state.carried[which].value),
        next,
        stage.ofOld,
        stage.ofStage * task.dt()};
    if (params.densityVaries) {
      loop.before = {task.read(Old, state.density), 0.0, 1.0};
      loop.after = {task.read(New, stage.to.density), 0.0, 1.0};
    }
    if (from.source.id >= 0) loop.source = {task.read(stage.generation, from.source), 0.0, perDensity};
    if (stage.from.massSource.id >= 0)
      loop.arises = {task.read(stage.generation, stage.from.massSource), 0.0, 1.0};
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
