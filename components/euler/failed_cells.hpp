#pragma once

#include <cstdint>
#include <limits>

#include "components/euler/cell_codes.hpp"
#include "components/euler/ideal_gas.hpp"
#include "core/kernel.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// The number of a cell without a density or a pressure above 0, else infinity. No closure, since nvcc keeps
/// the functions of one by source and this is used in several.
template <class Fields>
struct CodeIfFailed {
  Fields u;
  IdealGas gas;
  CellCodes codes;

  TESSERA_KERNEL double operator()(Index x) const {
    return gas.exists(u(x)) ? std::numeric_limits<double>::infinity() : codes(x);
  }
};

/// The first cell of a box without a density or a pressure above 0, by its number (CellCodes), or infinity.
template <class Task, class Fields>
typename Task::ReducedReal firstFailed(const Task& task, const Fields& u, const IdealGas& gas,
                                       const Box& box) {
  const CellCodes codes(task.hierarchy(), task.level());
  return reduce(task.exec(), "Euler::failed", box, Min, CodeIfFailed<Fields>{u, gas, codes});
}

/// Throws NumericalError that names the cell, its patch and the step.
[[noreturn]] void reportFailed(const Hierarchy& hierarchy, double code, std::int64_t step, double time);

}  // namespace tessera
