#pragma once

#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/error_norms.hpp"
#include "components/heat/heat_kernels.hpp"

namespace tessera {

/// Heat conduction, T_t = div(k grad T) + source: central differences in space, forward Euler in time (FTCS).
/// Equations, limits and parameters: docs/components/heat.md.
///
/// Variables: `temperature`; `heat.conductivity` where k is an expression (written once, carried from step to
/// step); `heat.source` where the source is an expression (within a step).
class Heat final : public Component {
 public:
  std::string name() const override { return "heat"; }
  std::string summary() const override { return "explicit heat conduction, T_t = div(k grad T) + source"; }
  bool supportsLevels() const override { return true; }
  void declareParameters(ParameterTable& table) const override;
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override;
  void declareStep(StepPlan& step) const override;
  void declareDiagnostics(StepPlan& plan) const override { norms_.declareTasks(plan); }
  std::vector<Diagnostic> diagnostics() const override { return norms_.diagnostics(); }

 private:
  void averageLevels(StepPlan& plan) const;
  void declareStableDt(StepPlan& plan, Generation conductivity) const;

  HeatLabels labels_;
  HeatParams params_;
  ReductionLabel stableDt_;
  int levels_ = 1;
  Expression initial_;
  Expression conductivity_;
  Expression source_;
  std::vector<AddedSource> added_;
  DeckLocation conductivityWhere_;
  ErrorNorms norms_;
};

}  // namespace tessera
