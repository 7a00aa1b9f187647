#include "components/error_norms_kernels.hpp"

#include <algorithm>
#include <limits>

#include "datawarehouse/task_context.hpp"

namespace tessera {

struct NormTotals {
  Label<double, Cell> variable;
  NormLabels norms;

  template <class Task>
  void operator()(const Task& task) const {
    using std::max;
    using std::min;
    const auto u = task.read(Old, variable);
    const double volume = cellVolume(task.level());
    typename Task::ReducedSum sum;
    typename Task::ReducedReal low = std::numeric_limits<double>::infinity();
    typename Task::ReducedReal high = -low;
    task.forEachUncovered([&](const Box& box) {
      sum.add(reduce(task.exec(), "total", box, Sum, [=] TESSERA_KERNEL(Index x) { return u(x) * volume; }));
      low = min(low, reduce(task.exec(), "min", box, Min, [=] TESSERA_KERNEL(Index x) { return u(x); }));
      high = max(high, reduce(task.exec(), "max", box, Max, [=] TESSERA_KERNEL(Index x) { return u(x); }));
    });
    task.contribute(norms.total, sum);
    task.contribute(norms.least, low);
    task.contribute(norms.largest, high);
  }
};

[[gnu::weak]] TaskBody normTotals(Label<double, Cell> variable, const NormLabels& norms) {
  return taskBody<Cpu, Gpu>(NormTotals{variable, norms});
}

}  // namespace tessera
