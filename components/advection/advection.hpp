#pragma once

#include <array>
#include <string>
#include <vector>

#include "components/advection/advection_kernels.hpp"
#include "components/component.hpp"
#include "components/error_norms.hpp"

namespace tessera {

/// Transport of a concentration, q_t + div(u q) = 0, with a velocity given by the deck: first-order upwind,
/// or piecewise linear with a limiter and two Runge-Kutta stages. Equations, limits and parameters:
/// docs/components/advection.md.
///
/// Variables: `concentration`; `advection.stage` (within a step, "plm" only); `advection.velocity_x`, `_y`,
/// `_z` on the faces where the velocity is an expression (written once, or at the end of each step where it
/// depends on time); on several levels `advection.passed_x`, `_y`, `_z`, what has passed the faces (within a
/// step).
class Advection final : public Component {
 public:
  std::string name() const override { return "advection"; }
  std::string summary() const override { return "transport by a given velocity, q_t + div(u q) = 0"; }
  bool supportsLevels() const override { return true; }
  bool followsMesh() const override { return true; }
  bool supportsSubcycling() const override { return true; }
  void declareParameters(ParameterTable& table) const override;
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override;
  void declareStep(StepPlan& step) const override;
  void declareRegrid(StepPlan& plan) const override;
  void declareDiagnostics(StepPlan& plan) const override { norms_.declareTasks(plan); }
  std::vector<Diagnostic> diagnostics() const override { return norms_.diagnostics(); }

 private:
  void configureVelocity(const ParameterValues& values, ComponentSetup& setup);
  void declareVelocity(StepPlan& plan) const;
  void declareFluxes(StepPlan& step, Generation endOfStep) const;
  void declareStableDt(StepPlan& plan, Generation velocity) const;
  void readVelocity(TaskBuilder& task, Generation generation) const;

  AdvectionLabels labels_;
  AdvectionParams params_;
  ReductionLabel stableDt_;
  int levels_ = 1;
  bool averagesStages_ = false;
  bool keepsFluxes_ = false;
  PassedLabels<double> passed_;
  Expression initial_;
  std::array<Expression, kAxes> velocity_;
  bool velocityMoves_ = false;  ///< depends on time
  ErrorNorms norms_;
};

}  // namespace tessera
