#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "components/euler/ideal_gas.hpp"
#include "components/euler/riemann.hpp"
#include "components/reflux/reflux.hpp"
#include "components/sources/added_sources.hpp"
#include "components/stencils/slopes.hpp"
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
  std::array<bool, kAxes> active{};  ///< axes of more than one cell
  Real3 gravity;
  double leastDensity = 0.0;   ///< 0: no floor
  double leastPressure = 0.0;  ///< 0: no floor
  std::int32_t scalars = 0;
  bool hasSolids = false;
  bool keepsFluxes = false;   ///< in `EulerStage::passed`
  Label<double, Cell> solid;  ///< not 0 in solid cells; used where there are some
};

/// A stage of a Runge-Kutta method: New(to) = ofOld * Old(gas) + ofStep * (from + dt L(from)).
struct EulerStage {
  GasLabel from;
  Generation generation = Old;  ///< of `from`
  GasLabel to;
  double ofOld = 0.0;
  double ofStep = 1.0;
  double ofFlux = 1.0;                        ///< how much the fluxes of this stage count in the whole step
  PassedLabels<Components<double>> passed{};  ///< used where fluxes are kept
  std::vector<AddedSource> sources{};         ///< of energy: Old of variables of other components
};

/// What a stage notes of the cells of its patch.
struct EulerNotes {
  /// Where there are floors: how often a cell was set to one, from the start of the run on.
  Label<double, Cell> floored;
  /// Where steps may be taken again: the first cell without a density or a pressure above 0, by its number
  /// (CellCodes); infinity where all have them.
  ReductionLabel failed;
  bool counts = false;
  bool watches = false;
};

/// Of faces across each resolved axis.
struct EulerFluxLabels {
  Label<Components<double>, FaceX> x;
  Label<Components<double>, FaceY> y;
  Label<Components<double>, FaceZ> z;
};

/// A stage of a patch: fluxes from the cells two to either side of each face, in scratch fields of the task,
/// then what they make of the cells, with gravity, sources and floors. Faces of solid cells are walls. A
/// failed cell keeps the gas that it had before the step, so that the step can go on until it is refused.
TaskBody stageOfEuler(const EulerParams& params, const EulerStage& stage, GasLabel gas,
                      const EulerFluxLabels& fluxes, const EulerNotes& notes);
/// The same with limits of characteristic variables.
TaskBody characteristicStageOfEuler(const EulerParams& params, const EulerStage& stage, GasLabel gas,
                                    const EulerFluxLabels& fluxes, const EulerNotes& notes);

/// Contributes the largest stable time step, 1 / max(sum_axes((|u| + c)/h)), of New to `stableDt`; 0 where a
/// cell has no density or no pressure above 0. On the host that is a NumericalError, which names the cell.
/// `solids`: the generation of the solid cells.
TaskBody stableEulerDt(const EulerParams& params, GasLabel gas, ReductionLabel stableDt, Generation solids);

/// New of `temperature` = pressure / (density * gasConstant), of New of the gas.
TaskBody temperatureOfGas(const EulerParams& params, GasLabel gas, Label<double, Cell> temperature,
                          double gasConstant);

struct GasTotals {
  std::array<ReductionLabel, kFirstScalar> sums;  ///< of the components
  ReductionLabel leastDensity;
  ReductionLabel leastPressure;
  ReductionLabel largestMach;
  ReductionLabel floored;
};

/// Contributes integrals and extremes of Old.
TaskBody totalsOfEuler(const EulerParams& params, GasLabel gas, const GasTotals& totals,
                       const EulerNotes& notes);

}  // namespace tessera
