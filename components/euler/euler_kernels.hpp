#pragma once

#include <array>
#include <cstdint>

#include "components/euler/ideal_gas.hpp"
#include "components/euler/riemann.hpp"
#include "components/slopes.hpp"
#include "core/geometry/index.hpp"
#include "grid/generation.hpp"
#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// Components of the conserved variable and of fluxes; passive scalars follow.
inline constexpr std::int32_t kMassComponent = 0;
inline constexpr std::int32_t kMomentumComponent = 1;  ///< of x; y and z follow
inline constexpr std::int32_t kEnergyComponent = 4;
inline constexpr std::int32_t kFirstScalar = 5;

using GasLabel = Label<Components<double>, Cell>;

struct EulerParams {
  RiemannSolver solver;
  Limiter limiter = Limiter::Mc;
  bool characteristic = false;
  std::array<bool, kAxes> active{};  ///< axes of more than one cell
  Real3 gravity;
  double leastDensity = 0.0;   ///< 0: no floor
  double leastPressure = 0.0;  ///< 0: no floor
  std::int32_t scalars = 0;
};

/// A stage of a Runge-Kutta method: New(to) = ofOld * Old(gas) + ofStep * (from + dt L(from)).
struct EulerStage {
  GasLabel from;
  Generation generation = Old;  ///< of `from`
  GasLabel to;
  double ofOld = 0.0;
  double ofStep = 1.0;
};

/// Of faces across each resolved axis.
struct EulerFluxLabels {
  Label<Components<double>, FaceX> x;
  Label<Components<double>, FaceY> y;
  Label<Components<double>, FaceZ> z;
};

/// A stage of a patch: fluxes from the cells two to either side of each face, in scratch fields of the task,
/// then what they make of the cells, with gravity and floors.
TaskBody stageOfEuler(const EulerParams& params, const EulerStage& stage, GasLabel gas,
                      const EulerFluxLabels& fluxes);

/// Contributes the largest stable time step, 1 / max(sum_axes((|u| + c)/h)), of New to `stableDt`.
TaskBody stableEulerDt(const EulerParams& params, GasLabel gas, ReductionLabel stableDt);

struct GasTotals {
  std::array<ReductionLabel, kFirstScalar> sums;  ///< of the components
  ReductionLabel leastDensity;
  ReductionLabel leastPressure;
  ReductionLabel largestMach;
};

/// Contributes integrals and extremes of Old.
TaskBody totalsOfEuler(const EulerParams& params, GasLabel gas, const GasTotals& totals);

}  // namespace tessera
