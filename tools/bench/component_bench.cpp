// The same stencil on the components of one variable and on as many variables of their own, in 3-D through
// the whole runtime, in turns in one process: so what else the machine does meets both. The smallest time of
// a step of each counts.
//
//   tessera_component_bench [components [cells [patch [seconds]]]]
//
// Prints million cells a second of both, and the first as percent of the second.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/expression_fill.hpp"
#include "components/stencils/laplacian.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/bench/shortest_step.hpp"

namespace tessera::bench {
namespace {

constexpr double kDt = 1e-6;

struct Sizes {
  int components = 5;
  std::int64_t cells = 96;
  std::int64_t patch = 32;
  double seconds = 5.0;
};

template <class Task, class From, class To>
void smooth(const Task& task, const From& u, const To& next) {
  const Real3 w = task.inverseSquaredSpacing();
  forEach(task.exec(), "smooth", task.interior(),
          [=] TESSERA_KERNEL(Index x) { next(x) = u(x) + kDt * laplacian(u, x, w); });
}

void declareNumber(ParameterTable& table) { table.integer("components").doc("how many").required(); }

/// One variable with components.
class Together final : public Component {
 public:
  std::string name() const override { return "together"; }
  std::string summary() const override { return "one variable"; }
  void declareParameters(ParameterTable& table) const override { declareNumber(table); }
  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    u_ = setup.labels.components<double, Cell>("u", static_cast<int>(values.integer("components")));
    setup.labels.setBoundary(u_, BoundaryConditions::everywhere(BoundaryKind::Neumann));
  }
  void declareInitial(StepPlan& plan) const override {
    plan.task("initial").writes(u_).runs<Cpu>([u = u_](const auto& task) {
      const auto all = task.write(u);
      for (std::int32_t c = 0; c < all.count(); ++c) {
        const auto one = all[c];
        forEach(task.exec(), "fill", task.interior(),
                [=](Index x) { one(x) = static_cast<double>(x.i + c); });
      }
    });
  }
  void declareStep(StepPlan& step) const override {
    step.task("smooth").reads(Old, u_, faceHalo(1)).writes(u_).runs<Cpu>([u = u_](const auto& task) {
      const auto all = task.read(Old, u);
      const auto next = task.write(u);
      for (std::int32_t c = 0; c < all.count(); ++c) smooth(task, all[c], next[c]);
    });
  }

 private:
  Label<Components<double>, Cell> u_;
};

/// A variable for each.
class Apart final : public Component {
 public:
  std::string name() const override { return "apart"; }
  std::string summary() const override { return "several variables"; }
  void declareParameters(ParameterTable& table) const override { declareNumber(table); }
  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    for (std::int64_t c = 0; c < values.integer("components"); ++c) {
      u_.push_back(setup.labels.variable<double, Cell>("u" + std::to_string(c)));
      setup.labels.setBoundary(u_.back(), BoundaryConditions::everywhere(BoundaryKind::Neumann));
    }
  }
  void declareInitial(StepPlan& plan) const override {
    TaskBuilder task = plan.task("initial");
    for (const Label<double, Cell> u : u_) task.writes(u);
    task.runs<Cpu>([all = u_](const auto& task) {
      for (std::size_t c = 0; c < all.size(); ++c) {
        const auto one = task.write(all[c]);
        forEach(task.exec(), "fill", task.interior(),
                [=](Index x) { one(x) = static_cast<double>(x.i + static_cast<std::int64_t>(c)); });
      }
    });
  }
  void declareStep(StepPlan& step) const override {
    TaskBuilder task = step.task("smooth");
    for (const Label<double, Cell> u : u_) task.reads(Old, u, faceHalo(1)).writes(u);
    task.runs<Cpu>([all = u_](const auto& task) {
      for (const Label<double, Cell> u : all) smooth(task, task.read(Old, u), task.write(u));
    });
  }

 private:
  std::vector<Label<double, Cell>> u_;
};

double stepOf(const std::string& component, const Sizes& sizes, double seconds) {
  const auto cube = [](std::int64_t n) {
    const std::string text = std::to_string(n);
    return "[" + text + ", " + text + ", " + text + "]";
  };
  const Deck deck =
      Deck::fromText("simulation.components = [\"" + component +
                         "\"]\ngrid = { lower = [0, 0, 0], upper = [1, 1, 1], cells = " + cube(sizes.cells) +
                         ", patch_size = " + cube(sizes.patch) + " }\ntime = { dt = " + std::to_string(kDt) +
                         ", max_steps = 1000000 }\n" + component +
                         ".components = " + std::to_string(sizes.components) + "\n",
                     "component_bench");
  ComponentRegistry registry;
  registry.add<Together>();
  registry.add<Apart>();
  return shortestStep(deck, registry, seconds);
}

int run(int argc, char** argv) {
  Sizes sizes;
  if (argc > 1) sizes.components = std::atoi(argv[1]);
  if (argc > 2) sizes.cells = std::atoi(argv[2]);
  if (argc > 3) sizes.patch = std::atoi(argv[3]);
  if (argc > 4) sizes.seconds = std::atof(argv[4]);
  constexpr int kTurns = 4;
  double together = std::numeric_limits<double>::infinity();
  double apart = together;
  for (int turn = 0; turn < kTurns; ++turn) {
    together = std::min(together, stepOf("together", sizes, sizes.seconds / (2 * kTurns)));
    apart = std::min(apart, stepOf("apart", sizes, sizes.seconds / (2 * kTurns)));
  }
  const double n = static_cast<double>(sizes.cells);
  const double million = n * n * n * sizes.components * 1e-6;
  std::printf("%d components, %lld^3 cells in patches of %lld^3, one thread\n", sizes.components,
              static_cast<long long>(sizes.cells), static_cast<long long>(sizes.patch));
  std::printf("one variable       %8.1f million cells and components a second\n", million / together);
  std::printf("as many variables  %8.1f\n", million / apart);
  std::printf("the first in percent of the second: %.1f\n", 100.0 * apart / together);
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) { return tessera::bench::run(argc, argv); }
