#pragma once

#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/diffusion/diffusivities.hpp"

namespace tessera {

/// Several quantities that diffuse side by side, u_t = D lap u, each with a D and with conditions of its own:
/// one variable with a component for each. Equations, limits and parameters: docs/components/diffusion.md.
///
/// Variable: `diffusion`; its components have the names of the deck.
class Diffusion final : public Component {
 public:
  std::string name() const override { return "diffusion"; }
  std::string summary() const override { return "several quantities that diffuse, u_t = D lap u"; }
  bool supportsLevels() const override { return true; }
  void declareParameters(ParameterTable& table) const override;
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override;
  void declareStep(StepPlan& step) const override;
  void declareDiagnostics(StepPlan& plan) const override;
  std::vector<Diagnostic> diagnostics() const override;

 private:
  void averageLevels(StepPlan& plan) const;
  void declareStableDt(StepPlan& plan) const;

  std::vector<ComponentInfo> infos_;
  std::vector<Expression> initial_;  ///< by quantity
  Diffusivities diffusivities_{};
  DiffusionTotals totals_{};
  double largest_ = 0.0;
  Label<Components<double>, Cell> quantities_;
  ReductionLabel stableDt_;
  int levels_ = 1;
};

}  // namespace tessera
