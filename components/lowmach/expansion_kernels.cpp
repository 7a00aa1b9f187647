#include <cmath>

#include "components/lowmach/carried.hpp"
#include "components/lowmach/lowmach_kernels.hpp"

namespace tessera {

/// Differences between the density and that of its state up to here are those of rounding and of solves.
inline constexpr double kSameVolume = 1e-9;

/// Diffusion and source of something carried, per volume and time.
template <class Field>
struct CarriedGain {
  CarriedRate<Field, CentralBetween> rate;
  NumberOrField<Field> source;

  TESSERA_KERNEL double operator()(Index x) const { return rate.diffusion(x) + source(x); }
};

/// One loop over cells: how the volume of a unit of mass grows.
template <class Field, class Target>
struct ExpansionLoop {
  CarriedGain<Field> gain[kFlowScalars];
  NumberOrField<Field> value[kFlowScalars];
  Field density;
  Target expansion;
  StateRelation relation;
  double perStep;

  TESSERA_KERNEL void operator()(Index x) const {
    const double f = value[kMixture](x);
    const double T = value[kTemperature](x);
    const double grows =
        relation.byMixture(f, T) * gain[kMixture](x) + relation.byTemperature(f, T) * gain[kTemperature](x);
    // What the density has come away from its state is taken back within a step.
    const double excess = density(x) * relation.volume(f, T) - 1.0;
    const double counts = excess > kSameVolume    ? excess - kSameVolume
                          : excess < -kSameVolume ? excess + kSameVolume
                                                  : 0.0;
    expansion(x) = grows + perStep * counts;
  }
};

struct ExpansionOfFlow {
  FlowParams params;
  FlowStage stage;

  template <class Task>
  void operator()(const Task& task) const {
    const auto density = task.read(New, stage.to.density);
    const auto expansion = task.write(params.expansion);
    using Field = std::remove_cvref_t<decltype(density)>;
    const NumberOrField<Field> none{density, 0.0, 0.0};
    const CarriedGain<Field> noGain{{density, {density, density, density}, {}, {}, 0.0}, none};
    ExpansionLoop<Field, std::remove_cvref_t<decltype(expansion)>> loop{
        {noGain, noGain}, {none, none}, density, expansion, params.relation, 1.0 / task.dt()};
    for (std::size_t n = 0; n < kFlowScalars; ++n) {
      const CarriedLabels& carried = stage.to.carried[n];
      if (!carried.isThere()) continue;
      loop.value[n] = carriedOrNone(task, New, carried, density);
      loop.gain[n].rate.q = loop.value[n].field;
      loop.gain[n].rate.diffusivity = params.diffusivity[n];
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
    const auto density = task.read(New, stage.to.density);
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      const auto b = writeFaces(task, params.lightness, axis);
      const Index e = unit(axis);
      forEach(task.exec(), "Lowmach::lightness", facesAcross(task, params.lightness, axis),
              [=] TESSERA_KERNEL(Index x) { b(x) = 1.0 / (0.5 * (density(x - e) + density(x))); });
    }
  }
};

struct DensityOfState {
  FlowParams params;
  FlowState state;

  template <class Task>
  void operator()(const Task& task) const {
    const auto density = task.write(state.density);
    const CarriedLabels& first =
        state.carried[kMixture].isThere() ? state.carried[kMixture] : state.carried[kTemperature];
    const auto standIn = task.read(New, first.value);
    const auto f = carriedOrNone(task, New, state.carried[kMixture], standIn);
    const auto T = carriedOrNone(task, New, state.carried[kTemperature], standIn);
    const StateRelation relation = params.relation;
    forEach(task.exec(), "Lowmach::stateDensity", task.interior(),
            [=] TESSERA_KERNEL(Index x) { density(x) = 1.0 / relation.volume(f(x), T(x)); });
  }
};

[[gnu::weak]] TaskBody expansionOfFlow(const FlowParams& params, const FlowStage& stage) {
  return taskBody<Cpu, Gpu>(ExpansionOfFlow{params, stage});
}

[[gnu::weak]] TaskBody lightnessOfFaces(const FlowParams& params, const FlowStage& stage) {
  return taskBody<Cpu, Gpu>(LightnessOfFaces{params, stage});
}

[[gnu::weak]] TaskBody densityOfState(const FlowParams& params, const FlowState& state) {
  return taskBody<Cpu, Gpu>(DensityOfState{params, state});
}

}  // namespace tessera
