#include "components/subcycle/between_kernels.hpp"

#include <type_traits>

#include "datawarehouse/task_context.hpp"

namespace tessera {

template <class Task, class In, class Out>
void valuesBetween(const Task& task, const In& old, const In& now, const Out& to, double weight) {
  if (weight == 1.0) {
    forEach(task.exec(), "Between::atEnd", task.interior(), [=] TESSERA_KERNEL(Index x) { to(x) = now(x); });
  } else {
    forEach(task.exec(), "Between::inTime", task.interior(),
            [=] TESSERA_KERNEL(Index x) { to(x) = old(x) + weight * (now(x) - old(x)); });
  }
}

template <class T>
struct BetweenOldAndNew {
  Label<T, Cell> u;
  Label<T, Cell> to;
  ReductionLabel number;
  double part;

  template <class Task>
  void operator()(const Task& task) const {
    const auto steps = static_cast<double>(largestOf(task.refinementRatio()));
    const double weight = (task.reduced(number) + part) / steps;
    const auto old = task.read(Old, u);
    const auto now = task.read(New, u);
    const auto out = task.write(to);
    if constexpr (std::is_same_v<T, double>) {
      valuesBetween(task, old, now, out, weight);
    } else {
      for (std::int32_t c = 0; c < out.count(); ++c) valuesBetween(task, old[c], now[c], out[c], weight);
    }
  }
};

[[gnu::weak]] TaskBody betweenOldAndNew(Label<double, Cell> u, Label<double, Cell> to, ReductionLabel number,
                                        double part) {
  return taskBody<Cpu, Gpu>(BetweenOldAndNew<double>{u, to, number, part});
}

[[gnu::weak]] TaskBody betweenOldAndNew(Label<Components<double>, Cell> u, Label<Components<double>, Cell> to,
                                        ReductionLabel number, double part) {
  return taskBody<Cpu, Gpu>(BetweenOldAndNew<Components<double>>{u, to, number, part});
}

}  // namespace tessera
