#include "tests/wide_halo/wide_bodies_kernels.hpp"

#include "datawarehouse/task_context.hpp"

namespace tessera::bench {

template <class Task>
void WideInitial::operator()(const Task& task) const {
  const auto out = task.write(u);
  forEach(task.exec(), "Wide::initial", task.interior(), [=] TESSERA_KERNEL(Index x) {
    out(x) = static_cast<double>((7 * x.i + 13 * x.j + 29 * x.k) % 64) / 64.0;
  });
}

template <class Task>
void WideKeep::operator()(const Task& task) const {
  const auto old = task.read(Old, u);
  const auto out = task.write(u);
  forEach(task.exec(), "Wide::keep", task.interior(), [=] TESSERA_KERNEL(Index x) { out(x) = old(x); });
}

template <class Task>
void WideMean::operator()(const Task& task) const {
  const auto old = task.read(Old, from);
  const auto out = task.write(to);
  const std::int64_t h = halo;
  forEach(task.exec(), "Wide::mean", task.interior(), [=] TESSERA_KERNEL(Index x) {
    const double mean = ((old(x - Index{h, 0, 0}) + old(x + Index{h, 0, 0})) +
                         (old(x - Index{0, h, 0}) + old(x + Index{0, h, 0})) +
                         (old(x - Index{0, 0, h}) + old(x + Index{0, 0, h}))) /
                        6.0;
    out(x) = 0.75 * mean + 0.25 * old(x + Index{h, h, h});
  });
}

template <class Task>
void WideTurn::operator()(const Task& task) const {
  const auto old = task.readLevel(Old, from);
  const auto out = task.write(to);
  const std::int64_t n = cells;
  const std::int64_t first = low;
  forEach(task.exec(), "Wide::turn", task.interior(), [=] TESSERA_KERNEL(Index x) {
    out(x) = old(Index{n - 1 - x.i, first + x.j % (n / 2), x.k});
  });
}

[[gnu::weak]] TaskBody bodyOf(const WideInitial& body) { return taskBody<Cpu, Gpu>(body); }
[[gnu::weak]] TaskBody bodyOf(const WideKeep& body) { return taskBody<Cpu, Gpu>(body); }
[[gnu::weak]] TaskBody bodyOf(const WideMean& body) { return taskBody<Cpu, Gpu>(body); }
[[gnu::weak]] TaskBody bodyOf(const WideTurn& body) { return taskBody<Cpu, Gpu>(body); }

}  // namespace tessera::bench
