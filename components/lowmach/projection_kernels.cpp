#include "components/lowmach/divergence.hpp"
#include "components/lowmach/lowmach_kernels.hpp"

namespace tessera {

struct DivergenceToRemove {
  FlowParams params;
  FlowStage stage;
  Label<double, Cell> rightHandSide;

  template <class Task>
  void operator()(const Task& task) const {
    const auto divergence = divergenceOf(task, params, New, stage.to.velocity);
    const auto f = task.write(rightHandSide);
    const double perTime = 1.0 / (stage.ofStage * task.dt());
    if (params.densityVaries) {
      const auto expansion = task.read(New, params.expansion);
      forEach(task.exec(), "Lowmach::rightHandSide", task.interior(),
              [=] TESSERA_KERNEL(Index x) { f(x) = perTime * (expansion(x) - divergence(x)); });
      if (!params.isClosed) return;
      if (params.solids.areThere) {
        const auto fluid = task.read(Old, params.solids.fluid);
        task.contribute(params.solids.cells, reduce(task.exec(), "Lowmach::fluidCells", task.interior(), Sum,
                                                    [=] TESSERA_KERNEL(Index x) { return fluid(x); }));
      }
      task.contribute(params.excess,
                      reduce(task.exec(), "Lowmach::excess", task.interior(), Sum,
                             [=] TESSERA_KERNEL(Index x) { return expansion(x) - divergence(x); }));
    } else {
      forEach(task.exec(), "Lowmach::divergence", task.interior(),
              [=] TESSERA_KERNEL(Index x) { f(x) = perTime * (0.0 - divergence(x)); });
    }
  }
};

struct KeepVolume {
  FlowParams params;
  FlowStage stage;
  Label<double, Cell> rightHandSide;

  template <class Task>
  void operator()(const Task& task) const {
    const auto f = task.modify(rightHandSide);
    const auto expansion = task.modify(params.expansion);
    const double perTime = 1.0 / (stage.ofStage * task.dt());
    if (params.solids.areThere) {
      const auto fluid = task.read(Old, params.solids.fluid);
      const double mean = task.reduced(params.excess) / task.reduced(params.solids.cells);
      forEach(task.exec(), "Lowmach::keepVolumeOfFluid", task.interior(), [=] TESSERA_KERNEL(Index x) {
        f(x) = f(x) - perTime * mean * fluid(x);
        expansion(x) = expansion(x) - mean * fluid(x);
      });
      return;
    }
    const double mean = task.reduced(params.excess) / static_cast<double>(task.level().domain().volume());
    forEach(task.exec(), "Lowmach::keepVolume", task.interior(), [=] TESSERA_KERNEL(Index x) {
      f(x) = f(x) - perTime * mean;
      expansion(x) = expansion(x) - mean;
    });
  }
};

struct ProjectVelocity {
  FlowParams params;
  FlowStage stage;
  Label<double, Cell> pressure;

  template <class Task>
  void operator()(const Task& task) const {
    const auto p = task.read(New, pressure);
    const double time = stage.ofStage * task.dt() / (params.hasLightness() ? 1.0 : params.density);
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      const auto u = modifyFaces(task, stage.to.velocity, axis);
      const Index e = unit(axis);
      const double factor = time * task.inverseSpacing()[axis];
      const Box faces = facesAcross(task, stage.to.velocity, axis);
      if (params.hasLightness()) {
        const auto b = readFaces(task, New, params.lightness, axis);
        forEach(task.exec(), "Lowmach::project", faces,
                [=] TESSERA_KERNEL(Index x) { u(x) = u(x) - factor * b(x) * (p(x) - p(x - e)); });
      } else {
        forEach(task.exec(), "Lowmach::projectUniform", faces,
                [=] TESSERA_KERNEL(Index x) { u(x) = u(x) - factor * (p(x) - p(x - e)); });
      }
    }
  }
};

[[gnu::weak]] TaskBody divergenceToRemove(const FlowParams& params, const FlowStage& stage,
                                          Label<double, Cell> rightHandSide) {
  return taskBody<Cpu, Gpu>(DivergenceToRemove{params, stage, rightHandSide});
}

[[gnu::weak]] TaskBody keepVolume(const FlowParams& params, const FlowStage& stage,
                                  Label<double, Cell> rightHandSide) {
  return taskBody<Cpu, Gpu>(KeepVolume{params, stage, rightHandSide});
}

[[gnu::weak]] TaskBody projectVelocity(const FlowParams& params, const FlowStage& stage,
                                       Label<double, Cell> pressure) {
  return taskBody<Cpu, Gpu>(ProjectVelocity{params, stage, pressure});
}

}  // namespace tessera
