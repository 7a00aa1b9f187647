#pragma once

#include <array>

#include "components/lowmach/flow_labels.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// Sums and extrema of the history.
struct FlowTotals {
  ReductionLabel kineticEnergy;
  ReductionLabel divergence;  ///< the largest amount
  ReductionLabel speed;       ///< the largest component
  std::array<ReductionLabel, kAxes> momentum;
};

/// Writes the velocity of `stage.to` before its projection: all forces but that of pressure. `state`: of Old.
/// `entering`: its condition beyond a side holds what passes that side, where the deck says so.
TaskBody predictVelocity(const FlowParams& params, const FlowState& state, const FlowStage& stage,
                         Label<double, Cell> entering);

/// Writes the right-hand side of the equation for the pressure: what the velocity of `stage.to` lacks of the
/// divergence that it shall have, over the time of the stage.
TaskBody divergenceToRemove(const FlowParams& params, const FlowStage& stage,
                            Label<double, Cell> rightHandSide);

/// Takes the gradient of the pressure from the velocity of `stage.to`.
TaskBody projectVelocity(const FlowParams& params, const FlowStage& stage, Label<double, Cell> pressure);

/// Contributes the largest stable step to `stableDt`, from New of `state`.
TaskBody stableFlowDt(const FlowParams& params, const FlowState& state, ReductionLabel stableDt);

/// Contributes to `totals`, from Old of `state`.
TaskBody totalsOfFlow(const FlowParams& params, const FlowState& state, const FlowTotals& totals);

}  // namespace tessera
