#pragma once

#include <array>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/lowmach/flow_boundaries.hpp"
#include "components/lowmach/flow_errors.hpp"
#include "components/lowmach/lowmach_kernels.hpp"
#include "taskgraph/linear_system.hpp"

namespace tessera {

/// Flow at low Mach numbers: the pressure keeps the divergence of the velocity at what it has to be, and
/// sound is left out. Staggered mesh, Runge-Kutta with a projection in each stage.
/// Equations, method and parameters: docs/components/lowmach.md.
///
/// Variables: `velocity_x`, `_y`, `_z` on faces and `pressure`; within a step the stages `lowmach.stage_1_x`
/// ... and `lowmach.right_hand_side`.
class Lowmach final : public Component {
 public:
  std::string name() const override { return "lowmach"; }
  std::string summary() const override {
    return "flow at low Mach numbers, with a pressure that keeps volume";
  }
  void declareParameters(ParameterTable& table) const override;
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override;
  void declareStep(StepPlan& step) const override;
  std::vector<StepProgram> stepPrograms() const override;
  void declareDiagnostics(StepPlan& plan) const override;
  std::vector<Diagnostic> diagnostics() const override;

 private:
  void configureMethod(const ParameterValues& values, const ComponentSetup& setup);
  void configureStages(const ParameterValues& values, ComponentSetup& setup);
  FlowState makeState(ComponentSetup& setup, const std::string& name);
  void declarePrediction(StepPlan& step, std::size_t stage) const;
  void declareCorrection(StepPlan& step, std::size_t stage) const;
  void declareForce(StepPlan& step, std::size_t stage, const std::string& plan) const;
  void declareStableDt(TaskBuilder task) const;

  FlowParams params_;
  FlowBoundaries boundaries_;
  FlowState state_;
  std::vector<FlowStage> stages_;
  std::vector<double> times_;                  ///< of the begin of each stage, as parts of the step
  std::vector<Label<double, Cell>> entering_;  ///< of each stage
  LinearSystem system_;
  ReductionLabel stableDt_;
  FlowTotals totals_;
  std::array<Expression, kAxes> initial_;
  std::array<Expression, kAxes> force_;
  FlowErrors errors_;
};

}  // namespace tessera
