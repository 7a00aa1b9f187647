#include <cmath>

#include "components/lowmach/carried.hpp"
#include "components/lowmach/lowmach_kernels.hpp"

namespace tessera {

/// Differences between the density and that of its state up to here are those of rounding and of solves.
inline constexpr double kSameVolume = 1e-9;

/// Diffusion and source of something carried, per volume and time.
template <class Field, class Spread>
struct CarriedGain {
  CarriedRate<Field, CentralBetween, Spread> rate;
  NumberOrField<Field> source;

  TESSERA_KERNEL double operator()(Index x) const { return rate.diffusion(x) + source(x); }
};

/// One loop over cells: how the volume of a unit of mass grows.
template <class Field, class Target, class Spread, class State>
struct ExpansionLoop {
  CarriedGain<Field, Spread> gain[kFlowScalars];
  NumberOrField<Field> value[kFlowScalars];
  Field density;
  Target expansion;
  State state;
  NumberOrField<Field> fluid;
  NumberOrField<Field> arises;   ///< mass
  double arising[kFlowScalars];  ///< what it carries
  double perStep;

  TESSERA_KERNEL void operator()(Index x) const {
    const double f = value[kMixture](x);
    const double h = value[kHeat](x);
    const double m = arises(x);
    const double volume = state.volume(f, h);
    const double ofMixture = gain[kMixture](x) + m * (arising[kMixture] - f);
    const double ofHeat = gain[kHeat](x) + m * (arising[kHeat] - h);
    const double grows = state.byMixture(f, h) * ofMixture + state.byHeat(f, h) * ofHeat + m * volume;
    // What the density has come away from its state is taken back within a step.
    const double excess = density(x) * volume - 1.0;
    const double counts = excess > kSameVolume    ? excess - kSameVolume
                          : excess < -kSameVolume ? excess + kSameVolume
                                                  : 0.0;
    expansion(x) = fluid(x) * (grows + perStep * counts);
  }
};

struct ExpansionOfFlow {
  FlowParams params;
  FlowStage stage;

  template <class Task>
  void operator()(const Task& task) const {
    using Field = std::remove_cvref_t<decltype(task.read(New, stage.to.density))>;
    withState(task, params, [&](const auto& relation) {
      if (params.isGeneral()) {
        expand<GeneralSpread<Field>>(task, relation);
      } else {
        expand<PlainSpread<Field>>(task, relation);
      }
    });
  }

  template <class Spread, class Task, class State>
  void expand(const Task& task, const State& relation) const {
    const auto density = task.read(New, stage.to.density);
    const auto expansion = task.write(params.expansion);
    using Field = std::remove_cvref_t<decltype(density)>;
    const NumberOrField<Field> none{density, 0.0, 0.0};
    const auto gainOf = [&](std::size_t n) {
      const CarriedLabels& carried = stage.to.carried[n];
      const Field q = carried.isThere() ? task.read(New, carried.value) : density;
      return CarriedGain<Field, Spread>{
          {q, {q, q, q}, {}, {}, spreadOf<Spread>(task, params, n, New, q, 1.0)}, none};
    };
    ExpansionLoop<Field, std::remove_cvref_t<decltype(expansion)>, Spread, State> loop{
        {gainOf(kMixture), gainOf(kHeat)},
        {none, none},
        density,
        expansion,
        relation,
        fluidOf(task, params, Old, density),
        none,
        {params.arising[kMixture], params.arising[kHeat]},
        1.0 / task.dt()};
    if (stage.to.massSource.id >= 0) loop.arises = {task.read(New, stage.to.massSource), 0.0, 1.0};
    for (std::size_t n = 0; n < kFlowScalars; ++n) {
      const CarriedLabels& carried = stage.to.carried[n];
      if (!carried.isThere()) continue;
      loop.value[n] = carriedOrNone(task, New, carried, density);
      if (carried.source.id >= 0) loop.gain[n].source = {task.read(New, carried.source), 0.0, 1.0};
      setAxes(task, params, loop.gain[n].rate.e, loop.gain[n].rate.inverse);
    }
    forEach(task.exec(), "Lowmach::expansion", task.interior(), loop);
  }
};

struct LightnessOfFaces {
  FlowParams params;
  FlowStage stage;

  template <class Task>
  void operator()(const Task& task) const {
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      const auto b = writeFaces(task, params.lightness, axis);
      const Box faces = facesAcross(task, params.lightness, axis);
      const Index e = unit(axis);
      if (!params.densityVaries) {
        const auto open = readFaces(task, Old, params.solids.open, axis);
        const double perDensity = params.perDensity();
        forEach(task.exec(), "Lowmach::openLightness", faces,
                [=] TESSERA_KERNEL(Index x) { b(x) = perDensity * open(x); });
        continue;
      }
      const auto density = task.read(New, stage.to.density);
      const auto open = openFaces(task, params, Old, axis, density);
      forEach(task.exec(), "Lowmach::lightness", faces,
              [=] TESSERA_KERNEL(Index x) { b(x) = open(x) / (0.5 * (density(x - e) + density(x))); });
    }
  }
};

/// Of cells, what follows from what is carried.
template <class Field, class Target, class State>
struct StateLoop {
  NumberOrField<Field> f;
  NumberOrField<Field> h;
  Target target;
  State state;
  StateNumber number;

  TESSERA_KERNEL void operator()(Index x) const {
    const double mixture = f(x);
    const double heat = h(x);
    target(x) = number == StateNumber::Density       ? 1.0 / state.volume(mixture, heat)
                : number == StateNumber::Temperature ? state.temperature(mixture, heat)
                : number == StateNumber::Absorption  ? state.absorption(mixture, heat)
                                                     : state.heatCapacity(mixture, heat);
  }
};

struct NumberOfState {
  FlowParams params;
  FlowState state;
  StateNumber number;
  Label<double, Cell> label;

  template <class Task>
  void operator()(const Task& task) const {
    const auto target = task.write(label);
    const CarriedLabels& first =
        state.carried[kMixture].isThere() ? state.carried[kMixture] : state.carried[kHeat];
    const auto standIn = task.read(New, first.value);
    const auto f = carriedOrNone(task, New, state.carried[kMixture], standIn);
    const auto h = carriedOrNone(task, New, state.carried[kHeat], standIn);
    using Field = std::remove_cvref_t<decltype(standIn)>;
    using Target = std::remove_cvref_t<decltype(target)>;
    withState(task, params, [&](const auto& relation) {
      using State = std::remove_cvref_t<decltype(relation)>;
      forEach(task.exec(), "Lowmach::state", task.interior(),
              StateLoop<Field, Target, State>{f, h, target, relation, number});
    });
  }
};

[[gnu::weak]] TaskBody expansionOfFlow(const FlowParams& params, const FlowStage& stage) {
  return taskBody<Cpu, Gpu>(ExpansionOfFlow{params, stage});
}

[[gnu::weak]] TaskBody lightnessOfFaces(const FlowParams& params, const FlowStage& stage) {
  return taskBody<Cpu, Gpu>(LightnessOfFaces{params, stage});
}

[[gnu::weak]] TaskBody numberOfState(const FlowParams& params, const FlowState& state, StateNumber number,
                                     Label<double, Cell> label) {
  return taskBody<Cpu, Gpu>(NumberOfState{params, state, number, label});
}

}  // namespace tessera
