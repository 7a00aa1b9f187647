#pragma once

#include <string>
#include <vector>

#include "components/component.hpp"

namespace tessera {

/// No physics: every cell of every level gets a number made from its level, index and step, travels between
/// the levels in each way there is, and is compared with the number it has to be. Shows how a component reads
/// other levels, and proves a machine. What the numbers are: docs/components/levels.md.
///
/// Variables: `levels.stamp` (all levels; under finer patches the average of what is there), `levels.fill`
/// (all but the coarsest: the stamp of the cell below) and `levels.seen` (the finest: how many cells of level
/// 0 a task saw with a wrong value).
class Levels final : public Component {
 public:
  std::string name() const override { return "levels"; }
  std::string summary() const override { return "a check of data between levels; no physics"; }
  bool supportsLevels() const override { return true; }
  void declareParameters(ParameterTable& /*table*/) const override {}
  void configure(const ParameterValues& values, ComponentSetup& setup) override;
  void declareInitial(StepPlan& plan) const override { declareStamps(plan, 0); }
  void declareStep(StepPlan& step) const override { declareStamps(step, 1); }
  void declareDiagnostics(StepPlan& plan) const override;
  std::vector<Diagnostic> diagnostics() const override {
    return {{.name = "levels.wrong", .reduction = wrong_, .unit = "1"}};
  }

 private:
  void declareStamps(StepPlan& plan, std::int64_t ahead) const;

  Label<double, Cell> stamp_;
  Label<double, Cell> fill_;
  Label<double, Cell> seen_;
  ReductionLabel wrong_;
};

}  // namespace tessera
