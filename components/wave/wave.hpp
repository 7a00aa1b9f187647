#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "components/component.hpp"
#include "components/error_norms.hpp"
#include "components/reflux/reflux.hpp"

namespace tessera {

/// The wave equation u_tt = c^2 lap u: second-order leapfrog in its kick-drift-kick form. Equations, limits
/// and parameters: docs/components/wave.md.
///
/// Variables: `displacement` (u) and `wave.velocity` (u_t), both at the end of the step; on several levels,
/// in a step, what has passed faces, `wave.drift_passed_x`, ... of displacement and `wave.kick_passed_x`, ...
/// of velocity.
class Wave final : public Component {
 public:
  std::string name() const override { return "wave"; }
  std::string summary() const override { return "the wave equation, u_tt = c^2 lap u"; }
  bool supportsLevels() const override { return true; }
  bool supportsSubcycling() const override { return true; }
  bool followsMesh() const override { return true; }
  void declareParameters(ParameterTable& table) const override;
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override;
  void declareStep(StepPlan& step) const override;
  void declareRegrid(StepPlan& plan) const override { declareStableDt(plan); }
  void declareDiagnostics(StepPlan& plan) const override;
  std::vector<Diagnostic> diagnostics() const override;

 private:
  void averageLevels(StepPlan& plan, Label<double, Cell> label, const char* name,
                     std::string_view of = "") const;
  void declareStableDt(StepPlan& plan) const;

  Label<double, Cell> displacement_;
  Label<double, Cell> velocity_;
  PassedLabels<double> passedInDrift_;
  PassedLabels<double> passedInKick_;
  bool keepsFluxes_ = false;
  bool subcycles_ = false;
  ReductionLabel stableDt_;
  ReductionLabel momentum_;
  int levels_ = 1;
  double speed_ = 1.0;
  Expression initial_;
  Expression initialVelocity_;
  ErrorNorms norms_;
};

}  // namespace tessera
