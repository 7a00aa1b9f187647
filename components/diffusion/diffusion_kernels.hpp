#pragma once

#include "components/diffusion/diffusivities.hpp"
#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// One explicit step of u' = u + dt D lap u for each component, D its own. Needs faceHalo(1) of Old.
TaskBody advanceDiffusion(Label<Components<double>, Cell> quantities, const Diffusivities& diffusivities);

/// Contributes the largest stable step of the fastest quantity, 1 / (2 D sum 1/h^2).
TaskBody stableDiffusionDt(ReductionLabel stableDt, double largest);

/// Contributes the integral of each component over the patch to the Sum of its place in `totals`. Needs a
/// read of Old without a halo.
TaskBody diffusionTotals(Label<Components<double>, Cell> quantities, const DiffusionTotals& totals);

}  // namespace tessera
