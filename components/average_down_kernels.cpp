#include "components/average_down_kernels.hpp"

#include <cstdint>
#include <type_traits>

#include "components/reflux/beside_finer.hpp"
#include "components/reflux/finer_mean.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

template <class Task, class Fine, class Coarse>
void averageCovered(const Task& task, const Fine& fine, const Coarse& coarse) {
  const Extent ratio = task.refinementRatio();
  const double part = 1.0 / static_cast<double>(ratio.i * ratio.j * ratio.k);
  const FinerMean<Fine> mean{fine, ratio, ratio, part};
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

template <Centering C>
struct MeanOfFinerFaces {
  Label<double, C> label;

  template <class Task>
  void operator()(const Task& task) const {
    constexpr int kAxis = C == FaceX ? 0 : C == FaceY ? 1 : 2;
    const auto fine = task.readFiner(New, label);
    const auto coarse = task.modify(label);
    const Extent ratio = task.refinementRatio();
    Extent count = ratio;
    count[kAxis] = 1;
    const double part = 1.0 / static_cast<double>(count.i * count.j * count.k);
    const FinerMean<std::remove_cvref_t<decltype(fine)>> mean{fine, ratio, count, part};
    forEachCoveredFace<C>(task, task.interior(label), [&](const Box& covered) {
      forEach(task.exec(), "averageDownFaces", covered, [=] TESSERA_KERNEL(Index x) { coarse(x) = mean(x); });
    });
  }
};

[[gnu::weak]] TaskBody meanOfFiner(Label<double, FaceX> label) {
  return taskBody<Cpu, Gpu>(MeanOfFinerFaces<FaceX>{label});
}

[[gnu::weak]] TaskBody meanOfFiner(Label<double, FaceY> label) {
  return taskBody<Cpu, Gpu>(MeanOfFinerFaces<FaceY>{label});
}

[[gnu::weak]] TaskBody meanOfFiner(Label<double, FaceZ> label) {
  return taskBody<Cpu, Gpu>(MeanOfFinerFaces<FaceZ>{label});
}

[[gnu::weak]] TaskBody meanOfFiner(Label<double, Cell> label) {
  return taskBody<Cpu, Gpu>(MeanOfFiner{label});
}

[[gnu::weak]] TaskBody meanOfFiner(Label<Components<double>, Cell> label) {
  return taskBody<Cpu, Gpu>(MeansOfFiner{label});
}

}  // namespace tessera
