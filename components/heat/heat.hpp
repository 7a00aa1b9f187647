#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "components/component.hpp"
#include "components/error_norms.hpp"
#include "components/heat/heat_kernels.hpp"
#include "components/sources/added_sources.hpp"
#include "taskgraph/linear_system.hpp"

namespace tessera {

/// Heat conduction, T_t = div(k grad T) + source: central differences in space; in time forward Euler (FTCS),
/// backward Euler or Crank-Nicolson.
/// Equations, limits and parameters: docs/components/heat.md.
///
/// Variables: `temperature`; `heat.conductivity` where k is an expression (written once, carried from step to
/// step); `heat.source` where the source is an expression (within a step); on several levels `heat.passed_x`,
/// `_y`, `_z`, the fluxes through the faces (within a step).
class Heat final : public Component {
 public:
  std::string name() const override { return "heat"; }
  std::string summary() const override { return "heat conduction, T_t = div(k grad T) + source"; }
  bool supportsLevels() const override { return true; }
  bool followsMesh() const override { return true; }
  bool supportsSubcycling() const override { return true; }
  void declareParameters(ParameterTable& table) const override;
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override;
  void declareStep(StepPlan& step) const override;
  void declareRegrid(StepPlan& plan) const override;
  std::vector<StepProgram> stepPrograms() const override;
  void declareDiagnostics(StepPlan& plan) const override { norms_.declareTasks(plan); }
  std::vector<Diagnostic> diagnostics() const override { return norms_.diagnostics(); }

 private:
  void configureImplicit(const ParameterValues& values, ComponentSetup& setup);
  void addSources(StepPlan& step) const;
  void declareImplicit(StepPlan& step) const;
  void declareFlux(StepPlan& step) const;
  void averageLevels(StepPlan& plan, std::string_view of) const;
  void declareConductivity(StepPlan& plan) const;
  void declareStableDt(StepPlan& plan, Generation conductivity) const;

  HeatLabels labels_;
  HeatParams params_;
  ReductionLabel stableDt_;
  int levels_ = 1;
  double implicitPart_ = 0.0;  ///< of a step, at which it is solved; 0: it is not
  LinearSystem system_;        ///< of implicit schemes
  bool keepsFluxes_ = false;
  PassedLabels<double> passed_;
  Expression initial_;
  Expression conductivity_;
  Expression source_;
  std::vector<AddedSource> added_;
  DeckLocation conductivityWhere_;
  ErrorNorms norms_;
};

}  // namespace tessera
