#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "components/component_totals.hpp"
#include "components/euler/euler_kernels.hpp"
#include "components/euler/failed_cells.hpp"
#include "components/euler/gas_fields.hpp"
#include "components/euler/solid_cells.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

struct StableEulerDt {
  EulerParams params;
  GasLabel label;
  ReductionLabel stableDt;
  Generation solids = Old;

  template <class Task>
  void operator()(const Task& task) const {
    withSolids(task, params, solids, [&](auto cells) { contributeDt(task, cells); });
  }

  template <class Task, class Cells>
  void contributeDt(const Task& task, Cells cells) const {
    const auto u = gasFields(task.read(New, label), 0);
    const IdealGas gas = params.solver.gas;
    Real3 inverse = task.inverseSpacing();
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) inverse[axis] = 0.0;
    }
    const auto rate =
        reduce(task.exec(), "Euler::stableDt", task.interior(), Max, [=] TESSERA_KERNEL(Index x) {
          if (!cells.isGas(x)) return 0.0;
          const Primitive w = gas.primitive(u(x));
          const double c = gas.soundSpeed(w);
          const double found = ((std::fabs(w.v[1]) + c) * inverse.x + (std::fabs(w.v[2]) + c) * inverse.y) +
                               (std::fabs(w.v[3]) + c) * inverse.z;
          return w.rho() > 0.0 && w.p() > 0.0 ? found : std::numeric_limits<double>::infinity();
        });
    if constexpr (std::is_same_v<typename Task::ReducedReal, double>) {
      if (rate == std::numeric_limits<double>::infinity()) {
        const double first = firstFailed(task, u, gas, task.interior());
        reportFailed(task.hierarchy(), first, task.step() + 1, task.time());
      }
    }
    task.contribute(stableDt, 1.0 / rate);
  }
};

struct TotalsOfEuler {
  EulerParams params;
  GasLabel label;
  GasTotals totals;
  EulerNotes notes;

  template <class Task>
  void operator()(const Task& task) const {
    const auto view = task.read(Old, label);
    withSolids(task, params, Old, [&](auto cells) {
      contributeSums(task, view, cells);
      contributeExtremes(task, gasFields(view, 0), cells);
    });
    if (notes.counts) contributeFloored(task);
  }

  template <class Task>
  void contributeFloored(const Task& task) const {
    const auto count = task.read(Old, notes.floored);
    task.contribute(totals.floored,
                    sumOverCells(task, "Euler::floored", [=] TESSERA_KERNEL(Index x) { return count(x); }));
  }
  template <class Task, class View>
  void contributeSums(const Task& task, const View& all, GasEverywhere) const {
    contributeTotals(task, "Euler::total", all, totals.sums);
  }
  template <class Task, class View, class Cells>
  void contributeSums(const Task& task, const View& all, Cells cells) const {
    const double volume = cellVolume(task.level());
    for (std::int32_t n = 0; n < kFirstScalar; ++n) {
      const auto u = all[n];
      typename Task::ReducedSum sum;
      task.forEachUncovered([&](const Box& box) {
        sum.add(reduce(task.exec(), "Euler::total", box, Sum,
                       [=] TESSERA_KERNEL(Index x) { return cells.isGas(x) ? u(x) * volume : 0.0; }));
      });
      task.contribute(totals.sums[static_cast<std::size_t>(n)], sum);
    }
  }
  template <class Task, class Fields, class Cells>
  void contributeExtremes(const Task& task, const Fields& u, Cells cells) const {
    using std::max;
    using std::min;
    const IdealGas gas = params.solver.gas;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    typename Task::ReducedReal density = kInfinity;
    typename Task::ReducedReal pressure = density;
    typename Task::ReducedReal mach = 0.0;
    task.forEachUncovered([&](const Box& box) {
      density =
          min(density, reduce(task.exec(), "Euler::leastDensity", box, Min,
                              [=] TESSERA_KERNEL(Index x) { return cells.isGas(x) ? u.rho(x) : kInfinity; }));
      pressure =
          min(pressure, reduce(task.exec(), "Euler::leastPressure", box, Min, [=] TESSERA_KERNEL(Index x) {
                return cells.isGas(x) ? gas.primitive(u(x)).p() : kInfinity;
              }));
      mach = max(mach, reduce(task.exec(), "Euler::largestMach", box, Max, [=] TESSERA_KERNEL(Index x) {
                   if (!cells.isGas(x)) return 0.0;
                   const Primitive w = gas.primitive(u(x));
                   return std::sqrt(IdealGas::squared(w.v[1], w.v[2], w.v[3])) / gas.soundSpeed(w);
                 }));
    });
    task.contribute(totals.leastDensity, density);
    task.contribute(totals.leastPressure, pressure);
    task.contribute(totals.largestMach, mach);
  }
};

struct TemperatureOfGas {
  EulerParams params;
  GasLabel gas;
  Label<double, Cell> temperature;
  double gasConstant;

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = gasFields(task.read(New, gas), 0);
    const auto out = task.write(temperature);
    const IdealGas ideal = params.solver.gas;
    const double r = gasConstant;
    forEach(task.exec(), "Euler::temperature", task.interior(), [=] TESSERA_KERNEL(Index x) {
      const Primitive w = ideal.primitive(u(x));
      out(x) = w.p() / (w.rho() * r);
    });
  }
};

[[gnu::weak]] TaskBody temperatureOfGas(const EulerParams& params, GasLabel gas,
                                        Label<double, Cell> temperature, double gasConstant) {
  return taskBody<Cpu, Gpu>(TemperatureOfGas{params, gas, temperature, gasConstant});
}

[[gnu::weak]] TaskBody stableEulerDt(const EulerParams& params, GasLabel gas, ReductionLabel stableDt,
                                     Generation solids) {
  return taskBody<Cpu, Gpu>(StableEulerDt{params, gas, stableDt, solids});
}

[[gnu::weak]] TaskBody totalsOfEuler(const EulerParams& params, GasLabel gas, const GasTotals& totals,
                                     const EulerNotes& notes) {
  return taskBody<Cpu, Gpu>(TotalsOfEuler{params, gas, totals, notes});
}

}  // namespace tessera
