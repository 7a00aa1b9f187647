#include "tests/components/cut_component.hpp"

#include <utility>

namespace tessera::test {
namespace {

class CutComponent final : public Component {
 public:
  CutComponent(std::unique_ptr<Component> whole, std::uint64_t lines)
      : whole_(std::move(whole)), lines_(lines) {}

  std::string name() const override { return whole_->name(); }
  std::string summary() const override { return whole_->summary(); }
  bool supportsLevels() const override { return whole_->supportsLevels(); }
  bool followsMesh() const override { return whole_->followsMesh(); }
  void declareParameters(ParameterTable& table) const override { whole_->declareParameters(table); }
  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    whole_->configure(values, setup);
  }
  void declareInitial(StepPlan& plan) const override { whole_->declareInitial(plan); }
  /// A step that is a program already is left as it is.
  void declareStep(StepPlan& plan) const override {
    if (!whole_->stepPrograms().empty()) return whole_->declareStep(plan);
    StepPlan step("step");
    whole_->declareStep(step);
    items_ = 1;
    std::uint64_t line = 1;
    bool isFirst = true;
    for (TaskDeclaration task : step.tasks()) {
      if (!isFirst && (lines_ & line) != 0) ++items_;
      if (!isFirst) line <<= 1;
      isFirst = false;
      task.plans = {planName(items_ - 1)};
      plan.add(task);
    }
  }
  std::vector<StepProgram> stepPrograms() const override {
    if (!whole_->stepPrograms().empty()) return whole_->stepPrograms();
    StepProgram program("step");
    for (int item = 0; item < items_; ++item) program.run(planName(item));
    return {program};
  }
  void declareRegrid(StepPlan& plan) const override { whole_->declareRegrid(plan); }
  void declareDiagnostics(StepPlan& plan) const override { whole_->declareDiagnostics(plan); }
  std::vector<Diagnostic> diagnostics() const override { return whole_->diagnostics(); }

 private:
  std::string planName(int item) const { return whole_->name() + " item " + std::to_string(item); }

  std::unique_ptr<Component> whole_;
  std::uint64_t lines_;
  mutable int items_ = 1;
};

}  // namespace

ComponentRegistry cutComponents(std::uint64_t lines) {
  const ComponentRegistry whole = builtInComponents();
  ComponentRegistry cut;
  for (const std::string& name : whole.names()) {
    cut.add([name, lines] { return std::make_unique<CutComponent>(builtInComponents().make(name), lines); });
  }
  return cut;
}

}  // namespace tessera::test
