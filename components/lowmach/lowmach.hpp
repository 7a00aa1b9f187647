#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "components/component.hpp"
#include "components/error_columns.hpp"
#include "components/lowmach/flow_settings.hpp"
#include "components/lowmach/levels/flow_levels.hpp"
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
  bool supportsLevels() const override { return true; }
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
  void configureModels(ComponentSetup& setup);
  void configureColumns(ComponentSetup& setup);
  FlowState makeState(ComponentSetup& setup, const std::string& prefix, double part);
  void declarePrediction(StepPlan& step, const Stage& stage) const;
  void declareDensity(StepPlan& step, const Stage& stage) const;
  void declareLightness(StepPlan& step, const Stage& stage) const;
  void readsModels(TaskBuilder& task, Generation eddies, const HaloClause& around) const;
  void declareCarried(StepPlan& step, const Stage& stage, std::size_t which) const;
  void declareMomentum(StepPlan& step, const Stage& stage) const;
  void declareDivergence(StepPlan& step, const Stage& stage) const;
  void declareForce(StepPlan& step, const Stage& stage) const;
  void declareCorrection(StepPlan& step, const Stage& stage) const;
  void declareSource(StepPlan& step, const Stage& stage, const std::string& name, Label<double, Cell> label,
                     const SourceSettings& source) const;
  void declareEddies(StepPlan& step) const;
  void declareViscosity(TaskBuilder task, Generation generation) const;
  void readsStrain(TaskBuilder& task, Generation generation) const;
  void declareInitialCarried(StepPlan& plan) const;
  void declareInitialSolids(StepPlan& plan) const;
  void declareStateNumbers(StepPlan& plan, const std::string& in) const;
  void declareStableDt(TaskBuilder task) const;
  bool isLast(const Stage& stage) const { return &stage == &stages_.back(); }

  FlowSettings settings_;
  FlowParams params_;
  FlowState state_;
  std::vector<Stage> stages_;
  FlowLevels levels_;
  LinearSystem system_;
  ReductionLabel stableDt_;
  FlowTotals totals_;
  std::map<std::string, std::string> unitOfRange_;  ///< by the name of the range
  ErrorColumns errors_;
  EddyLabels eddies_;
  std::vector<std::pair<StateNumber, Label<double, Cell>>> stateNumbers_;  ///< written beside the density
};

}  // namespace tessera
