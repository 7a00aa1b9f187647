#pragma once

#include <array>
#include <optional>
#include <string>

#include "components/component.hpp"
#include "components/lowmach/flow_settings.hpp"
#include "components/lowmach/levels/level_kernels.hpp"
#include "components/lowmach/lowmach_kernels.hpp"

namespace tessera {

/// What `lowmach` declares where levels of the mesh meet, so that what leaves the one enters the other and
/// every cell has the divergence that it shall have. On one level it declares nothing.
///
/// Numbers on faces, velocities and mass, are means of the finer ones wherever these lie, before anything
/// follows from them; what mass carries, and what spreads, coarse cells take from the finer faces after.
class FlowLevels {
 public:
  FlowLevels() = default;
  FlowLevels(ComponentSetup& setup, const FlowParams& params, const EddyLabels& eddies,
             const FlowSettings& settings);

  bool areSeveral() const { return count_ > 1; }
  /// Whether density and what is carried have a plan of their own in each stage: halos of a later plan then
  /// lie on what coarse cells have got from finer ones.
  bool carriesApart() const { return areSeveral() && params_.densityVaries; }
  /// The plan of what is carried, in the stage of that number.
  std::string carryPlan(const std::string& number) const {
    return (carriesApart() ? "lowmach.carry_" : "lowmach.predict_") + number;
  }

  /// How the variables of a state go on beyond a level.
  void prolong(LabelTable& labels, const FlowState& state) const;

  /// Which faces are open and which cells have fluid, under finer ones, New at the start: after the tasks
  /// `open` and `fluid` that say so on each level.
  void declareSolids(StepPlan& plan, const std::string& open, const std::string& fluid) const;
  /// Cells and faces under finer ones, New at the start.
  void declareInitial(StepPlan& plan, const FlowState& state) const;
  /// Of the mass through faces, after the task that writes it.
  void declareFlux(StepPlan& step, const std::string& number) const;
  /// Of the density of a stage.
  void declareDensity(StepPlan& step, const FlowStage& stage, const std::string& number) const;
  /// Of what is carried at position `which`, after the task `carry`.
  void declareCarried(StepPlan& step, const FlowStage& stage, std::size_t which, const std::string& number,
                      const std::string& carry) const;
  /// Of the velocity that a stage predicts.
  void declarePredicted(StepPlan& step, const FlowStage& stage, const std::string& number) const;
  /// Of the velocity of a stage, in a plan, after the tasks `coarsest` of level 0 and `finer` of the others.
  void declareProjected(StepPlan& step, const FlowStage& stage, const std::string& plan,
                        const std::string& coarsest, const std::string& finer) const;
  /// Of the divergence that the velocity has to have, after the task `of`.
  void declareExpansion(StepPlan& step, const FlowStage& stage, const std::string& number,
                        const std::string& of) const;
  /// What the pressure beyond the end of a level depends on.
  void readsFluidAround(TaskBuilder& task) const;

 private:
  void readsModels(TaskBuilder& task, Generation generation) const;
  void readsFluid(TaskBuilder& task) const;

  int count_ = 1;
  bool refluxes_ = false;
  FlowParams params_;
  std::array<std::string, kFlowScalars> names_;  ///< of what is carried
  std::array<CarriedFaces, kFlowScalars> faces_;
  std::optional<Prolongation> prolongation_;
};

}  // namespace tessera
