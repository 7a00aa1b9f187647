#pragma once

#include <array>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/error_norms.hpp"
#include "taskgraph/linear_system.hpp"

namespace tessera {

/// An elliptic problem, v . grad u - div(b grad u) = f, solved anew in each step for the time at its end.
/// Equations, conditions and parameters: docs/components/poisson.md.
///
/// Variables: `potential`; `poisson.source` and, where b is an expression, `poisson.coefficient_x`, `_y`,
/// `_z` (within a step) and `poisson.coefficient` (written once, carried from step to step); within a step
/// `poisson.velocity_x`, `_y`, `_z` where v is given, and `poisson.open` where cells are solid.
class Poisson final : public Component {
 public:
  std::string name() const override { return "poisson"; }
  std::string summary() const override { return "an elliptic problem, v . grad u - div(b grad u) = f"; }
  bool supportsLevels() const override { return true; }
  void declareParameters(ParameterTable& table) const override;
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override;
  void declareStep(StepPlan& step) const override;
  std::vector<StepProgram> stepPrograms() const override;
  void declareDiagnostics(StepPlan& plan) const override { norms_.declareTasks(plan); }
  std::vector<Diagnostic> diagnostics() const override { return norms_.diagnostics(); }

 private:
  void configureFlow(const ParameterValues& values, ComponentSetup& setup);
  void configureSolid(const ParameterValues& values, ComponentSetup& setup);
  void declareStableDt(StepPlan& plan) const;
  void declareFlow(StepPlan& step) const;

  ReductionLabel stableDt_;
  LinearSystem system_;
  Label<double, Cell> coefficient_;  ///< used where b varies
  bool coefficientVaries_ = false;
  Expression initial_;
  Expression source_;
  Expression coefficientValue_;
  std::array<Expression, kAxes> velocity_;
  Expression open_;  ///< 0 in solid cells, else 1
  DeckLocation coefficientWhere_;
  ErrorNorms norms_;
};

}  // namespace tessera
