#pragma once

#include <string>
#include <vector>

#include "components/component.hpp"

/// Radioactive decay, du/dt = -rate u, by forward Euler, on GPUs too. Variable: `amount`; column of the
/// history: `decay.most`, the largest amount of a cell.
class Decay final : public tessera::Component {
 public:
  std::string name() const override { return "decay"; }
  std::string summary() const override { return "decay in every cell, du/dt = -rate u"; }
  void declareParameters(tessera::ParameterTable& table) const override;
  void configure(const tessera::ParameterValues& values, tessera::ComponentSetup& setup) override;
  void declareInitial(tessera::StepPlan& plan) const override;
  void declareStep(tessera::StepPlan& step) const override;
  void declareDiagnostics(tessera::StepPlan& plan) const override;
  std::vector<tessera::Diagnostic> diagnostics() const override { return {{"decay.most", most_, {}}}; }

 private:
  tessera::Label<double, tessera::Cell> amount_;
  tessera::ReductionLabel most_;
  double rate_ = 0.0;
  tessera::Expression initial_;
};
