#include <cmath>

#include "components/error_norms_kernels.hpp"
#include "components/lowmach/divergence.hpp"
#include "components/lowmach/lowmach_kernels.hpp"
#include "components/stencils/slopes.hpp"

namespace tessera {

/// What the larger of the two faces of a cell across each axis carries, in cells per time.
template <class Field>
struct Crossings {
  Divergence<Field> faces;

  TESSERA_KERNEL double operator()(Index x) const { return along(0, x) + (along(1, x) + along(2, x)); }
  TESSERA_KERNEL double along(int d, Index x) const {
    return faces.inverse[d] * larger(std::fabs(faces.u[d](x)), std::fabs(faces.u[d](x + faces.e[d])));
  }
};

struct StableFlowDt {
  FlowParams params;
  FlowState state;
  ReductionLabel stableDt;

  template <class Task>
  void operator()(const Task& task) const {
    const auto faces = divergenceOf(task, params, New, state.velocity);
    const Crossings<std::remove_cvref_t<decltype(faces.u[0])>> crossings{faces};
    const Real3 w = task.inverseSquaredSpacing();
    const Real3 perLength = task.inverseSpacing();
    const double friction = 2.0 * params.viscosity / params.density * ((w.x + w.y) + w.z);
    double fall = 0.0;
    for (int d = 0; d < kAxes; ++d) fall += 4.0 * std::fabs(params.gravity[d]) * perLength[d];
    const double least = 1e-300;
    task.contribute(
        stableDt, reduce(task.exec(), "Lowmach::stableDt", task.interior(), Min, [=] TESSERA_KERNEL(Index x) {
          const double rate = crossings(x) + friction;
          return 2.0 / (rate + std::sqrt(rate * rate + fall) + least);
        }));
  }
};

/// The kinetic energy of a cell, from the faces around it.
template <class Field>
struct KineticEnergy {
  Divergence<Field> faces;
  double factor;  ///< density times volume over four

  TESSERA_KERNEL double operator()(Index x) const { return factor * ((of(0, x) + of(1, x)) + of(2, x)); }
  TESSERA_KERNEL double of(int d, Index x) const {
    if (faces.inverse[d] == 0.0) return 0.0;
    const double below = faces.u[d](x);
    const double above = faces.u[d](x + faces.e[d]);
    return below * below + above * above;
  }
};

struct TotalsOfFlow {
  FlowParams params;
  FlowState state;
  FlowTotals totals;

  template <class Task>
  void operator()(const Task& task) const {
    const auto faces = divergenceOf(task, params, Old, state.velocity);
    using Field = std::remove_cvref_t<decltype(faces.u[0])>;
    const double volume = cellVolume(task.level());
    const KineticEnergy<Field> energy{faces, 0.25 * params.density * volume};
    task.contribute(totals.kineticEnergy,
                    reduce(task.exec(), "Lowmach::kineticEnergy", task.interior(), Sum, energy));
    task.contribute(totals.divergence, reduce(task.exec(), "Lowmach::divergence", task.interior(), Max,
                                              [=] TESSERA_KERNEL(Index x) { return std::fabs(faces(x)); }));
    momenta(task);
  }

  template <class Task>
  void momenta(const Task& task) const {
    typename Task::ReducedReal largest = -1.0;
    using std::max;
    forEachAxis(state.velocity, [&](int axis, auto label) {
      const auto u = task.read(Old, label);
      const double factor = params.density * cellVolume(task.level());
      typename Task::ReducedSum sum;
      task.forEachOwned(label, [&](const Box& box) {
        sum.add(reduce(task.exec(), "Lowmach::momentum", box, Sum, TimesFactor<decltype(u)>{u, factor}));
      });
      task.contribute(totals.momentum[static_cast<std::size_t>(axis)], sum);
      largest = max(largest, reduce(task.exec(), "Lowmach::speed", task.interior(label), Max,
                                    Amount<std::remove_cvref_t<decltype(u)>>{u}));
    });
    task.contribute(totals.speed, largest);
  }

  template <class Field>
  struct Amount {
    Field u;
    TESSERA_KERNEL double operator()(Index x) const { return std::fabs(u(x)); }
  };
  template <class Field>
  struct TimesFactor {
    std::remove_cvref_t<Field> u;
    double factor;
    TESSERA_KERNEL double operator()(Index x) const { return factor * u(x); }
  };
};

[[gnu::weak]] TaskBody stableFlowDt(const FlowParams& params, const FlowState& state,
                                    ReductionLabel stableDt) {
  return taskBody<Cpu, Gpu>(StableFlowDt{params, state, stableDt});
}

[[gnu::weak]] TaskBody totalsOfFlow(const FlowParams& params, const FlowState& state,
                                    const FlowTotals& totals) {
  return taskBody<Cpu, Gpu>(TotalsOfFlow{params, state, totals});
}

}  // namespace tessera
