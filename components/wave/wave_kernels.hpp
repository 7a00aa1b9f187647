#pragma once

#include "components/reflux/reflux.hpp"
#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// The variables of the wave equation, both at the end of the step.
struct WaveLabels {
  Label<double, Cell> displacement;  ///< u
  Label<double, Cell> velocity;      ///< u_t
};

/// The first half of a step, u' = u + dt (v + dt/2 c^2 lap u): a kick and a drift. Needs halo(1) of u.
/// `speed`: c.
TaskBody driftWave(const WaveLabels& labels, double speed);

/// The second half, v' = v + dt/2 c^2 (lap u + lap u'): what is left of the first kick, and the second one.
/// Needs halo(1) of both u and u'.
TaskBody kickWave(const WaveLabels& labels, double speed);

/// What the first half of a step lets pass the faces, -dt/2 c^2 grad u. Needs halo(1) of u.
TaskBody driftFluxOfWave(Label<double, Cell> displacement, double speed, const PassedLabels<double>& passed);

/// What the second half lets pass them, -c^2/2 grad (u + u'). Needs halo(1) of both u and u'.
TaskBody kickFluxOfWave(Label<double, Cell> displacement, double speed, const PassedLabels<double>& passed);

/// Contributes the integral of Old of the velocity.
TaskBody momentumOfWave(Label<double, Cell> velocity, ReductionLabel momentum);

/// Contributes the largest stable step, 1 / (c sqrt(sum 1/h^2)), to `stableDt`; on a line h / c.
TaskBody stableWaveDt(ReductionLabel stableDt, double speed);

}  // namespace tessera
