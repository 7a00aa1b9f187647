#pragma once

#include <algorithm>
#include <limits>

#include "datawarehouse/task_context.hpp"
#include "taskgraph/device_body.hpp"

namespace tessera {

/// The volume of a cell of a level; what a sum over cells is multiplied with to be an integral.
inline double cellVolume(const Level& level) {
  return level.spacing().x * level.spacing().y * level.spacing().z;
}

/// Integral, least and largest value of a cell variable, as contributions to three reductions. A cell that
/// finer levels cover does not count: the boxes left of a patch are gone through one by one. Needs a read of
/// Old without a halo. On a device each box is three launches.
struct NormTotals {
  Label<double, Cell> variable;
  ReductionLabel total;    ///< a Sum: the integral over the patch
  ReductionLabel least;    ///< a Min
  ReductionLabel largest;  ///< a Max

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = task.read(Old, variable);
    const double volume = cellVolume(task.level());
    ExactSum sum;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    task.forEachUncovered([&](const Box& box) {
      sum.add(reduce(task.exec(), "total", box, Sum, [=] TESSERA_KERNEL(Index x) { return u(x) * volume; }));
      low = std::min(low, reduce(task.exec(), "min", box, Min, [=] TESSERA_KERNEL(Index x) { return u(x); }));
      high =
          std::max(high, reduce(task.exec(), "max", box, Max, [=] TESSERA_KERNEL(Index x) { return u(x); }));
    });
    task.contribute(total, sum);
    task.contribute(least, low);
    task.contribute(largest, high);
  }
};

extern template struct DeviceBody<NormTotals>;

}  // namespace tessera
