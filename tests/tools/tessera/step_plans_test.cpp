#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/task_context.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

/// Counts its steps in `ticks`, and every `every`-th step, in a plan of its own, also in `tocks`.
class Clockwork : public Component {
 public:
  std::string name() const override { return "clockwork"; }
  std::string summary() const override { return "counts steps"; }
  void declareParameters(ParameterTable& table) const override {
    table.integer("every").doc("steps from tock to tock").defaultsTo(20);
  }
  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    every_ = values.integer("every");
    ticks_ = setup.labels.variable<double, Cell>("ticks");
    tocks_ = setup.labels.variable<double, Cell>("tocks");
    sum_ = setup.labels.reduction("clockwork.ticks");
    tockSum_ = setup.labels.reduction("clockwork.tocks");
  }
  void declareInitial(StepPlan& plan) const override {
    for (const auto label : {ticks_, tocks_}) {
      plan.task(label.id == ticks_.id ? "Clockwork::noTick" : "Clockwork::noTock")
          .writes(label)
          .runs<Cpu>([label](const auto& task) {
            const auto out = task.write(label);
            forEach(task.exec(), "zero", task.interior(), [=](Index x) { out(x) = 0.0; });
          });
    }
  }
  void declareStep(StepPlan& step) const override {
    step.task("Clockwork::tick").reads(Old, ticks_).writes(ticks_).runs<Cpu>(count(ticks_));
    step.task("Clockwork::tock").in("tock").reads(Old, tocks_).writes(tocks_).runs<Cpu>(count(tocks_));
  }
  void declareDiagnostics(StepPlan& plan) const override {
    plan.task("Clockwork::show")
        .reads(Old, ticks_)
        .reads(Old, tocks_)
        .contributes(sum_, Max)
        .contributes(tockSum_, Max)
        .runs<Cpu>([a = ticks_, b = tocks_, sa = sum_, sb = tockSum_](const auto& task) {
          task.contribute(sa, task.read(Old, a)(task.interior().lo));
          task.contribute(sb, task.read(Old, b)(task.interior().lo));
        });
  }
  std::vector<Diagnostic> diagnostics() const override {
    return {{"ticks", sum_, {}}, {"tocks", tockSum_, {}}};
  }
  std::vector<std::string> stepPlans() const override { return {"tock"}; }
  std::string choosePlan(const StepAt& at) const override {
    return (at.step + 1) % every_ == 0 ? "tock" : "step";
  }

 private:
  struct Count {
    Label<double, Cell> label;
    template <class Task>
    void operator()(const Task& task) const {
      const auto in = task.read(Old, label);
      const auto out = task.write(label);
      forEach(task.exec(), "count", task.interior(), [=](Index x) { out(x) = in(x) + 1.0; });
    }
  };
  static Count count(Label<double, Cell> label) { return {label}; }

  std::int64_t every_ = 20;
  Label<double, Cell> ticks_;
  Label<double, Cell> tocks_;
  ReductionLabel sum_;
  ReductionLabel tockSum_;
};

/// Names a plan that nobody has, in one way or the other.
class Confused final : public Clockwork {
 public:
  std::string name() const override { return "confused"; }
  std::vector<std::string> stepPlans() const override { return {}; }
};

/// Wants another plan than Clockwork in the same step.
class Stubborn final : public Component {
 public:
  std::string name() const override { return "stubborn"; }
  std::string summary() const override { return "wants its own plan"; }
  void declareParameters(ParameterTable&) const override {}
  void configure(const ParameterValues&, ComponentSetup&) override {}
  void declareInitial(StepPlan&) const override {}
  void declareStep(StepPlan&) const override {}
  std::vector<std::string> stepPlans() const override { return {"mine"}; }
  std::string choosePlan(const StepAt&) const override { return "mine"; }
};

ComponentRegistry clockworks() {
  ComponentRegistry registry;
  registry.add<Clockwork>();
  registry.add<Confused>();
  registry.add<Stubborn>();
  return registry;
}

Deck deckOf(const std::string& components, int steps) {
  return Deck::fromText("simulation.components = [" + components +
                            "]\ngrid = { cells = [8, 1, 1], patches = [4, 1, 1] }\n"
                            "time = { dt = 1, max_steps = " +
                            std::to_string(steps) + " }\n",
                        "deck.toml");
}

TEST(StepPlansOfComponents, TheSimulationPicksThemAndCompilesNothingAfterTheStart) {
  LoopbackWorld world(2);
  const ComponentRegistry registry = clockworks();
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deckOf("'clockwork'", 45), registry, transport, {});
    EXPECT_EQ(simulation.compiles(), 4);

    simulation.run();

    EXPECT_EQ(simulation.diagnose(), (std::vector<double>{45.0, 2.0}));
    EXPECT_EQ(simulation.compiles(), 4);
    EXPECT_EQ(simulation.compilesSinceStart(), 0);
  });
}

TEST(StepPlansOfComponents, AreKeptBesideThePlansOfEveryRun) {
  const Model model(deckOf("'clockwork'", 1), clockworks());

  const CompiledGraphs graphs = model.compile(model.meshOfDeck(1), 0, 1, 32767);

  ASSERT_EQ(graphs.plans.size(), 4U);
  EXPECT_EQ(graphs.plans[1].plan->name(), "step");
  EXPECT_EQ(graphs.plans[3].plan->name(), "tock");
  EXPECT_EQ(graphs.plans[1].plan->tasks().size(), 1U);
  EXPECT_EQ(graphs.plans[3].plan->tasks().size(), 2U);
  EXPECT_EQ(model.stepProgram({18}).name(), "step");
  EXPECT_EQ(model.stepProgram({19}).name(), "tock");
}

TEST(StepPlansOfComponents, AnUnknownPlanInADeclarationIsNamedWithTheKnownOnes) {
  try {
    const Model model(deckOf("'confused'", 1), clockworks());
    FAIL();
  } catch (const PlanError& error) {
    EXPECT_THAT(error.message(), HasSubstr("Clockwork::tock"));
    EXPECT_THAT(error.message(), HasSubstr(".in(\"tock\")"));
    EXPECT_THAT(error.message(), HasSubstr("name one of: step; or add it to the component's stepPlans()"));
  }
}

TEST(StepPlansOfComponents, TwoDifferentChoicesAreAnError) {
  const Model model(deckOf("'clockwork', 'stubborn'", 1), clockworks());

  EXPECT_EQ(model.stepProgram({0}).name(), "mine");  // "step" gives way
  try {
    model.stepProgram({19});
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_THAT(error.message(), HasSubstr("choose different plans for step 20, \"tock\" and \"mine\""));
  }
}

}  // namespace
}  // namespace tessera
