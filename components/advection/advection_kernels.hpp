#pragma once

#include <array>
#include <cstddef>

#include "components/reflux/reflux.hpp"
#include "components/stencils/slopes.hpp"
#include "core/geometry/index.hpp"
#include "grid/generation.hpp"
#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

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

/// One forward Euler step of a patch, target = Euler(Old): all of an upwind step, the first stage of the
/// other scheme. Reads the velocity of Old.
TaskBody advanceAdvection(const AdvectionLabels& labels, const AdvectionParams& params,
                          Label<double, Cell> target);

/// New = (Old + Euler(stage)) / 2: the second stage (SSP-RK2), for any limiter but Flat. `velocity`: the
/// generation whose velocity is that of the end of the step.
TaskBody correctAdvection(const AdvectionLabels& labels, const AdvectionParams& params, Generation velocity);

/// What passes the faces of a patch in a stage, `part` of its flux: written in the first one, which reads the
/// velocity and the concentration of Old; added in the other one, which reads New of the stage.
TaskBody fluxOfAdvection(const AdvectionLabels& labels, const AdvectionParams& params,
                         const PassedLabels<double>& passed, double part);
TaskBody fluxOfCorrection(const AdvectionLabels& labels, const AdvectionParams& params,
                          const PassedLabels<double>& passed, double part, Generation velocity);

/// Contributes the largest time step for which no cell gives or takes more than it has, 1 /
/// max(sum_axes(u/h)), to `stableDt`, from the velocity of the generation `velocity`.
TaskBody stableAdvectionDt(const AdvectionLabels& labels, const AdvectionParams& params,
                           ReductionLabel stableDt, Generation velocity);

}  // namespace tessera
