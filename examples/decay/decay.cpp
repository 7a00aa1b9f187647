#include "components/component.hpp"
#include "components/error_norms.hpp"
#include "components/expression_fill.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/tessera/command_line.hpp"

using namespace tessera;

/// Radioactive decay, du/dt = -rate u, by forward Euler.
class Decay final : public Component {
 public:
  std::string name() const override { return "decay"; }
  std::string summary() const override { return "decay in every cell, du/dt = -rate u"; }

  void declareParameters(ParameterTable& table) const override {
    table.real("rate").unit("1/time").doc("share that decays per time").above(0).required();
    table.expression("initial", {"x", "y", "z"}).doc("amount at the start").required();
    ErrorNorms::declareParameters(table);
  }

  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    rate_ = values.real("rate");
    initial_ = values.expression("initial");
    amount_ = setup.labels.variable<double, Cell>("amount");
    norms_ = ErrorNorms("Decay", values, setup, amount_);
  }

  void declareInitial(StepPlan& plan) const override {
    plan.task("Decay::initial").writes(amount_).runs<Cpu>([u = amount_, f = initial_](const auto& task) {
      fill(task, u, f, task.time());
    });
  }

  void declareStep(StepPlan& step) const override {
    step.task("Decay::advance")
        .reads(Old, amount_)
        .writes(amount_)
        .runs<Cpu>([u = amount_, rate = rate_](const auto& task) {
          const auto old = task.read(Old, u);
          const auto next = task.write(u);
          const double kept = 1.0 - task.dt() * rate;
          forEach(task.exec(), "Decay::advance", task.interior(), [=](Index x) { next(x) = kept * old(x); });
        });
  }

  void declareDiagnostics(StepPlan& plan) const override { norms_.declareTasks(plan); }
  std::vector<Diagnostic> diagnostics() const override { return norms_.diagnostics(); }

 private:
  Label<double, Cell> amount_;
  double rate_ = 0.0;
  Expression initial_;
  ErrorNorms norms_;
};

int main(int argc, char** argv) {
  ComponentRegistry components = builtInComponents();
  components.add<Decay>();
  return runTessera(argc, argv, components);
}
