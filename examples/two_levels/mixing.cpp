#include "components/component.hpp"
#include "components/error_norms.hpp"
#include "components/expression_fill.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/tessera/command_line.hpp"

using namespace tessera;

/// Gives every coarse cell under finer patches the mean of the finer cells over it.
template <class Task>
void averageDown(const Task& task, Label<double, Cell> label) {
  const auto fine = task.readFiner(New, label);
  const auto coarse = task.modify(label);
  const Extent ratio = task.refinementRatio();
  task.forEachCovered([&](const Box& covered) {
    forEach(task.exec(), "Mixing::average", covered, [=](Index x) {
      const Box over = refine({x, x + ex + ey + ez}, ratio);
      double sum = 0.0;
      for (std::int64_t k = over.lo.k; k < over.hi.k; ++k) {
        for (std::int64_t j = over.lo.j; j < over.hi.j; ++j) {
          for (std::int64_t i = over.lo.i; i < over.hi.i; ++i) sum += fine({i, j, k});
        }
      }
      coarse(x) = sum / static_cast<double>(ratio.i * ratio.j * ratio.k);
    });
  });
}

/// Each step a cell takes half of its value from its four neighbours in the plane, on every level.
class Mixing final : public Component {
 public:
  std::string name() const override { return "mixing"; }
  std::string summary() const override { return "cells become like their neighbours, on refined levels"; }
  bool supportsLevels() const override { return true; }

  void declareParameters(ParameterTable& table) const override {
    table.expression("initial", {"x", "y", "z"}).doc("value at the start").required();
    ErrorNorms::declareParameters(table);
  }

  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    initial_ = values.expression("initial");
    value_ = setup.labels.variable<double, Cell>("value");
    setup.labels.setBoundary(value_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    norms_ = ErrorNorms("Mixing", values, setup, value_);
  }

  void declareInitial(StepPlan& plan) const override {
    plan.task("Mixing::initial").writes(value_).runs<Cpu>([v = value_, f = initial_](const auto& task) {
      fill(task, v, f, task.time());
    });
  }

  void declareStep(StepPlan& step) const override {
    // On every level. What lies outside of a level's patches comes from the coarser level, with no more said.
    step.task("Mixing::advance")
        .reads(Old, value_, faceHalo(1))
        .writes(value_)
        .withoutDt()
        .runs<Cpu>([v = value_](const auto& task) {
          const auto old = task.read(Old, v);
          const auto next = task.write(v);
          forEach(task.exec(), "Mixing::advance", task.interior(), [=](Index x) {
            const double around = (old(x - ex) + old(x + ex)) + (old(x - ey) + old(x + ey));
            next(x) = 0.5 * old(x) + 0.125 * around;
          });
        });
    // After that, on each level that has a finer one: its covered cells follow the finer level.
    step.task("Mixing::average")
        .on(allButFinest())
        .reads(New, value_, fromFiner())
        .modifies(value_)
        .withoutDt()
        .runs<Cpu>([v = value_](const auto& task) { averageDown(task, v); });
  }

  void declareDiagnostics(StepPlan& plan) const override { norms_.declareTasks(plan); }
  std::vector<Diagnostic> diagnostics() const override { return norms_.diagnostics(); }

 private:
  Label<double, Cell> value_;
  Expression initial_;
  ErrorNorms norms_;
};

int main(int argc, char** argv) {
  ComponentRegistry components = builtInComponents();
  components.add<Mixing>();
  return runTessera(argc, argv, components);
}
