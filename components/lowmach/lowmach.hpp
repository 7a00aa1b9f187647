#pragma once

#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/lowmach/flow_errors.hpp"
#include "components/lowmach/flow_settings.hpp"
#include "components/lowmach/lowmach_kernels.hpp"
#include "taskgraph/linear_system.hpp"

namespace tessera {

/// Flow at low Mach numbers: the pressure keeps the divergence of the velocity at what it has to be, and
/// sound is left out. Staggered mesh, Runge-Kutta with a projection in each stage.
/// Equations, method, variables and parameters: docs/components/lowmach.md.
class Lowmach final : public Component {
 public:
  std::string name() const override { return "lowmach"; }
  std::string summary() const override {
    return "flow at low Mach numbers, of fluids that mix and are heated";
  }
  void declareParameters(ParameterTable& table) const override { declareFlowSettings(table); }
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override;
  void declareStep(StepPlan& step) const override;
  std::vector<StepProgram> stepPrograms() const override;
  void declareDiagnostics(StepPlan& plan) const override;
  std::vector<Diagnostic> diagnostics() const override;

 private:
  /// A stage, with what it has besides its states.
  struct Stage {
    FlowStage flow;
    double begin = 0.0;  ///< its begin and its end, as parts of the step
    double end = 1.0;
    Label<double, Cell> entering;
    std::string number;  ///< "1"
  };

  void configureStages(ComponentSetup& setup);
  void configurePressure(ComponentSetup& setup);
  void configureColumns(ComponentSetup& setup);
  FlowState makeState(ComponentSetup& setup, const std::string& prefix, double part);
  void declarePrediction(StepPlan& step, const Stage& stage) const;
  void declareDensity(StepPlan& step, const Stage& stage) const;
  void declareCarried(StepPlan& step, const Stage& stage, std::size_t which) const;
  void declareMomentum(StepPlan& step, const Stage& stage) const;
  void declareDivergence(StepPlan& step, const Stage& stage) const;
  void declareForce(StepPlan& step, const Stage& stage) const;
  void declareCorrection(StepPlan& step, const Stage& stage) const;
  void declareInitialCarried(StepPlan& plan) const;
  void declareStableDt(TaskBuilder task) const;
  bool isLast(const Stage& stage) const { return &stage == &stages_.back(); }

  FlowSettings settings_;
  FlowParams params_;
  FlowState state_;
  std::vector<Stage> stages_;
  LinearSystem system_;
  ReductionLabel stableDt_;
  FlowTotals totals_;
  FlowErrors errors_;
};

}  // namespace tessera
