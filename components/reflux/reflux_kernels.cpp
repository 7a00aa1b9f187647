#include "components/reflux/reflux_kernels.hpp"

#include <type_traits>

#include "components/reflux/beside_finer.hpp"
#include "components/reflux/finer_mean.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// `steps` of the finer level are in its flux.
template <class Task, class Flux, class Field>
void refluxAlong(const Task& task, int axis, const Flux& coarse, const Flux& fine, std::int64_t steps,
                 const Field& u) {
  const Extent ratio = task.refinementRatio();
  Extent count = ratio;
  count[axis] = 1;
  const double parts = static_cast<double>(count.i * count.j * count.k * steps);
  const FinerMean<Flux> mean{fine, ratio, count, 1.0 / parts};
  const double dtOverH = task.dt() * task.inverseSpacing()[axis];
  const Index e = unit(axis);
  forEachBesideFiner(task, axis, false, [&](const Box& cells) {
    forEach(task.exec(), "reflux::lower", cells,
            [=] TESSERA_KERNEL(Index x) { u(x) += dtOverH * (mean(x) - coarse(x)); });
  });
  forEachBesideFiner(task, axis, true, [&](const Box& cells) {
    forEach(task.exec(), "reflux::upper", cells,
            [=] TESSERA_KERNEL(Index x) { u(x) -= dtOverH * (mean(x + e) - coarse(x + e)); });
  });
}

template <class T>
struct FluxesOfFiner {
  Label<T, Cell> variable;
  PassedLabels<T> passed;

  template <class Task>
  void operator()(const Task& task) const {
    const bool sums = passed.sums.has_value();
    along(task, 0, passed.x, sums ? passed.sums->x : passed.x);
    along(task, 1, passed.y, sums ? passed.sums->y : passed.y);
    along(task, 2, passed.z, sums ? passed.sums->z : passed.z);
  }

  template <class Task, class FluxLabel>
  void along(const Task& task, int axis, FluxLabel label, FluxLabel ofFiner) const {
    if (!passed.active[static_cast<std::size_t>(axis)]) return;
    const std::int64_t steps = passed.sums ? largestOf(task.refinementRatio()) : 1;
    const auto coarse = task.read(New, label);
    const auto fine = task.readFiner(New, ofFiner);
    const auto u = task.modify(variable);
    if constexpr (std::is_same_v<T, double>) {
      refluxAlong(task, axis, coarse, fine, steps, u);
    } else {
      for (std::int32_t c = 0; c < u.count(); ++c) refluxAlong(task, axis, coarse[c], fine[c], steps, u[c]);
    }
  }
};

template <class T>
struct NoFluxes {
  PassedLabels<T> passed;

  template <class Task>
  void operator()(const Task& task) const {
    forEachActive(passed, *passed.sums, [&](int, auto label) { clear(task, label); });
  }

  template <class Task, class FluxLabel>
  void clear(const Task& task, FluxLabel label) const {
    const auto sum = task.write(label);
    if constexpr (std::is_same_v<T, double>) {
      clearOne(task, task.interior(label), sum);
    } else {
      for (std::int32_t c = 0; c < sum.count(); ++c) clearOne(task, task.interior(label), sum[c]);
    }
  }

  template <class Task, class Field>
  void clearOne(const Task& task, const Box& faces, const Field& sum) const {
    forEach(task.exec(), "reflux::begin", faces, [=] TESSERA_KERNEL(Index x) { sum(x) = 0.0; });
  }
};

template <class T>
struct SumOfFluxes {
  PassedLabels<T> passed;

  template <class Task>
  void operator()(const Task& task) const {
    if (passed.active[0]) add(task, 0, passed.x, passed.sums->x);
    if (passed.active[1]) add(task, 1, passed.y, passed.sums->y);
    if (passed.active[2]) add(task, 2, passed.z, passed.sums->z);
  }

  /// Refined regions end at borders of patches.
  template <class Task, class FluxLabel>
  void add(const Task& task, int axis, FluxLabel label, FluxLabel sumLabel) const {
    const auto flux = task.read(New, label);
    const auto sum = task.modify(sumLabel);
    Box lower = task.interior(label);
    Box upper = lower;
    lower.hi[axis] = lower.lo[axis] + 1;
    upper.lo[axis] = upper.hi[axis] - 1;
    if constexpr (std::is_same_v<T, double>) {
      addOne(task, lower, flux, sum);
      addOne(task, upper, flux, sum);
    } else {
      for (std::int32_t c = 0; c < sum.count(); ++c) {
        addOne(task, lower, flux[c], sum[c]);
        addOne(task, upper, flux[c], sum[c]);
      }
    }
  }

  template <class Task, class Flux, class Field>
  void addOne(const Task& task, const Box& faces, const Flux& flux, const Field& sum) const {
    forEach(task.exec(), "reflux::sum", faces, [=] TESSERA_KERNEL(Index x) { sum(x) += flux(x); });
  }
};

[[gnu::weak]] TaskBody noFluxes(const PassedLabels<double>& passed) {
  return taskBody<Cpu, Gpu>(NoFluxes<double>{passed});
}

[[gnu::weak]] TaskBody noFluxes(const PassedLabels<Components<double>>& passed) {
  return taskBody<Cpu, Gpu>(NoFluxes<Components<double>>{passed});
}

[[gnu::weak]] TaskBody sumOfFluxes(const PassedLabels<double>& passed) {
  return taskBody<Cpu, Gpu>(SumOfFluxes<double>{passed});
}

[[gnu::weak]] TaskBody sumOfFluxes(const PassedLabels<Components<double>>& passed) {
  return taskBody<Cpu, Gpu>(SumOfFluxes<Components<double>>{passed});
}

[[gnu::weak]] TaskBody fluxesOfFiner(Label<double, Cell> variable, const PassedLabels<double>& passed) {
  return taskBody<Cpu, Gpu>(FluxesOfFiner<double>{variable, passed});
}

[[gnu::weak]] TaskBody fluxesOfFiner(Label<Components<double>, Cell> variable,
                                     const PassedLabels<Components<double>>& passed) {
  return taskBody<Cpu, Gpu>(FluxesOfFiner<Components<double>>{variable, passed});
}

}  // namespace tessera
