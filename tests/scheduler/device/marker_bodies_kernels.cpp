#include "tests/scheduler/device/marker_bodies_kernels.hpp"

#include "datawarehouse/task_context.hpp"

namespace tessera::test {

TESSERA_KERNEL inline bool areEqual(Index a, Index b) { return a.i == b.i && a.j == b.j && a.k == b.k; }

template <class Task>
void Marker::operator()(const Task& task) const {
  const auto in = task.read(Old, from);
  const auto out = task.write(to);
  const bool now = onlyInStep < 0 || task.step() == onlyInStep;
  const Index away = now ? reads : Index{0, 0, 0};
  const Index aside = now ? writes : Index{0, 0, 0};
  const Index there = now ? at : Index{-99, 0, 0};
  const bool omits = skips;
  const double other = number;
  forEach(task.exec(), "Test::marker", task.interior(), [=] TESSERA_KERNEL(Index x) {
    const bool special = areEqual(x, there);
    if (special && omits) return;
    out(x + aside) = special ? other : in(x + away);
  });
}

template <class Task>
void ReadsUnset::operator()(const Task& task) const {
  const auto out = task.write(to);
  forEach(task.exec(), "Test::unset", task.interior(), [=] TESSERA_KERNEL(Index x) {
    const double before = out(x);
    out(x) = before + 1.0;
  });
}

template <class Task>
void MarksVector::operator()(const Task& task) const {
  const auto out = task.write(to);
  const Index there = at;
  const float second = number;
  forEach(task.exec(), "Test::vector", task.interior(to), [=] TESSERA_KERNEL(Index x) {
    out(x) = {{1.0F, areEqual(x, there) ? second : 2.0F}};
  });
}

template <class Task>
void Follower::operator()(const Task& task) const {
  const auto in = task.read(New, from);
  const auto out = task.write(to);
  forEach(task.exec(), "Test::later", task.interior(), [=] TESSERA_KERNEL(Index x) { out(x) = in(x); });
}

template <class Task>
void ReadsOneCell::operator()(const Task& task) const {
  const auto in = task.readLevel(Old, values);
  const auto out = task.write(values);
  const Index there = at;
  forEach(task.exec(), "Test::level", task.interior(), [=] TESSERA_KERNEL(Index x) { out(x) = in(there); });
}

template <class Task>
void Silent::operator()(const Task& task) const {
  static_cast<void>(task.read(Old, from));
}

[[gnu::weak]] TaskBody bodyOf(const Marker& body) { return taskBody<Cpu, Gpu>(body); }
[[gnu::weak]] TaskBody bodyOf(const ReadsUnset& body) { return taskBody<Cpu, Gpu>(body); }
[[gnu::weak]] TaskBody bodyOf(const MarksVector& body) { return taskBody<Cpu, Gpu>(body); }
[[gnu::weak]] TaskBody bodyOf(const Follower& body) { return taskBody<Cpu, Gpu>(body); }
[[gnu::weak]] TaskBody bodyOf(const ReadsOneCell& body) { return taskBody<Cpu, Gpu>(body); }
[[gnu::weak]] TaskBody bodyOf(const Silent& body) { return taskBody<Cpu, Gpu>(body); }

}  // namespace tessera::test
