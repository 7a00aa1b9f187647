#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/rmcrt/number_range.hpp"
#include "components/rmcrt/rmcrt_kernels.hpp"

namespace tessera {

/// Radiation of a grey medium between grey walls by reverse Monte Carlo ray tracing: rays are followed
/// backwards from every cell, through the fine cells around its patch and then through the whole of the
/// coarsest level. Equations, parameters and exact answers: docs/components/rmcrt.md.
///
/// Variables: `rmcrt.divQ`, the power that leaves a unit of volume as radiation (negative: it takes up more
/// than it sends), and `rmcrt.flux_x`, `_y`, `_z`, net fluxes on walls along the axes; both are carried over
/// steps without radiation, as is `rmcrt.incident`, what arrives from all directions, where the deck asks for
/// it, and `rmcrt.power_BOX`, what leaves a box. `rmcrt.medium` is what rays read (within a step, or kept
/// where there are radiometers).
class Rmcrt final : public Component {
 public:
  std::string name() const override { return "rmcrt"; }
  std::string summary() const override { return "thermal radiation by reverse Monte Carlo ray tracing"; }
  bool supportsLevels() const override { return true; }
  void declareParameters(ParameterTable& table) const override;
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override;
  void declareStep(StepPlan& step) const override;
  std::vector<OptionalPart> stepParts() const override;
  void declareDiagnostics(StepPlan& plan) const override;
  std::vector<Diagnostic> diagnostics() const override;

 private:
  /// An expression of the deck that varies, and the variable that it is written to.
  struct Given {
    std::string name;
    Label<double, Cell> label;
    Expression values;
    NumberRange range{};
  };

  void configureMedium(const ParameterValues& values, ComponentSetup& setup);
  void configureSolids(const ParameterValues& values, ComponentSetup& setup);
  RadiationInput solidInput(const ParameterValues& values, const std::string& key, NumberRange range,
                            ComponentSetup& setup);
  void configureRays(const ParameterValues& values, ComponentSetup& setup);
  void configureWalls(ComponentSetup& setup);
  RadiationInput input(const ParameterValues& values, const std::string& key, ComponentSetup& setup);
  TaskBuilder radiationTask(StepPlan& step, std::string_view name) const;
  TaskBuilder declareInputs(TaskBuilder task) const;
  template <class Declare>
  void forEachKindOfLevel(Declare&& declare) const;
  /// Levels whose rays pass the same layers, and the names of tasks on them.
  struct KindOfLevel {
    std::string suffix;
    LevelSelection levels;
    LevelId number = 0;  ///< of the level; of several the coarsest
  };
  template <class Medium>
  void declareMediumReads(TaskBuilder& task, Generation generation, Label<Medium, Cell> medium,
                          const KindOfLevel& kind) const;
  template <class Medium>
  void declareRadiation(StepPlan& step, Label<Medium, Cell> medium) const;
  template <class Medium>
  void declareRadiometers(StepPlan& plan, Label<Medium, Cell> medium) const;
  template <class Declare>
  void forEachWork(Declare&& declare) const;
  template <class Medium>
  void declareTrace(StepPlan& step, Label<Medium, Cell> medium, const KindOfLevel& kind,
                    const std::string& name, const RayWork& work) const;
  template <class Medium>
  void declareSum(StepPlan& step, Label<Medium, Cell> medium, const KindOfLevel& kind) const;
  bool hasNoResults() const;
  void declareAverage(StepPlan& step, std::string_view name, Label<double, Cell> label) const;

  MediumParams medium_;
  RayParams rays_;
  RadiationLabels labels_;
  RadiationTotals totals_;
  std::vector<Radiometer> radiometers_;
  std::vector<Given> given_;
  Cadence every_;
  int levels_ = 1;
  int shares_ = 1;  ///< tasks that follow the rays of the cells of a patch
};

}  // namespace tessera
