#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "components/advection/advection_kernels.hpp"
#include "core/exec/kernel_call.hpp"
#include "core/geometry/box_difference.hpp"
#include "core/text/contracts.hpp"
#include "datawarehouse/task_context.hpp"

// What the kernels of both stages are made of. Each stage is a source of its own: with 5 limiters and two
// kinds of velocities, both for two vector widths, one would take the compiler long.

namespace tessera {

/// Calls `body(slope)` with the slope of any limiter but Flat: upwind has one stage and no slopes.
template <class Body>
void withLimiter(Limiter limiter, Body&& body) {
  TESSERA_EXPECT(limiter != Limiter::Flat, "upwind has one stage and no slopes");
  withSlope(limiter, [&](auto slope) {
    if constexpr (!decltype(slope)::kIsFlat) body(slope);
  });
}

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

/// One forward Euler step of one cell, written as a weighted mean of the cell and its neighbours: what leaves
/// takes its share from the cell's weight, what enters brings the neighbour's. At a Courant number of exactly
/// 1 the cell's own weight is exactly 0, so upwind then shifts values without rounding.
template <class Slope>
struct EulerStep {
  Real3 dtOverH;    ///< 0 along unresolved axes
  Index lowInflow;  ///< the cells next to an inflow side along each axis; kNowhere where there is none
  Index highInflow;

  static constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::min();

  template <class Field, class Velocity>
  TESSERA_KERNEL double operator()(const Field& q, const Velocity& u, Index x) const {
    return step<false>(q, u, x);
  }
  /// The step of a cell at an inflow side: what comes in there is the value given for the face, the mean of
  /// the two cells beside it. Gives the same bits as the other form in all other cells.
  template <class Field, class Velocity>
  TESSERA_KERNEL_CALL double atInflow(const Field& q, const Velocity& u, Index x) const {
    return step<true>(q, u, x);
  }
  /// What passes a face in a unit of time, as both of its cells take it.
  template <int kAxis, class Field, class Velocity>
  TESSERA_KERNEL static double flux(const Field& q, const Velocity& u, Index x) {
    constexpr Index e = unit(kAxis);
    const double v = u(kAxis, x);
    return positive(v) * (q(x - e) + halfSlope(q, x - e, e)) - positive(-v) * (q(x) - halfSlope(q, x, e));
  }
  /// The cells of a patch that lie at no inflow side.
  Box inner(Box patch) const {
    for (int d = 0; d < kAxes; ++d) {
      if (lowInflow[d] == patch.lo[d]) ++patch.lo[d];
      if (highInflow[d] == patch.hi[d] - 1) --patch.hi[d];
    }
    return patch;
  }

 private:
  struct Exchange {
    double leaving;  ///< part of the cell's weight
    double gain;
  };

  template <bool kAtInflow, class Field, class Velocity>
  TESSERA_KERNEL double step(const Field& q, const Velocity& u, Index x) const {
    const Exchange a = along<0, kAtInflow>(q, u, x);
    const Exchange b = along<1, kAtInflow>(q, u, x);
    const Exchange c = along<2, kAtInflow>(q, u, x);
    return (1.0 - ((a.leaving + b.leaving) + c.leaving)) * q(x) + ((a.gain + b.gain) + c.gain);
  }
  template <int kAxis, bool kAtInflow, class Field, class Velocity>
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

/// The step of a cell on this patch.
template <class Slope, class Task>
EulerStep<Slope> eulerStep(const Task& task, const AdvectionParams& p) {
  const Box& patch = task.interior();
  const Box& domain = task.level().domain();
  constexpr std::int64_t kNowhere = EulerStep<Slope>::kNowhere;
  EulerStep<Slope> euler{{}, {kNowhere, kNowhere, kNowhere}, {kNowhere, kNowhere, kNowhere}};
  for (int d = 0; d < kAxes; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    euler.dtOverH[d] = task.dt() * task.inverseSpacing()[d];
    if (p.inflow[2 * axis] && patch.lo[d] == domain.lo[d]) euler.lowInflow[d] = domain.lo[d];
    if (p.inflow[2 * axis + 1] && patch.hi[d] == domain.hi[d]) euler.highInflow[d] = domain.hi[d] - 1;
  }
  return euler;
}

}  // namespace tessera
