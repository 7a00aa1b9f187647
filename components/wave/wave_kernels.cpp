#include "components/wave/wave_kernels.hpp"

#include <cmath>

#include "components/component_totals.hpp"
#include "components/stencils/laplacian.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

struct DriftWave {
  WaveLabels labels;
  double speed = 1.0;  ///< c

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = task.read(Old, labels.displacement);
    const auto v = task.read(Old, labels.velocity);
    const auto next = task.write(labels.displacement);
    const double dt = task.dt();
    const double halfKick = 0.5 * dt * (speed * speed);
    const Real3 w = task.inverseSquaredSpacing();
    forEach(task.exec(), "Wave::drift", task.interior(),
            [=] TESSERA_KERNEL(Index x) { next(x) = u(x) + dt * (v(x) + halfKick * laplacian(u, x, w)); });
  }
};

struct KickWave {
  WaveLabels labels;
  double speed = 1.0;

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = task.read(Old, labels.displacement);
    const auto later = task.read(New, labels.displacement);
    const auto v = task.read(Old, labels.velocity);
    const auto next = task.write(labels.velocity);
    const double halfKick = 0.5 * task.dt() * (speed * speed);
    const Real3 w = task.inverseSquaredSpacing();
    forEach(task.exec(), "Wave::kick", task.interior(), [=] TESSERA_KERNEL(Index x) {
      next(x) = v(x) + halfKick * (laplacian(u, x, w) + laplacian(later, x, w));
    });
  }
};

struct MomentumOfWave {
  Label<double, Cell> velocity;
  ReductionLabel momentum;

  template <class Task>
  void operator()(const Task& task) const {
    task.contribute(momentum, integralOf(task, "Wave::momentum", task.read(Old, velocity)));
  }
};

/// A number of the mesh: no loop.
struct StableWaveDt {
  ReductionLabel stableDt;
  double speed = 1.0;

  template <class Task>
  void operator()(const Task& task) const {
    task.contribute(stableDt, 1.0 / (speed * std::sqrt(sumOf(task.inverseSquaredSpacing()))));
  }
};

[[gnu::weak]] TaskBody driftWave(const WaveLabels& labels, double speed) {
  return taskBody<Cpu, Gpu>(DriftWave{labels, speed});
}

[[gnu::weak]] TaskBody kickWave(const WaveLabels& labels, double speed) {
  return taskBody<Cpu, Gpu>(KickWave{labels, speed});
}

[[gnu::weak]] TaskBody momentumOfWave(Label<double, Cell> velocity, ReductionLabel momentum) {
  return taskBody<Cpu, Gpu>(MomentumOfWave{velocity, momentum});
}

[[gnu::weak]] TaskBody stableWaveDt(ReductionLabel stableDt, double speed) {
  return taskBody<Cpu, Gpu>(StableWaveDt{stableDt, speed});
}

}  // namespace tessera
