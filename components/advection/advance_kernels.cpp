#include "components/advection/advection_kernels.hpp"
#include "components/advection/euler_step.hpp"

namespace tessera {

/// target = Euler(Old).
template <class Task, class Euler, class Velocity>
void firstStage(const Task& task, Label<double, Cell> from, Label<double, Cell> to, Euler euler, Velocity u) {
  const auto q = task.read(Old, from);
  const auto result = task.write(to);
  const Box inner = euler.inner(task.interior());
  forEach(task.exec(), "Advection::advance", inner,
          [=] TESSERA_KERNEL(Index x) { result(x) = euler(q, u, x); });
  forEachOutside(task.interior(), inner, [&](const Box& cells) {
    forEach(task.exec(), "Advection::advanceAtInflow", cells,
            [=] TESSERA_KERNEL(Index x) { result(x) = euler.atInflow(q, u, x); });
  });
}

/// The largest sum over the axes of u/h, of what leaves or of what enters a cell. Where the velocity is the
/// same everywhere one cell will do.
template <class Task, class Velocity>
typename Task::ReducedReal largestRate(const Task& task, Velocity u) {
  const Real3 inverseSpacing = task.inverseSpacing();
  const Index first = task.interior().lo;
  const Box cells = Velocity::kIsUniform ? Box{first, first + ex + ey + ez} : task.interior();
  return reduce(task.exec(), "Advection::stableDt", cells, Max, [=] TESSERA_KERNEL(Index x) {
    double out = 0.0;
    double in = 0.0;
    for (int axis = 0; axis < kAxes; ++axis) {
      const double low = u(axis, x) * inverseSpacing[axis];
      const double high = u(axis, x + unit(axis)) * inverseSpacing[axis];
      out += (high > 0.0 ? high : 0.0) - (low < 0.0 ? low : 0.0);
      in += (low > 0.0 ? low : 0.0) - (high < 0.0 ? high : 0.0);
    }
    return out > in ? out : in;
  });
}

struct AdvanceAdvection {
  AdvectionLabels labels;
  AdvectionParams params;
  Label<double, Cell> target;

  template <class Task>
  void operator()(const Task& task) const {
    if (params.limiter == Limiter::Flat) return advance<FlatSlope>(task);
    withLimiter(params.limiter, [&](auto slope) { advance<decltype(slope)>(task); });
  }

 private:
  template <class Slope, class Task>
  void advance(const Task& task) const {
    const auto euler = eulerStep<Slope>(task, params);
    withVelocity(task, labels, params, Old,
                 [&](auto u) { firstStage(task, labels.concentration, target, euler, u); });
  }
};

struct StableAdvectionDt {
  AdvectionLabels labels;
  AdvectionParams params;
  ReductionLabel stableDt;
  Generation velocity = Old;

  template <class Task>
  void operator()(const Task& task) const {
    withVelocity(task, labels, params, velocity,
                 [&](auto u) { task.contribute(stableDt, 1.0 / largestRate(task, u)); });
  }
};

[[gnu::weak]] TaskBody advanceAdvection(const AdvectionLabels& labels, const AdvectionParams& params,
                                        Label<double, Cell> target) {
  return taskBody<Cpu, Gpu>(AdvanceAdvection{labels, params, target});
}

[[gnu::weak]] TaskBody stableAdvectionDt(const AdvectionLabels& labels, const AdvectionParams& params,
                                         ReductionLabel stableDt, Generation velocity) {
  return taskBody<Cpu, Gpu>(StableAdvectionDt{labels, params, stableDt, velocity});
}

}  // namespace tessera
