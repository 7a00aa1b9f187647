#include "components/component.hpp"
#include "components/error_norms.hpp"
#include "components/expression_fill.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/tessera/command_line.hpp"

using namespace tessera;

/// The work on one patch: reads what the task has declared, writes what it has declared.
template <class Task>
void advance(const Task& task, Label<double, Cell> label, double rate) {
  const auto u = task.read(Old, label);
  const auto next = task.write(label);
  const double dt = task.dt();
  forEach(task.exec(), "@CLASS@::advance", task.interior(),
          [=] TESSERA_KERNEL(Index x) { next(x) = u(x) - dt * rate * u(x); });
}

/// du/dt = -rate u in every cell, by forward Euler: a start for a component of your own.
class @CLASS@ final : public Component {
 public:
  std::string name() const override { return "@NAME@"; }
  std::string summary() const override { return "du/dt = -rate u in every cell"; }

  /// The keys of [@NAME@]: `@NAME@ describe @NAME@` shows them, `@NAME@ check DECK` holds a deck against them.
  void declareParameters(ParameterTable& table) const override {
    table.real("rate").unit("1/time").doc("share that decays per time").above(0).required();
    table.expression("initial", {"x", "y", "z"}).doc("amount at the start").required();
    ErrorNorms::declareParameters(table);
  }

  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    rate_ = values.real("rate");
    initial_ = values.expression("initial");
    amount_ = setup.labels.variable<double, Cell>("@NAME@.amount");
    norms_ = ErrorNorms("@CLASS@", values, setup, amount_);
  }

  void declareInitial(StepPlan& plan) const override {
    plan.task("@CLASS@::initial").writes(amount_).runs<Cpu>([u = amount_, f = initial_](const auto& task) {
      fill(task, u, f, task.time());
    });
  }

  /// The tasks of a step. A task that reads neighbours says how many: .reads(Old, amount_, halo(1)).
  void declareStep(StepPlan& step) const override {
    step.task("@CLASS@::advance")
        .reads(Old, amount_)
        .writes(amount_)
        .runs<Cpu>([u = amount_, rate = rate_](const auto& task) { advance(task, u, rate); });
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
  ComponentRegistry registry = builtInComponents();
  registry.add<@CLASS@>();
  return runTessera(argc, argv, registry);
}
