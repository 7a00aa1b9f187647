#include "components/wave/wave_kernels.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

struct DriftFluxOfWave {
  Label<double, Cell> displacement;
  double speed = 1.0;
  PassedLabels<double> passed;

  template <class Task>
  void operator()(const Task& task) const {
    forEachActive(passed, passed, [&](int axis, auto label) { along(task, axis, label); });
  }

  template <class Task, class FluxLabel>
  void along(const Task& task, int axis, FluxLabel label) const {
    const auto u = task.read(Old, displacement);
    const auto flux = task.write(label);
    const double perLength = 0.5 * task.dt() * (speed * speed) * task.inverseSpacing()[axis];
    const Index e = unit(axis);
    forEach(task.exec(), "Wave::driftFlux", task.interior(label),
            [=] TESSERA_KERNEL(Index x) { flux(x) = perLength * (u(x - e) - u(x)); });
  }
};

struct KickFluxOfWave {
  Label<double, Cell> displacement;
  double speed = 1.0;
  PassedLabels<double> passed;

  template <class Task>
  void operator()(const Task& task) const {
    forEachActive(passed, passed, [&](int axis, auto label) { along(task, axis, label); });
  }

  template <class Task, class FluxLabel>
  void along(const Task& task, int axis, FluxLabel label) const {
    const auto u = task.read(Old, displacement);
    const auto later = task.read(New, displacement);
    const auto flux = task.write(label);
    const double perLength = 0.5 * (speed * speed) * task.inverseSpacing()[axis];
    const Index e = unit(axis);
    forEach(task.exec(), "Wave::kickFlux", task.interior(label), [=] TESSERA_KERNEL(Index x) {
      flux(x) = perLength * ((u(x - e) - u(x)) + (later(x - e) - later(x)));
    });
  }
};

[[gnu::weak]] TaskBody driftFluxOfWave(Label<double, Cell> displacement, double speed,
                                       const PassedLabels<double>& passed) {
  return taskBody<Cpu, Gpu>(DriftFluxOfWave{displacement, speed, passed});
}

[[gnu::weak]] TaskBody kickFluxOfWave(Label<double, Cell> displacement, double speed,
                                      const PassedLabels<double>& passed) {
  return taskBody<Cpu, Gpu>(KickFluxOfWave{displacement, speed, passed});
}

}  // namespace tessera
