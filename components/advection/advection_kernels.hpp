#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "components/advection/slopes.hpp"
#include "datawarehouse/task_context.hpp"
#include "taskgraph/device_body.hpp"

namespace tessera {

struct AdvectionLabels {
  Label<double, Cell> concentration;
  Label<double, Cell> stage;
  Label<double, FaceX> velocityX;
  Label<double, FaceY> velocityY;
  Label<double, FaceZ> velocityZ;
};

struct AdvectionParams {
  Limiter limiter = Limiter::Flat;
  bool velocityVaries = false;  ///< the face labels take the place of `velocity`
  Real3 velocity;
  std::array<bool, kAxes> active{};      ///< axes of more than one cell
  std::array<bool, 2 * kAxes> inflow{};  ///< sides whose face value is given (dirichlet)
};

/// The same velocity on every face.
struct UniformVelocity {
  static constexpr bool kIsUniform = true;
  Real3 u;
  TESSERA_KERNEL double operator()(int axis, Index) const { return u[axis]; }
};

/// Normal velocities on the faces; face x of an axis lies between the cells x - e and x.
template <class Field>
struct FaceVelocity {
  static constexpr bool kIsUniform = false;
  Field u[kAxes];
  TESSERA_KERNEL double operator()(int axis, Index x) const { return u[axis](x); }
};

/// The face velocities of `generation`. An unresolved axis has none: another stands in, and counts nothing.
template <class Task>
auto faceVelocity(const Task& task, const AdvectionLabels& labels, const AdvectionParams& p,
                  Generation generation) {
  const auto x = task.read(generation, labels.velocityX);
  const auto y = p.active[1] ? task.read(generation, labels.velocityY) : x;
  const auto z = p.active[2] ? task.read(generation, labels.velocityZ) : x;
  return FaceVelocity<std::remove_const_t<decltype(x)>>{{x, y, z}};
}

/// One forward Euler step of one cell, written as a weighted mean of the cell and its neighbours: what leaves
/// takes its share from the cell's weight, what enters brings the neighbour's. At a Courant number of exactly
/// 1 the cell's own weight is exactly 0, so upwind then shifts values without rounding.
///
/// `kAtInflow` is for patches at an inflow side: what comes in there is the value given for the face, the
/// mean of the two cells beside it. Both forms give the same bits elsewhere.
template <class Slope, bool kAtInflow>
struct EulerStep {
  Real3 dtOverH;    ///< 0 along unresolved axes
  Index lowInflow;  ///< the cells next to an inflow side along each axis; kNowhere where there is none
  Index highInflow;

  static constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::min();

  template <class Field, class Velocity>
  TESSERA_KERNEL double operator()(const Field& q, const Velocity& u, Index x) const {
    const Exchange a = along<0>(q, u, x);
    const Exchange b = along<1>(q, u, x);
    const Exchange c = along<2>(q, u, x);
    return (1.0 - ((a.leaving + b.leaving) + c.leaving)) * q(x) + ((a.gain + b.gain) + c.gain);
  }

 private:
  struct Exchange {
    double leaving;  ///< part of the cell's weight
    double gain;
  };

  template <int kAxis, class Field, class Velocity>
  TESSERA_KERNEL Exchange along(const Field& q, const Velocity& u, Index x) const {
    constexpr Index e = unit(kAxis);
    const double low = dtOverH[kAxis] * u(kAxis, x);
    const double high = dtOverH[kAxis] * u(kAxis, x + e);
    const double outLow = positive(-low);
    const double outHigh = positive(high);
    double fromLow = q(x - e) + halfSlope(q, x - e, e);
    double fromHigh = q(x + e) - halfSlope(q, x + e, e);
    if constexpr (kAtInflow) {
      if (x[kAxis] == lowInflow[kAxis]) fromLow = 0.5 * (q(x - e) + q(x));
      if (x[kAxis] == highInflow[kAxis]) fromHigh = 0.5 * (q(x) + q(x + e));
    }
    const double entering = positive(low) * fromLow + positive(-high) * fromHigh;
    if constexpr (Slope::kIsFlat) return {outLow + outHigh, entering};
    return {outLow + outHigh, entering - halfSlope(q, x, e) * (outHigh - outLow)};
  }
  template <class Field>
  TESSERA_KERNEL static double halfSlope(const Field& q, Index x, Index e) {
    if constexpr (Slope::kIsFlat) return 0.0;
    return 0.5 * Slope::of(q(x) - q(x - e), q(x + e) - q(x));
  }
  TESSERA_KERNEL static double positive(double v) { return v > 0.0 ? v : 0.0; }
};

/// Calls `body(euler)` with the form that this patch needs.
template <class Slope, class Task, class Body>
void withEuler(const Task& task, const AdvectionParams& p, Body&& body) {
  using AtInflow = EulerStep<Slope, true>;
  const Box& patch = task.interior();
  const Box& domain = task.level().domain();
  constexpr Index kNone{AtInflow::kNowhere, AtInflow::kNowhere, AtInflow::kNowhere};
  AtInflow euler{{}, kNone, kNone};
  bool atInflow = false;
  for (int d = 0; d < kAxes; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    euler.dtOverH[d] = task.dt() * task.inverseSpacing()[d];
    if (p.inflow[2 * axis] && patch.lo[d] == domain.lo[d]) euler.lowInflow[d] = domain.lo[d];
    if (p.inflow[2 * axis + 1] && patch.hi[d] == domain.hi[d]) euler.highInflow[d] = domain.hi[d] - 1;
    atInflow =
        atInflow || euler.lowInflow[d] != AtInflow::kNowhere || euler.highInflow[d] != AtInflow::kNowhere;
  }
  if (atInflow) {
    body(euler);
  } else {
    body(EulerStep<Slope, false>{euler.dtOverH, euler.lowInflow, euler.highInflow});
  }
}

/// result = Euler(Old): all of an upwind step, the first stage of the other scheme.
template <class Task, class Euler, class Velocity>
void firstStage(const Task& task, Label<double, Cell> from, Label<double, Cell> to, Euler euler, Velocity u) {
  const auto q = task.read(Old, from);
  const auto result = task.write(to);
  forEach(task.exec(to), "Advection::advance", task.interior(),
          [=] TESSERA_KERNEL(Index x) { result(x) = euler(q, u, x); });
}

/// New = (Old + Euler(stage)) / 2: the second stage (SSP-RK2).
template <class Task, class Euler, class Velocity>
void secondStage(const Task& task, const AdvectionLabels& labels, Euler euler, Velocity u) {
  const auto q = task.read(Old, labels.concentration);
  const auto stage = task.read(New, labels.stage);
  const auto next = task.write(labels.concentration);
  forEach(task.exec(labels.concentration), "Advection::correct", task.interior(),
          [=] TESSERA_KERNEL(Index x) { next(x) = 0.5 * (q(x) + euler(stage, u, x)); });
}

/// Calls `body(velocity)` with what the deck says of the velocity.
template <class Task, class Body>
void withVelocity(const Task& task, const AdvectionLabels& labels, const AdvectionParams& p,
                  Generation generation, Body&& body) {
  if (p.velocityVaries) {
    body(faceVelocity(task, labels, p, generation));
  } else {
    body(UniformVelocity{p.velocity});
  }
}

/// Calls `body(euler, velocity)`: one combination of limiter, borders and velocity, so that the loop has no
/// choices.
template <class Task, class Body>
void withScheme(const Task& task, const AdvectionLabels& labels, const AdvectionParams& p,
                Generation generation, Body&& body) {
  withSlope(p.limiter, [&](auto slope) {
    withEuler<decltype(slope)>(task, p, [&](auto euler) {
      withVelocity(task, labels, p, generation, [&](auto u) { body(euler, u); });
    });
  });
}

/// The largest sum over the axes of u/h, of what leaves or of what enters a cell. Where the velocity is the
/// same everywhere one cell will do.
template <class Task, class Velocity>
double largestRate(const Task& task, Velocity u) {
  const Real3 inverseSpacing = task.inverseSpacing();
  const Index first = task.interior().lo;
  const Box cells = Velocity::kIsUniform ? Box{first, first + ex + ey + ez} : task.interior();
  return reduce(task.exec(), "Advection::stableDt", cells, Max, [=] TESSERA_KERNEL(Index x) {
    double out = 0.0;
    double in = 0.0;
    for (int axis = 0; axis < kAxes; ++axis) {
      const double low = u(axis, x) * inverseSpacing[axis];
      const double high = u(axis, x + unit(axis)) * inverseSpacing[axis];
      out += (high > 0.0 ? high : 0.0) - (low < 0.0 ? low : 0.0);
      in += (low > 0.0 ? low : 0.0) - (high < 0.0 ? high : 0.0);
    }
    return out > in ? out : in;
  });
}

/// All of an upwind step, the first stage of the other scheme.
struct AdvanceAdvection {
  AdvectionLabels labels;
  AdvectionParams params;
  Label<double, Cell> target;

  template <class Task>
  void operator()(const Task& task) const {
    withScheme(task, labels, params, Old,
               [&](auto euler, auto u) { firstStage(task, labels.concentration, target, euler, u); });
  }
};

/// The second stage; `velocity` is that of the end of the step.
struct CorrectAdvection {
  AdvectionLabels labels;
  AdvectionParams params;
  Generation velocity = Old;

  template <class Task>
  void operator()(const Task& task) const {
    withScheme(task, labels, params, velocity,
               [&](auto euler, auto u) { secondStage(task, labels, euler, u); });
  }
};

/// The largest time step for which no cell gives or takes more than it has: 1 / max(sum_axes(u/h)).
struct StableAdvectionDt {
  AdvectionLabels labels;
  AdvectionParams params;
  ReductionLabel stableDt;
  Generation velocity = Old;

  template <class Task>
  void operator()(const Task& task) const {
    withVelocity(task, labels, params, velocity,
                 [&](auto u) { task.contribute(stableDt, 1.0 / largestRate(task, u)); });
  }
};

extern template struct DeviceBody<AdvanceAdvection>;
extern template struct DeviceBody<CorrectAdvection>;
extern template struct DeviceBody<StableAdvectionDt>;

}  // namespace tessera
