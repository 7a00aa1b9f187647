#include <algorithm>
#include <cmath>
#include <limits>

#include "components/error_norms_kernels.hpp"
#include "components/lowmach/carried.hpp"
#include "components/lowmach/divergence.hpp"
#include "components/lowmach/lowmach_kernels.hpp"

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
    const double wide = 2.0 * params.largestDiffusivity() * ((w.x + w.y) + w.z);
    const auto density = densityOf(task, params, New, state, faces.u[0]);
    double fall = 0.0;
    for (int d = 0; d < kAxes; ++d) fall += 4.0 * std::fabs(params.gravity[d]) * perLength[d];
    const double least = 1e-300;
    const double widest = 2.0 * larger(1.0, params.eddies.perSchmidt) * ((w.x + w.y) + w.z);
    const auto eddies = eddiesOf(task, params, New, faces.u[0], widest);
    task.contribute(
        stableDt, reduce(task.exec(), "Lowmach::stableDt", task.interior(), Min, [=] TESSERA_KERNEL(Index x) {
          const double rate = crossings(x) + (wide + eddies(x)) / density(x);
          return 2.0 / (rate + std::sqrt(rate * rate + fall) + least);
        }));
  }
};

/// The kinetic energy of a cell, from the faces around it.
template <class Field>
struct KineticEnergy {
  Divergence<Field> faces;
  NumberOrField<Field> density;
  double factor;  ///< volume over four

  TESSERA_KERNEL double operator()(Index x) const {
    return factor * density(x) * ((of(0, x) + of(1, x)) + of(2, x));
  }
  TESSERA_KERNEL double of(int d, Index x) const {
    if (faces.inverse[d] == 0.0) return 0.0;
    const double below = faces.u[d](x);
    const double above = faces.u[d](x + faces.e[d]);
    return below * below + above * above;
  }
};

/// What a cell adds to an integral: a number times a density times the volume.
template <class Field>
struct TimesDensity {
  NumberOrField<Field> q;
  NumberOrField<Field> density;
  double volume;

  TESSERA_KERNEL double operator()(Index x) const { return q(x) * density(x) * volume; }
};
/// The mean of both faces of a cell, times its mass.
template <class Field>
struct MomentumOfCell {
  Field u;
  NumberOrField<Field> density;
  Index e;
  double volume;

  TESSERA_KERNEL double operator()(Index x) const { return 0.5 * (u(x) + u(x + e)) * density(x) * volume; }
};
template <class Field>
struct SpeedOfFace {
  Field u;

  TESSERA_KERNEL double operator()(Index x) const { return std::fabs(u(x)); }
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
    const NumberOrField<Field> density = densityOf(task, params, Old, state, faces.u[0]);
    NumberOrField<Field> expansion{faces.u[0], 0.0, 0.0};
    if (params.densityVaries) {
      expansion = {task.read(Old, params.expansion), 0.0, 1.0};
      const NumberOrField<Field> one{faces.u[0], 1.0, 0.0};
      integral(task, totals.mass, "Lowmach::mass", TimesDensity<Field>{one, density, volume});
      range(task, density, totals.density);
    }
    const KineticEnergy<Field> energy{faces, density, 0.25 * volume};
    integral(task, totals.kineticEnergy, "Lowmach::kineticEnergy", energy);
    task.contribute(totals.divergence,
                    reduce(task.exec(), "Lowmach::divergence", task.interior(), Max,
                           [=] TESSERA_KERNEL(Index x) { return std::fabs(faces(x) - expansion(x)); }));
    momenta(task, density);
    for (const FlowRange& one : totals.ranges)
      range(task, NumberOrField<Field>{task.read(Old, one.label), 0.0, 1.0}, one);
    for (std::size_t n = 0; n < kFlowScalars; ++n) {
      if (!state.carried[n].isThere()) continue;
      const NumberOrField<Field> q = carriedOrNone(task, Old, state.carried[n], faces.u[0]);
      integral(task, totals.carried[n], "Lowmach::carried", TimesDensity<Field>{q, density, volume});
      range(task, q, totals.rangeOfCarried[n]);
    }
  }

  /// Over the finest cells of each place.
  template <class Task, class Summand>
  void integral(const Task& task, ReductionLabel to, const char* name, const Summand& summand) const {
    typename Task::ReducedSum sum;
    task.forEachUncovered([&](const Box& cells) { sum.add(reduce(task.exec(), name, cells, Sum, summand)); });
    task.contribute(to, sum);
  }

  template <class Task, class Number>
  void range(const Task& task, const Number& q, const FlowRange& of) const {
    using std::max;
    using std::min;
    typename Task::ReducedReal least = std::numeric_limits<double>::infinity();
    typename Task::ReducedReal largest = -least;
    task.forEachUncovered([&](const Box& cells) {
      least = min(least, reduce(task.exec(), "Lowmach::least", cells, Min, q));
      largest = max(largest, reduce(task.exec(), "Lowmach::largest", cells, Max, q));
    });
    task.contribute(of.least, least);
    task.contribute(of.largest, largest);
  }

  template <class Task, class Number>
  void momenta(const Task& task, const Number& density) const {
    typename Task::ReducedReal largest = -1.0;
    using std::max;
    forEachAxis(state.velocity, [&](int axis, auto label) {
      const auto u = task.read(Old, label);
      using Field = std::remove_cvref_t<decltype(u)>;
      NumberOrField<Field> there{u, density.base, 0.0};
      if (params.densityVaries) there = density;
      integral(task, totals.momentum[static_cast<std::size_t>(axis)], "Lowmach::momentum",
               MomentumOfCell<Field>{u, there, unit(axis), cellVolume(task.level())});
      largest = max(largest,
                    reduce(task.exec(), "Lowmach::speed", task.interior(label), Max, SpeedOfFace<Field>{u}));
    });
    task.contribute(totals.speed, largest);
  }
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
