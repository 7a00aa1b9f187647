#include "components/average_down_kernels.hpp"

#include <cstdint>

#include "datawarehouse/task_context.hpp"

namespace tessera {

/// The mean of the finer cells over a coarse one, 1, 2 or 4 along each axis. The first is added to the last,
/// and what lies between them to itself, so that the mirror image of the values has the same mean.
template <class Field>
struct MeanOverCell {
  Field fine;
  Extent ratio;
  double part;  ///< of one finer cell

  TESSERA_KERNEL double operator()(Index coarse) const {
    const Index x{coarse.i * ratio.i, coarse.j * ratio.j, coarse.k * ratio.k};
    if (ratio.k == 1) return part * plane(x);
    const double outer = plane(x) + plane(x + (ratio.k - 1) * ez);
    if (ratio.k == 2) return part * outer;
    return part * (outer + (plane(x + ez) + plane(x + 2 * ez)));
  }

 private:
  TESSERA_KERNEL double plane(Index x) const {
    if (ratio.j == 1) return row(x);
    const double outer = row(x) + row(x + (ratio.j - 1) * ey);
    return ratio.j == 2 ? outer : outer + (row(x + ey) + row(x + 2 * ey));
  }
  TESSERA_KERNEL double row(Index x) const {
    if (ratio.i == 1) return fine(x);
    const double outer = fine(x) + fine(x + (ratio.i - 1) * ex);
    return ratio.i == 2 ? outer : outer + (fine(x + ex) + fine(x + 2 * ex));
  }
};

template <class Task, class Fine, class Coarse>
void averageCovered(const Task& task, const Fine& fine, const Coarse& coarse) {
  const Extent ratio = task.refinementRatio();
  const double part = 1.0 / static_cast<double>(ratio.i * ratio.j * ratio.k);
  const MeanOverCell<Fine> mean{fine, ratio, part};
  task.forEachCovered([&](const Box& covered) {
    forEach(task.exec(), "averageDown", covered, [=] TESSERA_KERNEL(Index x) { coarse(x) = mean(x); });
  });
}

struct MeanOfFiner {
  Label<double, Cell> label;

  template <class Task>
  void operator()(const Task& task) const {
    averageCovered(task, task.readFiner(New, label), task.modify(label));
  }
};

struct MeansOfFiner {
  Label<Components<double>, Cell> label;

  template <class Task>
  void operator()(const Task& task) const {
    const auto fine = task.readFiner(New, label);
    const auto coarse = task.modify(label);
    for (std::int32_t c = 0; c < coarse.count(); ++c) averageCovered(task, fine[c], coarse[c]);
  }
};

[[gnu::weak]] TaskBody meanOfFiner(Label<double, Cell> label) {
  return taskBody<Cpu, Gpu>(MeanOfFiner{label});
}

[[gnu::weak]] TaskBody meanOfFiner(Label<Components<double>, Cell> label) {
  return taskBody<Cpu, Gpu>(MeansOfFiner{label});
}

}  // namespace tessera
