#include "tests/scheduler/device/loop_bodies_kernels.hpp"

#include "datawarehouse/task_context.hpp"

namespace tessera::test {

template <class Task>
void SmoothTwice::operator()(const Task& task) const {
  const auto u = task.read(Old, from);
  const auto half = task.write(between);
  const auto result = task.write(to);
  const Box box = task.interior();
  forEach(task.exec(), "Test::first", box, [=] TESSERA_KERNEL(Index x) { half(x) = 3.0 * u(x) + 1.0; });
  forEachHeavy(task.exec(), "Test::second", box, [=] TESSERA_KERNEL(Index x) {
    const Index mirrored = box.lo + (box.hi - x) - Index{1, 1, 1};
    result(x) = half(x) - 0.25 * half(mirrored);
  });
}

template <class Task>
void Branches::operator()(const Task& task) const {
  const auto u = task.read(Old, from);
  const auto result = task.write(to);
  const Box box = task.interior();
  const auto id = task.patch().id;
  if (id == 1) return;
  if (id % 2 == 0) {
    forEach(task.exec(), "Test::even", box, [=] TESSERA_KERNEL(Index x) { result(x) = 2.0 * u(x); });
  } else {
    forEach(task.exec(), "Test::odd", box, [=] TESSERA_KERNEL(Index x) { result(x) = u(x) - 5.0; });
  }
  if (id % 3 != 0) return;
  const double factor = static_cast<double>(id);
  const Box lower{box.lo, {box.hi.i, box.lo.j + 1, box.hi.k}};
  forEach(task.exec(), "Test::more", lower, [=] TESSERA_KERNEL(Index x) { result(x) += factor * u(x); });
}

template <class Task>
void Reductions::operator()(const Task& task) const {
  const auto u = task.read(Old, from);
  const auto result = task.write(to);
  const Box box = task.interior();
  const Box nothing{box.lo, box.lo};
  const auto exec = task.exec();
  const auto value = [=] TESSERA_KERNEL(Index x) { return result(x); };
  forEach(exec, "Test::copy", box, [=] TESSERA_KERNEL(Index x) { result(x) = u(x); });
  task.contribute(ReductionLabel{0}, reduce(exec, "Test::min", box, Min, value));
  task.contribute(ReductionLabel{1}, reduce(exec, "Test::max", box, Max, value));
  task.contribute(ReductionLabel{2}, reduce(exec, "Test::sum", box, Sum, value));
  task.contribute(ReductionLabel{3}, reduce(exec, "Test::noMin", nothing, Min, value));
  task.contribute(ReductionLabel{4}, reduce(exec, "Test::noMax", nothing, Max, value));
  task.contribute(ReductionLabel{5}, reduce(exec, "Test::noSum", nothing, Sum, value));
}

[[gnu::weak]] TaskBody bodyOf(const SmoothTwice& body) { return taskBody<Cpu, Gpu>(body); }
[[gnu::weak]] TaskBody bodyOf(const Branches& body) { return taskBody<Cpu, Gpu>(body); }
[[gnu::weak]] TaskBody bodyOf(const Reductions& body) { return taskBody<Cpu, Gpu>(body); }

}  // namespace tessera::test
