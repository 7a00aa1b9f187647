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
    forEach(task.exec(), "Lowmach::rightHandSide", task.interior(),
            [=] TESSERA_KERNEL(Index x) { f(x) = perTime * (0.0 - divergence(x)); });
  }
};

struct ProjectVelocity {
  FlowParams params;
  FlowStage stage;
  Label<double, Cell> pressure;

  template <class Task>
  void operator()(const Task& task) const {
    const auto p = task.read(New, pressure);
    const double time = stage.ofStage * task.dt() / params.density;
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) continue;
      const auto u = modifyFaces(task, stage.to.velocity, axis);
      const Index e = unit(axis);
      const double factor = time * task.inverseSpacing()[axis];
      forEach(task.exec(), "Lowmach::project", facesAcross(task, stage.to.velocity, axis),
              [=] TESSERA_KERNEL(Index x) { u(x) = u(x) - factor * (p(x) - p(x - e)); });
    }
  }
};

[[gnu::weak]] TaskBody divergenceToRemove(const FlowParams& params, const FlowStage& stage,
                                          Label<double, Cell> rightHandSide) {
  return taskBody<Cpu, Gpu>(DivergenceToRemove{params, stage, rightHandSide});
}

[[gnu::weak]] TaskBody projectVelocity(const FlowParams& params, const FlowStage& stage,
                                       Label<double, Cell> pressure) {
  return taskBody<Cpu, Gpu>(ProjectVelocity{params, stage, pressure});
}

}  // namespace tessera
