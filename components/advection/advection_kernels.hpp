#pragma once

#include <array>

#include "components/advection/slopes.hpp"
#include "datawarehouse/task_context.hpp"

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
  Real3 u;
  TESSERA_KERNEL double operator()(int axis, Index) const { return u[axis]; }
};

/// Normal velocities on the faces; face x of an axis lies between the cells x - e and x.
template <class Field>
struct FaceVelocity {
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
template <class Slope>
struct EulerStep {
  Real3 dtOverH;  ///< 0 along unresolved axes
  Box domain;
  std::array<bool, 2 * kAxes> inflow;

  template <class Field, class Velocity>
  TESSERA_KERNEL double operator()(const Field& q, const Velocity& u, Index x) const {
    const double here = q(x);
    double leaving = 0.0;
    double gain = 0.0;
    for (int axis = 0; axis < kAxes; ++axis) {
      const Index e = unit(axis);
      const double low = dtOverH[axis] * u(axis, x);
      const double high = dtOverH[axis] * u(axis, x + e);
      const double outLow = low < 0.0 ? -low : 0.0;
      const double outHigh = high > 0.0 ? high : 0.0;
      const double inLow = low > 0.0 ? low : 0.0;
      const double inHigh = high < 0.0 ? -high : 0.0;
      leaving += outLow + outHigh;
      gain += inLow * lowState(q, x, axis) + inHigh * highState(q, x, axis);
      if constexpr (!Slope::kIsFlat) gain -= halfSlope(q, x, e) * (outHigh - outLow);
    }
    return (1.0 - leaving) * here + gain;
  }

 private:
  template <class Field>
  TESSERA_KERNEL static double halfSlope(const Field& q, Index x, Index e) {
    if constexpr (Slope::kIsFlat) return 0.0;
    return 0.5 * Slope::of(q(x) - q(x - e), q(x + e) - q(x));
  }
  /// What comes in through the lower face: the lower neighbour's value at the face. Beyond an inflow side the
  /// mean of the two cells is the value given for the face.
  template <class Field>
  TESSERA_KERNEL double lowState(const Field& q, Index x, int axis) const {
    const Index e = unit(axis);
    if (inflow[static_cast<std::size_t>(2 * axis)] && x[axis] == domain.lo[axis])
      return 0.5 * (q(x - e) + q(x));
    return q(x - e) + halfSlope(q, x - e, e);
  }
  template <class Field>
  TESSERA_KERNEL double highState(const Field& q, Index x, int axis) const {
    const Index e = unit(axis);
    if (inflow[static_cast<std::size_t>(2 * axis + 1)] && x[axis] == domain.hi[axis] - 1) {
      return 0.5 * (q(x) + q(x + e));
    }
    return q(x + e) - halfSlope(q, x + e, e);
  }
};

template <class Slope, class Task>
EulerStep<Slope> eulerStep(const Task& task, const AdvectionParams& p) {
  Real3 dtOverH;
  for (int d = 0; d < kAxes; ++d) dtOverH[d] = task.dt() * task.inverseSpacing()[d];
  return {dtOverH, task.level().domain(), p.inflow};
}

/// result = Euler(Old): all of an upwind step, the first stage of the other scheme.
template <class Slope, class Task, class Velocity>
void firstStage(const Task& task, Label<double, Cell> from, Label<double, Cell> to, const AdvectionParams& p,
                Velocity u) {
  const auto q = task.read(Old, from);
  const auto result = task.write(to);
  const auto euler = eulerStep<Slope>(task, p);
  forEach(task.exec(), "Advection::advance", task.interior(),
          [=] TESSERA_KERNEL(Index x) { result(x) = euler(q, u, x); });
}

/// New = (Old + Euler(stage)) / 2: the second stage (SSP-RK2).
template <class Slope, class Task, class Velocity>
void secondStage(const Task& task, const AdvectionLabels& labels, const AdvectionParams& p, Velocity u) {
  const auto q = task.read(Old, labels.concentration);
  const auto stage = task.read(New, labels.stage);
  const auto next = task.write(labels.concentration);
  const auto euler = eulerStep<Slope>(task, p);
  forEach(task.exec(), "Advection::correct", task.interior(),
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

/// The largest time step for which no cell gives or takes more than it has: 1 / max(sum_axes(u/h)).
template <class Task, class Velocity>
double stableAdvectionDt(const Task& task, Velocity u) {
  const Real3 inverseSpacing = task.inverseSpacing();
  const double rate =
      reduce(task.exec(), "Advection::stableDt", task.interior(), Max, [=] TESSERA_KERNEL(Index x) {
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
  return 1.0 / rate;
}

}  // namespace tessera
