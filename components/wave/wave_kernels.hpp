#pragma once

#include <cmath>

#include "components/laplacian.hpp"
#include "datawarehouse/task_context.hpp"
#include "taskgraph/device_body.hpp"

namespace tessera {

/// The variables of the wave equation, both at the end of the step.
struct WaveLabels {
  Label<double, Cell> displacement;  ///< u
  Label<double, Cell> velocity;      ///< u_t
};

/// The first half of a step, u' = u + dt (v + dt/2 c^2 lap u): a kick and a drift. Needs halo(1) of u.
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
    forEach(task.exec(labels.displacement), "Wave::drift", task.interior(),
            [=] TESSERA_KERNEL(Index x) { next(x) = u(x) + dt * (v(x) + halfKick * laplacian(u, x, w)); });
  }
};

/// The second half, v' = v + dt/2 c^2 (lap u + lap u'): what is left of the first kick, and the second one.
/// Needs halo(1) of both u and u'.
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
    forEach(task.exec(labels.velocity), "Wave::kick", task.interior(), [=] TESSERA_KERNEL(Index x) {
      next(x) = v(x) + halfKick * (laplacian(u, x, w) + laplacian(later, x, w));
    });
  }
};

/// The largest stable step, 1 / (c sqrt(sum 1/h^2)); on a line h / c. A number of the mesh: no loop.
struct StableWaveDt {
  ReductionLabel stableDt;
  double speed = 1.0;

  template <class Task>
  void operator()(const Task& task) const {
    task.contribute(stableDt, 1.0 / (speed * std::sqrt(sumOf(task.inverseSquaredSpacing()))));
  }
};

extern template struct DeviceBody<DriftWave>;
extern template struct DeviceBody<KickWave>;
extern template struct DeviceBody<StableWaveDt>;

}  // namespace tessera
