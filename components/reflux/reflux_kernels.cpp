#include "components/reflux/reflux_kernels.hpp"

#include <type_traits>

#include "components/reflux/finer_mean.hpp"
#include "datawarehouse/task_context.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera {

/// The coarse cells whose first finer cell lies in a finer patch: each covered cell is that of one patch,
/// also where patches meet inside of a coarse cell.
inline Box firstCornersIn(const Box& fine, Extent ratio) {
  const Index last = ratio - Index{1, 1, 1};
  return {coarsen(fine.lo + last, ratio), coarsen(fine.hi + last, ratio)};
}

/// Calls `visit(Box)` with uncovered cells of the patch that have a covered one as the next along `axis`, on
/// the upper side or on the lower one; disjoint. The covered cells may lie in other patches, and across a
/// period.
template <class Task, class Visit>
void forEachBesideFiner(const Task& task, int axis, bool upper, Visit&& visit) {
  const Level& level = task.level();
  const Level& finer = task.hierarchy().level(level.number() + 1);
  const Extent ratio = task.refinementRatio();
  const Index e = unit(axis);
  const Index towards = upper ? e : Index{} - e;
  task.forEachUncovered([&](const Box& cells) {
    const Box beyond = shift(cells, towards);
    forEachImage(imagesOf(level, beyond), [&](Index period) {
      const Index by = shiftOf(level, period);
      const Box there = shift(beyond, Index{} - by);
      finer.forEachOverlapping(refine(there, ratio), [&](const Patch& fine) {
        const Box covered = intersect(there, firstCornersIn(fine.cells, ratio));
        if (!covered.empty()) visit(shift(covered, by - towards));
      });
    });
  });
}

template <class Task, class Flux, class Field>
void refluxAlong(const Task& task, int axis, const Flux& coarse, const Flux& fine, const Field& u) {
  const Extent ratio = task.refinementRatio();
  Extent count = ratio;
  count[axis] = 1;
  const FinerMean<Flux> mean{fine, ratio, count, 1.0 / static_cast<double>(count.i * count.j * count.k)};
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
    along(task, 0, passed.x);
    along(task, 1, passed.y);
    along(task, 2, passed.z);
  }

 private:
  template <class Task, class FluxLabel>
  void along(const Task& task, int axis, FluxLabel label) const {
    if (!passed.active[static_cast<std::size_t>(axis)]) return;
    const auto coarse = task.read(New, label);
    const auto fine = task.readFiner(New, label);
    const auto u = task.modify(variable);
    if constexpr (std::is_same_v<T, double>) {
      refluxAlong(task, axis, coarse, fine, u);
    } else {
      for (std::int32_t c = 0; c < u.count(); ++c) refluxAlong(task, axis, coarse[c], fine[c], u[c]);
    }
  }
};

[[gnu::weak]] TaskBody fluxesOfFiner(Label<double, Cell> variable, const PassedLabels<double>& passed) {
  return taskBody<Cpu, Gpu>(FluxesOfFiner<double>{variable, passed});
}

[[gnu::weak]] TaskBody fluxesOfFiner(Label<Components<double>, Cell> variable,
                                     const PassedLabels<Components<double>>& passed) {
  return taskBody<Cpu, Gpu>(FluxesOfFiner<Components<double>>{variable, passed});
}

}  // namespace tessera
