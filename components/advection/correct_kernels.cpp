#include "components/advection/advection_kernels.hpp"
#include "components/advection/euler_step.hpp"

namespace tessera {

/// New = (Old + Euler(stage)) / 2.
template <class Task, class Euler, class Velocity>
void secondStage(const Task& task, const AdvectionLabels& labels, Euler euler, Velocity u) {
  const auto q = task.read(Old, labels.concentration);
  const auto stage = task.read(New, labels.stage);
  const auto next = task.write(labels.concentration);
  const Box inner = euler.inner(task.interior());
  forEach(task.exec(), "Advection::correct", inner,
          [=] TESSERA_KERNEL(Index x) { next(x) = 0.5 * (q(x) + euler(stage, u, x)); });
  forEachOutside(task.interior(), inner, [&](const Box& cells) {
    forEach(task.exec(), "Advection::correctAtInflow", cells,
            [=] TESSERA_KERNEL(Index x) { next(x) = 0.5 * (q(x) + euler.atInflow(stage, u, x)); });
  });
}

struct CorrectAdvection {
  AdvectionLabels labels;
  AdvectionParams params;
  Generation velocity = Old;

  template <class Task>
  void operator()(const Task& task) const {
    withLimiter(params.limiter, [&](auto slope) {
      const auto euler = eulerStep<decltype(slope)>(task, params);
      withVelocity(task, labels, params, velocity, [&](auto u) { secondStage(task, labels, euler, u); });
    });
  }
};

[[gnu::weak]] TaskBody correctAdvection(const AdvectionLabels& labels, const AdvectionParams& params,
                                        Generation velocity) {
  return taskBody<Cpu, Gpu>(CorrectAdvection{labels, params, velocity});
}

}  // namespace tessera
