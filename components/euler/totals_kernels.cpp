#include <algorithm>
#include <cmath>
#include <limits>

#include "components/component_totals.hpp"
#include "components/euler/euler_kernels.hpp"
#include "components/euler/gas_fields.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

struct StableEulerDt {
  EulerParams params;
  GasLabel label;
  ReductionLabel stableDt;

  template <class Task>
  void operator()(const Task& task) const {
    const auto u = gasFields(task.read(New, label), 0);
    const IdealGas gas = params.solver.gas;
    Real3 inverse = task.inverseSpacing();
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!params.active[static_cast<std::size_t>(axis)]) inverse[axis] = 0.0;
    }
    const auto rate =
        reduce(task.exec(), "Euler::stableDt", task.interior(), Max, [=] TESSERA_KERNEL(Index x) {
          const Primitive w = gas.primitive(u(x));
          const double c = gas.soundSpeed(w);
          return ((std::fabs(w.v[1]) + c) * inverse.x + (std::fabs(w.v[2]) + c) * inverse.y) +
                 (std::fabs(w.v[3]) + c) * inverse.z;
        });
    task.contribute(stableDt, 1.0 / rate);
  }
};

struct TotalsOfEuler {
  EulerParams params;
  GasLabel label;
  GasTotals totals;

  template <class Task>
  void operator()(const Task& task) const {
    const auto view = task.read(Old, label);
    contributeTotals(task, "Euler::total", view, totals.sums);
    contributeExtremes(task, gasFields(view, 0));
  }

 private:
  template <class Task, class Fields>
  void contributeExtremes(const Task& task, const Fields& u) const {
    using std::max;
    using std::min;
    const IdealGas gas = params.solver.gas;
    typename Task::ReducedReal density = std::numeric_limits<double>::infinity();
    typename Task::ReducedReal pressure = density;
    typename Task::ReducedReal mach = 0.0;
    task.forEachUncovered([&](const Box& box) {
      density = min(density, reduce(task.exec(), "Euler::leastDensity", box, Min,
                                    [=] TESSERA_KERNEL(Index x) { return u.rho(x); }));
      pressure = min(pressure, reduce(task.exec(), "Euler::leastPressure", box, Min,
                                      [=] TESSERA_KERNEL(Index x) { return gas.primitive(u(x)).p(); }));
      mach = max(mach, reduce(task.exec(), "Euler::largestMach", box, Max, [=] TESSERA_KERNEL(Index x) {
                   const Primitive w = gas.primitive(u(x));
                   return std::sqrt(IdealGas::squared(w.v[1], w.v[2], w.v[3])) / gas.soundSpeed(w);
                 }));
    });
    task.contribute(totals.leastDensity, density);
    task.contribute(totals.leastPressure, pressure);
    task.contribute(totals.largestMach, mach);
  }
};

[[gnu::weak]] TaskBody stableEulerDt(const EulerParams& params, GasLabel gas, ReductionLabel stableDt) {
  return taskBody<Cpu, Gpu>(StableEulerDt{params, gas, stableDt});
}

[[gnu::weak]] TaskBody totalsOfEuler(const EulerParams& params, GasLabel gas, const GasTotals& totals) {
  return taskBody<Cpu, Gpu>(TotalsOfEuler{params, gas, totals});
}

}  // namespace tessera
