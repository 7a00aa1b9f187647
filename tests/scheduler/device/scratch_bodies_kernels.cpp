#include "tests/scheduler/device/scratch_bodies_kernels.hpp"

#include "datawarehouse/task_context.hpp"

namespace tessera::test {

template <class Field>
TESSERA_KERNEL double fluxBetween(const Field& u, Index left, Index right) {
  return 0.3 * u(left) * u(left) - 0.7 * u(right);
}

struct DivergeByScratch {
  ScratchLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = task.read(Old, labels.u);
    const auto next = task.write(labels.u);
    Box facesX = task.interior();
    ++facesX.hi.i;
    Box facesY = task.interior();
    ++facesY.hi.j;
    for (std::int32_t c = 0; c < 2; ++c) {
      const auto one = u[c];
      const auto out = task.scratch(labels.fluxX)[c];
      forEach(task.exec(), "fluxX", facesX,
              [=] TESSERA_KERNEL(Index x) { out(x) = fluxBetween(one, x - ex, x); });
    }
    const auto allX = task.readScratch(labels.fluxX);
    for (std::int32_t c = 0; c < 2; ++c) {
      const auto one = u[c];
      const auto result = next[c];
      const auto fx = allX[c];
      const auto outY = task.scratch(labels.fluxY);
      const auto fy = task.readScratch(labels.fluxY);
      forEach(task.exec(), "fluxY", facesY,
              [=] TESSERA_KERNEL(Index x) { outY(x) = fluxBetween(one, x - ey, x); });
      forEach(task.exec(), "diverge", task.interior(),
              [=] TESSERA_KERNEL(Index x) { result(x) = (fx(x + ex) - fx(x)) + (fy(x + ey) - fy(x)); });
    }
  }
};

struct DivergeTwice {
  ScratchLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = task.read(Old, labels.u);
    const auto next = task.write(labels.u);
    for (std::int32_t c = 0; c < 2; ++c) {
      const auto one = u[c];
      const auto result = next[c];
      forEach(task.exec(), "diverge", task.interior(), [=] TESSERA_KERNEL(Index x) {
        result(x) = (fluxBetween(one, x, x + ex) - fluxBetween(one, x - ex, x)) +
                    (fluxBetween(one, x, x + ey) - fluxBetween(one, x - ey, x));
      });
    }
  }
};

struct ReadsUnwritten {
  ScratchLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const auto next = task.write(labels.u);
    const auto out = task.scratch(labels.fluxY);
    const auto flux = task.readScratch(labels.fluxY);
    forEach(task.exec(), "flux", task.interior(), [=] TESSERA_KERNEL(Index x) { out(x) = 1.0; });
    for (std::int32_t c = 0; c < 2; ++c) {
      const auto result = next[c];
      forEach(task.exec(), "use", task.interior(), [=] TESSERA_KERNEL(Index x) { result(x) = flux(x + ey); });
    }
  }
};

[[gnu::weak]] TaskBody divergeByScratch(const ScratchLabels& labels) {
  return taskBody<Cpu, Gpu>(DivergeByScratch{labels});
}
[[gnu::weak]] TaskBody divergeTwice(const ScratchLabels& labels) {
  return taskBody<Cpu, Gpu>(DivergeTwice{labels});
}
[[gnu::weak]] TaskBody readsUnwritten(const ScratchLabels& labels) {
  return taskBody<Cpu, Gpu>(ReadsUnwritten{labels});
}

}  // namespace tessera::test
