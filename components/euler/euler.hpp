#pragma once

#include <optional>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/euler/euler_kernels.hpp"

namespace tessera {

/// Flow of an ideal gas without friction, U_t + div F(U) = 0, by an unsplit finite-volume method of second
/// order. Equations, method and parameters: docs/components/euler.md.
///
/// Sources of energy may come from other components.
///
/// Variables: `gas` (density, momentum, total energy and passive scalars, means of cells); where there are
/// floors `euler.floored`, how often each cell was set to one; `euler.solid` where there are solids;
/// `euler.temperature` where the deck has a gas constant; within a step the Runge-Kutta stages
/// `euler.stage_1`, `euler.stage_2` and the fluxes `euler.flux_x`, `_y`, `_z` on faces; on several levels
/// `euler.passed_x`, `_y`, `_z`, what has passed the faces.
class Euler final : public Component {
 public:
  std::string name() const override { return "euler"; }
  std::string summary() const override { return "compressible flow of an ideal gas, U_t + div F(U) = 0"; }
  bool supportsLevels() const override { return true; }
  bool followsMesh() const override { return true; }
  bool supportsSubcycling() const override { return true; }
  void declareParameters(ParameterTable& table) const override;
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override;
  void declareStep(StepPlan& step) const override;
  void declareRegrid(StepPlan& plan) const override;
  void declareDiagnostics(StepPlan& plan) const override;
  std::vector<Diagnostic> diagnostics() const override;
  std::vector<StepProgram> stepPrograms() const override;

 private:
  void configureMethod(const ParameterValues& values, const ComponentSetup& setup);
  void configureVariables(const ParameterValues& values, ComponentSetup& setup);
  void configureLevels(ComponentSetup& setup, const std::vector<ComponentInfo>& infos);
  void declareStage(StepPlan& step, int number, const EulerStage& stage) const;
  void declareSolids(StepPlan& plan) const;
  void declareTemperature(StepPlan& plan) const;
  void declareStableDt(StepPlan& plan, Generation solids) const;

  EulerParams params_;
  bool characteristic_ = false;
  GasLabel gas_;
  std::vector<AddedSource> sources_;  ///< of energy
  std::optional<Label<double, Cell>> temperature_;
  double gasConstant_ = 0.0;
  std::vector<GasLabel> stages_;
  EulerFluxLabels fluxes_;
  PassedLabels<Components<double>> passed_;
  ReductionLabel stableDt_;
  int levels_ = 1;
  bool averagesStages_ = false;
  GasTotals totals_;
  EulerNotes notes_;
  std::vector<Expression> initial_;  ///< of each component
  std::optional<Expression> solid_;
  int points_ = 2;  ///< of the mean of a cell, along each axis
};

}  // namespace tessera
