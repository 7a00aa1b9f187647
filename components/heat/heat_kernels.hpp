#pragma once

#include "components/reflux/reflux.hpp"
#include "grid/generation.hpp"
#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

struct HeatLabels {
  Label<double, Cell> temperature;
  Label<double, Cell> conductivity;   ///< used where k varies
  Label<double, Cell> source;         ///< used where the source varies
  Label<double, Cell> rightHandSide;  ///< of implicit schemes
};

/// The numbers of the deck; `...Varies` says that a label takes the place of the number.
struct HeatParams {
  double conductivity = 1.0;
  double source = 0.0;
  bool conductivityVaries = false;
  bool sourceVaries = false;
};

/// One step of a patch, T' = T + dt (div(k grad T) + source).
TaskBody advanceHeat(const HeatLabels& labels, const HeatParams& params);

/// The right-hand side of a step that is solved at the part `part` of its length: T + part dt source.
TaskBody rightHandSideOfHeat(const HeatLabels& labels, const HeatParams& params, double part);

/// The flux of Old through all faces of a patch, - k grad T, as `advanceHeat` takes it.
TaskBody fluxOfHeat(const HeatLabels& labels, const HeatParams& params, const PassedLabels<double>& passed);

/// Contributes the largest time step that keeps the explicit scheme stable, 1 / (2 k sum(1/h^2)), to
/// `stableDt`; `conductivity` is the generation that is read where k varies.
TaskBody stableHeatDt(const HeatLabels& labels, const HeatParams& params, ReductionLabel stableDt,
                      Generation conductivity);

}  // namespace tessera
