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
  ReductionLabel mass;  ///< where the density varies
  ReductionLabel leastDensity;
  ReductionLabel largestDensity;
  std::array<ReductionLabel, kFlowScalars> carried;  ///< times density
  std::array<ReductionLabel, kFlowScalars> least;
  std::array<ReductionLabel, kFlowScalars> largest;
};

/// Writes the mass through all faces, from `stage.from`.
TaskBody fluxOfMass(const FlowParams& params, const FlowStage& stage);

/// Writes the density of `stage.to`: the mass of a cell less what leaves it. `state`: of Old.
TaskBody advanceDensity(const FlowParams& params, const FlowState& state, const FlowStage& stage);

/// Writes what is carried, at position `which`, of `stage.to`.
TaskBody advanceCarried(const FlowParams& params, const FlowState& state, const FlowStage& stage,
                        std::size_t which);

/// Writes 1 over the density on faces, of `stage.to`.
TaskBody lightnessOfFaces(const FlowParams& params, const FlowStage& stage);

/// Writes the divergence that the velocity of `stage.to` has to have.
TaskBody expansionOfFlow(const FlowParams& params, const FlowStage& stage);

/// Writes the density that follows from what is carried, New of `state`.
TaskBody densityOfState(const FlowParams& params, const FlowState& state);

/// Writes the velocity of `stage.to` before its projection: all forces but that of pressure. `state`: of Old.
/// `entering`: its condition beyond a side holds what passes that side, where the deck says so.
TaskBody predictVelocity(const FlowParams& params, const FlowState& state, const FlowStage& stage,
                         Label<double, Cell> entering);

/// Writes the right-hand side of the equation for the pressure: what the velocity of `stage.to` lacks of the
/// divergence that it shall have, over the time of the stage.
TaskBody divergenceToRemove(const FlowParams& params, const FlowStage& stage,
                            Label<double, Cell> rightHandSide);

/// Spreads what a closed domain has no room for evenly over it: its pressure rises or falls as a whole.
/// Changes the right-hand side and the divergence that the velocity has to have.
TaskBody keepVolume(const FlowParams& params, const FlowStage& stage, Label<double, Cell> rightHandSide);

/// Takes the gradient of the pressure from the velocity of `stage.to`.
TaskBody projectVelocity(const FlowParams& params, const FlowStage& stage, Label<double, Cell> pressure);

/// Contributes the largest stable step to `stableDt`, from New of `state`.
TaskBody stableFlowDt(const FlowParams& params, const FlowState& state, ReductionLabel stableDt);

/// Contributes to `totals`, from Old of `state`.
TaskBody totalsOfFlow(const FlowParams& params, const FlowState& state, const FlowTotals& totals);

}  // namespace tessera
