#pragma once

#include <array>
#include <string>
#include <vector>

#include "components/lowmach/flow_labels.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// The least and the largest value of a variable.
struct FlowRange {
  std::string name;  ///< in columns
  Label<double, Cell> label;
  ReductionLabel least;
  ReductionLabel largest;
};

/// Sums and extrema of the history.
struct FlowTotals {
  ReductionLabel kineticEnergy;
  ReductionLabel divergence;  ///< the largest amount
  ReductionLabel speed;       ///< the largest component
  std::array<ReductionLabel, kAxes> momentum;
  ReductionLabel mass;  ///< where the density varies
  FlowRange density;
  std::array<ReductionLabel, kFlowScalars> carried;  ///< times density
  std::array<FlowRange, kFlowScalars> rangeOfCarried;
  std::vector<FlowRange> ranges;  ///< of what models give
};

/// Labels of the dynamic model, of a step: velocity and strain at cell centres.
struct EddyLabels {
  Label<Components<double>, Cell> velocity;  ///< along x, y, z
  Label<Components<double>, Cell> strain;    ///< xx, yy, zz, xy, xz, yz
  Label<Components<double>, Cell> germano;   ///< L M and M M
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

/// What the state relation gives.
enum class StateNumber { Density, Temperature, HeatCapacity, Absorption };

/// Writes to `label` what follows from what is carried, New of `state`.
TaskBody numberOfState(const FlowParams& params, const FlowState& state, StateNumber number,
                       Label<double, Cell> label);

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

/// Writes the viscosity of eddies by Smagorinsky's model, from the velocity of `state`; where it is that of
/// the initial state, the dynamic model is one with a constant as well.
TaskBody viscosityOfEddies(const FlowParams& params, Generation generation, const FlowState& state);

/// Writes the velocity and its strain at cell centres of `labels`, from Old of `state`.
TaskBody strainOfFlow(const FlowParams& params, const FlowState& state, const EddyLabels& labels);

/// Contributes what the constant of the dynamic model follows from, from New of `labels`.
TaskBody dynamicConstant(const FlowParams& params, const EddyLabels& labels);

/// Writes which faces are open, from New of the cells that hold fluid.
TaskBody openFacesOfSolids(const FlowParams& params);

/// Makes cells with fluid of New solid, of which no face of New is open.
TaskBody solidWhereShutIn(const FlowParams& params);

/// Makes the velocity of New 0 on faces that are closed.
TaskBody stopAtSolids(const FlowParams& params, const FlowFaces& velocity);

/// Contributes the largest stable step to `stableDt`, from New of `state`.
TaskBody stableFlowDt(const FlowParams& params, const FlowState& state, ReductionLabel stableDt);

/// Contributes to `totals`, from Old of `state`.
TaskBody totalsOfFlow(const FlowParams& params, const FlowState& state, const FlowTotals& totals);

}  // namespace tessera
