#include "reactions.hpp"

#include <memory>

#include "components/component.hpp"
#include "components/error_norms.hpp"
#include "components/expression_fill.hpp"
#include "react_row.hpp"
#include "scheduler/engine_step/runs_engine.hpp"
#include "tools/tessera/command_line.hpp"

using namespace tessera;

/// Reactions whose cost differs from cell to cell: rows of cells are tasks of an engine.
class Reactions final : public Component {
 public:
  std::string name() const override { return "reactions"; }
  std::string summary() const override { return "du/dt = -rate u in substeps, by a task engine"; }

  void declareParameters(ParameterTable& table) const override {
    table.real("rate").unit("1/time").doc("share that reacts per time").above(0).required();
    table.integer("workers")
        .doc("threads of the engine; 0: none, a loop of the step's own")
        .atLeast(0)
        .required();
    table.expression("initial", {"x", "y", "z"}).doc("amount at the start").required();
    ErrorNorms::declareParameters(table);
  }

  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    rate_ = values.real("rate");
    initial_ = values.expression("initial");
    amount_ = setup.labels.variable<double, Cell>("amount");
    norms_ = ErrorNorms("Reactions", values, setup, amount_);
    const auto workers = static_cast<std::int32_t>(values.integer("workers"));
    if (workers == 0) return;
    engine::EngineOptions options;
    options.threads = workers;
    engine_ = std::make_shared<engine::Engine>(reactionsProgram(), options);
  }

  void declareInitial(StepPlan& plan) const override {
    plan.task("Reactions::initial").writes(amount_).runs<Cpu>([u = amount_, f = initial_](const auto& task) {
      fill(task, u, f, task.time());
    });
  }

  void declareStep(StepPlan& step) const override {
    TaskBuilder advance = step.task("Reactions::advance");
    advance.reads(Old, amount_).writes(amount_);
    if (engine_) {
      advance.runs<engine::Engine>(
          engine_, [u = amount_, rate = rate_](const auto& task, engine::EngineBatch& batch) {
            forEachRow(task, u, [&](const double* old, double* next, std::size_t cells) {
              batch.add<ReactRow>({batch.input(std::span(old, cells)), batch.output(std::span(next, cells)),
                                   rate * task.dt(), static_cast<std::int64_t>(cells)});
            });
          });
    } else {
      advance.runs<Cpu>([u = amount_, rate = rate_](const auto& task) {
        const auto old = task.read(Old, u);
        const auto next = task.write(u);
        const double rateTimesDt = rate * task.dt();
        forEach(task.exec(), "Reactions::advance", task.interior(), [=](Index x) {
          const auto substeps = ReactRow::substepsOf(old(x));
          double value = old(x);
          for (std::int64_t n = 0; n < substeps; ++n)
            value *= 1.0 - rateTimesDt / static_cast<double>(substeps);
          next(x) = value;
        });
      });
    }
  }

  void declareDiagnostics(StepPlan& plan) const override { norms_.declareTasks(plan); }
  std::vector<Diagnostic> diagnostics() const override { return norms_.diagnostics(); }

 private:
  /// Calls `visit(old, next, cells)` for the rows of a patch along x, which lie in one piece of memory each.
  template <class Task, class Visit>
  static void forEachRow(const Task& task, Label<double, Cell> u, const Visit& visit) {
    const auto old = task.read(Old, u);
    const auto next = task.write(u);
    const Box box = task.interior();
    const auto cells = static_cast<std::size_t>(box.hi.i - box.lo.i);
    for (Index x = box.lo; x.k < box.hi.k; ++x.k) {
      for (x.j = box.lo.j; x.j < box.hi.j; ++x.j) visit(&old(x), &next(x), cells);
    }
  }

  Label<double, Cell> amount_;
  double rate_ = 0.0;
  Expression initial_;
  ErrorNorms norms_;
  std::shared_ptr<engine::Engine> engine_;
};

int main(int argc, char** argv) {
  ComponentRegistry components = builtInComponents();
  components.add<Reactions>();
  return runTessera(argc, argv, components);
}
