#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "components/error_norms_kernels.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/task_context.hpp"
#include "grid/label.hpp"

namespace tessera {

/// What a cell adds to an integral: a class of its own, since nvcc keeps the functions of a closure by source
/// and this one is used in several.
template <class Field>
struct TimesVolume {
  Field u;
  double volume;

  TESSERA_KERNEL double operator()(Index x) const { return u(x) * volume; }
};

/// The sum over the patch of what `amount` is in each cell; cells that finer ones cover do not count. Called
/// by the body of a task, in a source of kernels.
template <class Task, class Amount>
typename Task::ReducedSum sumOverCells(const Task& task, const char* loop, const Amount& amount) {
  typename Task::ReducedSum sum;
  task.forEachUncovered([&](const Box& box) { sum.add(reduce(task.exec(), loop, box, Sum, amount)); });
  return sum;
}

/// The integral over the patch of a field of cells, as `sumOverCells`.
template <class Task, class Field>
typename Task::ReducedSum integralOf(const Task& task, const char* loop, const Field& u) {
  return sumOverCells(task, loop, TimesVolume<Field>{u, cellVolume(task.level())});
}

/// Contributes the integrals over the patch of the first components of a variable, as many as `totals`, to
/// these Sums. `all`: Old, read without a halo.
template <class Task, class View>
void contributeTotals(const Task& task, const char* loop, const View& all,
                      std::span<const ReductionLabel> totals) {
  for (std::size_t n = 0; n < totals.size(); ++n)
    task.contribute(totals[n], integralOf(task, loop, all[static_cast<std::int32_t>(n)]));
}

}  // namespace tessera
