#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/step_program.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera::test {

/// A component whose steps are programs, in few whole numbers: `u` begins as 1 + i in cell i. Its tests give
/// it the program.
class Relaxing : public Component {
 public:
  /// What the component has declared, for whoever writes a program.
  struct Parts {
    Label<double, Cell> u;
    Label<double, Cell> times;  ///< the sum of begin times of the parts of steps, and of their lengths
    ReductionLabel sum;
    ReductionLabel cells;
    ReductionLabel largest;
    ReductionLabel calls;
    ReductionLabel length;
  };
  using MakePrograms = std::function<std::vector<StepProgram>(const Parts&)>;

  explicit Relaxing(MakePrograms programs) : programs_(std::move(programs)) {}

  std::string name() const override { return "relaxing"; }
  std::string summary() const override { return "steps in whole numbers"; }
  bool supportsLevels() const override { return true; }
  void declareParameters(ParameterTable&) const override {}
  void configure(const ParameterValues&, ComponentSetup& setup) override {
    parts_ = {setup.labels.variable<double, Cell>("u"),   setup.labels.variable<double, Cell>("times"),
              setup.labels.reduction("relaxing.sum"),     setup.labels.reduction("relaxing.cells"),
              setup.labels.reduction("relaxing.largest"), setup.labels.reduction("relaxing.calls"),
              setup.labels.reduction("relaxing.length")};
  }

  void declareInitial(StepPlan& plan) const override {
    plan.task("Relaxing::begin")
        .writes(parts_.u)
        .writes(parts_.times)
        .runs<Cpu>([p = parts_](const auto& task) {
          const auto u = task.write(p.u);
          const auto times = task.write(p.times);
          forEach(task.exec(), "begin", task.interior(), [=](Index x) {
            u(x) = 1.0 + static_cast<double>(x.i);
            times(x) = 0.0;
          });
        });
  }

  /// The tasks of the plans that the programs run.
  void declareStep(StepPlan& step) const override {
    StepPlan all("all");
    declareSums(all);
    declareChanges(all);
    declareTimes(all);
    for (const TaskDeclaration& task : all.tasks()) {
      if (runs(task.plans.front())) step.add(task);
    }
  }

  /// The programs that the tests give; the one called "step" is the usual step.
  std::vector<StepProgram> stepPrograms() const override { return programs_(parts_); }

  void declareDiagnostics(StepPlan& plan) const override {
    plan.task("Relaxing::show")
        .reads(Old, parts_.u)
        .reads(Old, parts_.times)
        .contributes(parts_.sum, Sum)
        .contributes(parts_.length, Max)
        .runs<Cpu>([p = parts_](const auto& task) {
          task.contribute(p.sum, sumOf(task, task.read(Old, p.u)));
          task.contribute(p.length, task.read(Old, p.times)(task.interior().lo));
        });
  }
  std::vector<Diagnostic> diagnostics() const override {
    return {{"u", parts_.sum, {}}, {"times", parts_.length, {}}};
  }

 private:
  bool runs(const std::string& plan) const {
    for (const StepProgram& program : programs_(parts_)) {
      for (const std::string& name : program.plans()) {
        if (name == plan) return true;
      }
    }
    return false;
  }
  template <class Task, class Field>
  static ExactSum sumOf(const Task& task, const Field& u) {
    ExactSum sum;
    const Box box = task.interior();
    for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) sum.add(u({i, box.lo.j, box.lo.k}));
    return sum;
  }

  /// "guess" leaves twice Old and finds the sum; "shift" takes the mean away, which it is told.
  void declareSums(StepPlan& step) const {
    step.task("Relaxing::guess")
        .in("guess")
        .reads(Old, parts_.u)
        .writes(parts_.u)
        .contributes(parts_.sum, Sum)
        .contributes(parts_.cells, Sum)
        .runs<Cpu>([p = parts_](const auto& task) {
          const auto old = task.read(Old, p.u);
          const auto u = task.write(p.u);
          forEach(task.exec(), "guess", task.interior(), [=](Index x) { u(x) = 2.0 * old(x); });
          ExactSum cells;
          cells.add(static_cast<double>(task.interior().volume()));
          ExactSum sum;
          const Box box = task.interior();
          for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) sum.add(2.0 * old({i, box.lo.j, box.lo.k}));
          task.contribute(p.sum, sum);
          task.contribute(p.cells, cells);
        });
    step.task("Relaxing::shift")
        .in("shift")
        .reads(parts_.sum)
        .reads(parts_.cells)
        .modifies(parts_.u)
        .runs<Cpu>([p = parts_](const auto& task) {
          const double mean = task.reduced(p.sum) / task.reduced(p.cells);
          const auto u = task.modify(p.u);
          forEach(task.exec(), "shift", task.interior(), [=](Index x) { u(x) = u(x) - mean; });
        });
  }

  /// "halve" halves New, "measure" reads it with a halo and finds the largest.
  void declareChanges(StepPlan& step) const {
    step.task("Relaxing::halve").in("halve").modifies(parts_.u).runs<Cpu>([p = parts_](const auto& task) {
      const auto u = task.modify(p.u);
      forEach(task.exec(), "halve", task.interior(), [=](Index x) { u(x) = 0.5 * u(x); });
    });
    step.task("Relaxing::measure")
        .in("measure")
        .reads(New, parts_.u)
        .contributes(parts_.largest, Max)
        .runs<Cpu>([p = parts_](const auto& task) {
          const auto u = task.read(New, p.u);
          double largest = u(task.interior().lo);
          const Box box = task.interior();
          for (std::int64_t i = box.lo.i; i < box.hi.i; ++i)
            largest = std::max(largest, u({i, box.lo.j, box.lo.k}));
          task.contribute(p.largest, largest);
        });
  }

  /// "clock" adds the time and length of its part of the step to Old, and finds the length.
  void declareTimes(StepPlan& step) const {
    step.task("Relaxing::clock")
        .in("clock")
        .reads(Old, parts_.times)
        .writes(parts_.times)
        .contributes(parts_.length, Max)
        .runs<Cpu>([p = parts_](const auto& task) {
          const auto old = task.read(Old, p.times);
          const auto times = task.write(p.times);
          const double more = 100.0 * task.time() + task.dt();
          forEach(task.exec(), "clock", task.interior(), [=](Index x) { times(x) = old(x) + more; });
          task.contribute(p.length, task.dt());
        });
  }

  MakePrograms programs_;
  Parts parts_;
};

/// Adds 1 to New u on all own cells, and counts its calls.
class AddOne final : public ProgramCall {
 public:
  explicit AddOne(Relaxing::Parts parts) : parts_(parts) {}
  void run(const CallContext& context) override {
    for (std::size_t local = 0; local < context.data.ownPatches().size(); ++local) {
      const Field<double> u(reinterpret_cast<double*>(context.data.data(Generation::New, parts_.u.id, local)),
                            context.data.layout(parts_.u.id, local));
      const Box box = context.data.ownedBox(parts_.u.id, local);
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) u({i, box.lo.j, box.lo.k}) += 1.0;
    }
    context.contributes[static_cast<std::size_t>(parts_.calls.id)] = ++calls_;
  }

 private:
  Relaxing::Parts parts_;
  double calls_ = 0.0;
};

inline ComponentRegistry relaxing(Relaxing::MakePrograms programs) {
  ComponentRegistry registry;
  registry.add([programs = std::move(programs)] { return std::make_unique<Relaxing>(programs); });
  return registry;
}

}  // namespace tessera::test
