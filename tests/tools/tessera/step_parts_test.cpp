// Parts that only some steps have, of several components, by steps and by time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/cadence.hpp"
#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/task_context.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Counts in a variable how often its part of a step has run.
class Chime : public Component {
 public:
  explicit Chime(std::string name) : name_(std::move(name)) {}

  std::string name() const override { return name_; }
  std::string summary() const override { return "counts how often it is due"; }
  void declareParameters(ParameterTable& table) const override { declareCadence(table, "it chimes"); }
  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    every_ = cadenceOf(values);
    count_ = setup.labels.variable<double, Cell>(name_ + ".count");
    sum_ = setup.labels.reduction(name_ + ".most");
  }
  void declareInitial(StepPlan& plan) const override {
    plan.task(name_ + "::none").writes(count_).runs<Cpu>([label = count_](const auto& task) {
      const auto out = task.write(label);
      forEach(task.exec(), "none", task.interior(), [=](Index x) { out(x) = 0.0; });
    });
  }
  void declareStep(StepPlan& step) const override {
    step.task(name_ + "::chime")
        .in(name_)
        .reads(Old, count_)
        .writes(count_)
        .runs<Cpu>([label = count_](const auto& task) {
          const auto in = task.read(Old, label);
          const auto out = task.write(label);
          forEach(task.exec(), "chime", task.interior(), [=](Index x) { out(x) = in(x) + 1.0; });
        });
  }
  void declareDiagnostics(StepPlan& plan) const override {
    plan.task(name_ + "::show")
        .reads(Old, count_)
        .contributes(sum_, Max)
        .runs<Cpu>([label = count_, sum = sum_](const auto& task) {
          task.contribute(sum, task.read(Old, label)(task.interior().lo));
        });
  }
  std::vector<Diagnostic> diagnostics() const override { return {{name_, sum_, {}}}; }
  std::vector<OptionalPart> stepParts() const override { return {{name_, every_}}; }

 private:
  std::string name_;
  Cadence every_;
  Label<double, Cell> count_;
  ReductionLabel sum_;
};

/// Has a usual step of two plans.
class TwoItems final : public Component {
 public:
  std::string name() const override { return "two_items"; }
  std::string summary() const override { return "steps in two plans"; }
  void declareParameters(ParameterTable&) const override {}
  void configure(const ParameterValues&, ComponentSetup& setup) override {
    value_ = setup.labels.variable<double, Cell>("value");
  }
  void declareInitial(StepPlan& plan) const override {
    plan.task("Two::zero").writes(value_).runs<Cpu>(put(value_));
  }
  void declareStep(StepPlan& step) const override {
    step.task("Two::first").in("first").writes(value_).runs<Cpu>(put(value_));
    step.task("Two::second").in("second").modifies(value_).runs<Cpu>([v = value_](const auto& task) {
      const auto out = task.modify(v);
      forEach(task.exec(), "second", task.interior(), [=](Index x) { out(x) = out(x) + 1.0; });
    });
    step.task("Two::never").in("keep").reads(Old, value_).writes(value_).runs<Cpu>(put(value_));
  }
  std::vector<std::string> stepPlans() const override { return {"keep"}; }
  std::vector<StepProgram> stepPrograms() const override {
    StepProgram program("step");
    program.run("first");
    program.run("second");
    return {program};
  }

 private:
  struct Put {
    Label<double, Cell> label;
    template <class Task>
    void operator()(const Task& task) const {
      const auto out = task.write(label);
      forEach(task.exec(), "put", task.interior(), [=](Index x) { out(x) = 1.0; });
    }
  };
  static Put put(Label<double, Cell> label) { return {label}; }

  Label<double, Cell> value_;
};

ComponentRegistry chimes() {
  ComponentRegistry registry;
  for (const char* name : {"bell", "gong", "horn"})
    registry.add([name] { return std::make_unique<Chime>(name); });
  registry.add<TwoItems>();
  return registry;
}

Deck chimeDeck(const std::string& components, const std::string& tables, int steps) {
  return Deck::fromText("simulation.components = [" + components +
                            "]\ngrid = { cells = [8, 1, 1], patches = [4, 1, 1] }\n"
                            "time = { dt = 0.125, max_steps = " +
                            std::to_string(steps) + " }\n" + tables,
                        "deck.toml");
}

std::vector<std::string> planNames(const Model& model) {
  const CompiledGraphs graphs = model.compile(model.meshOfDeck(1), 0, 1, 32767);
  std::vector<std::string> names;
  for (std::size_t p = 3; p < graphs.plans.size(); ++p) names.push_back(graphs.plans[p].plan->name());
  return names;
}

TEST(StepParts, OfTwoComponentsComeTogetherWhereBothAreDue) {
  const std::string tables = "bell = { every = 3 }\ngong = { every_time = 0.5 }\n";
  LoopbackWorld world(2);
  const ComponentRegistry registry = chimes();
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(chimeDeck("'bell', 'gong'", tables, 20), registry, transport, {});

    simulation.run();

    // Steps 0, 3, ..., 18, and those that begin at 0, 0.5, 1, 1.5 and 2.
    EXPECT_EQ(simulation.diagnose(), (std::vector<double>{7.0, 5.0}));
    EXPECT_EQ(simulation.compilesSinceStart(), 0);
  });
}

TEST(StepParts, OnlySetsThatOccurAreCompiled) {
  const ComponentRegistry registry = chimes();
  const auto names = [&](const std::string& tables) {
    return planNames(Model(chimeDeck("'bell', 'gong', 'horn'", tables, 1), registry));
  };
  // Whenever the gong is due, the bell is; the horn is due at any time.
  EXPECT_THAT(names("bell = { every = 2 }\ngong = { every = 4 }\nhorn = { every = 4 }\n"),
              ElementsAre("step+bell", "step+bell+gong+horn"));
  EXPECT_THAT(
      names("bell = { every = 2 }\ngong = { every = 4 }\nhorn = { every_time = 0.3 }\n"),
      ElementsAre("step+bell", "step+bell+gong", "step+bell+gong+horn", "step+bell+horn", "step+horn"));
}

// A plan without them would never be run.
TEST(StepParts, AreOfTheUsualPlanWhereTheyAreAlwaysDue) {
  const std::string tables = "bell = { every = 1 }\ngong = { every = 2 }\n";
  LoopbackWorld world(1);
  const ComponentRegistry registry = chimes();
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(chimeDeck("'bell', 'gong'", tables, 5), registry, transport, {});

    simulation.run();

    EXPECT_THAT(planNames(simulation.model()), ElementsAre("step+gong"));
    EXPECT_EQ(simulation.diagnose(), (std::vector<double>{5.0, 3.0}));
  });
}

TEST(StepParts, RunOnceInAStepOfSeveralPlansThoughAlwaysDue) {
  LoopbackWorld world(1);
  const ComponentRegistry registry = chimes();
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(chimeDeck("'two_items', 'bell'", "bell = { every = 1 }\n", 5), registry, transport,
                          {});

    simulation.run();

    EXPECT_EQ(simulation.diagnose(), (std::vector<double>{5.0}));
    EXPECT_EQ(simulation.model().stepProgram({3, 0.375, 0.25}).plans(),
              (std::vector<std::string>{"bell", "first", "second"}));
  });
}

TEST(StepParts, AreAPlanBeforeAUsualStepOfSeveralPlans) {
  LoopbackWorld world(1);
  const ComponentRegistry registry = chimes();
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(chimeDeck("'two_items', 'bell'", "bell = { every = 4 }\n", 9), registry, transport,
                          {});

    simulation.run();

    EXPECT_EQ(simulation.diagnose(), (std::vector<double>{3.0}));
    EXPECT_EQ(simulation.model().stepProgram({4, 0.5, 0.375}).name(), "step+bell");
    EXPECT_EQ(simulation.model().stepProgram({4, 0.5, 0.375}).plans(),
              (std::vector<std::string>{"bell", "first", "second"}));
    EXPECT_EQ(simulation.model().stepProgram({5, 0.625, 0.5}).name(), "step");
  });
}

TEST(StepParts, ByTimeAreDueInTheFirstStepAndInThoseThatReachAMultiple) {
  const Cadence every = everyTime(0.1);
  EXPECT_TRUE(every.isDue({0, 0.05}));
  EXPECT_FALSE(every.isDue({1, 0.09, 0.05}));
  EXPECT_TRUE(every.isDue({2, 0.11, 0.09}));
  // 3 * 0.1 is not 0.3, and is as good as it.
  EXPECT_TRUE(every.isDue({3, 0.3, 0.25}));
  EXPECT_FALSE(every.isDue({4, 0.35, 0.3}));
  EXPECT_TRUE(every.isDue({5, 0.9, 0.35}));
}

TEST(StepParts, ARestartKnowsTheStepBefore) {
  TimeControl clock(TimeSettings{});
  clock.take({0.25, 0.25, 0.0, 0.25});
  clock.take({0.5, 0.75, 0.0, 0.5});
  clock.setStableDt(1.0);
  CheckpointState state;
  clock.save(state);
  TimeControl again(TimeSettings{});
  again.restore(state);

  EXPECT_EQ(again.at().step, 2);
  EXPECT_EQ(again.at().time, 0.75);
  EXPECT_EQ(again.at().lastTime, 0.25);
}

/// A part that is declared in a wrong way.
class Wrong final : public Component {
 public:
  explicit Wrong(OptionalPart part) : part_(std::move(part)) {}
  std::string name() const override { return "wrong"; }
  std::string summary() const override { return "has a part that cannot be"; }
  void declareParameters(ParameterTable&) const override {}
  void configure(const ParameterValues&, ComponentSetup&) override {}
  void declareInitial(StepPlan&) const override {}
  void declareStep(StepPlan&) const override {}
  std::vector<OptionalPart> stepParts() const override { return {part_}; }

 private:
  OptionalPart part_;
};

std::string faultOf(const OptionalPart& part) {
  ComponentRegistry registry = chimes();
  registry.add([&] { return std::make_unique<Wrong>(part); });
  try {
    const Model model(chimeDeck("'bell', 'wrong'", "bell = { every = 2 }\n", 1), registry);
  } catch (const PlanError& error) {
    return error.message();
  }
  return "nothing is wrong";
}

TEST(StepParts, ThatCannotBeAreSentences) {
  EXPECT_THAT(faultOf({"other", everySteps(0)}),
              HasSubstr("give everySteps(n) from 1 on, or everyTime(t) above 0"));
  EXPECT_THAT(faultOf({"other", everyTime(-1.0)}), HasSubstr("a part of a step is never due"));
  EXPECT_THAT(faultOf({"step", everySteps(2)}), HasSubstr("give it a name of its own"));
  EXPECT_THAT(faultOf({"other", everySteps(2)}), HasSubstr("let tasks say .in(\"other\")"));
  EXPECT_THAT(faultOf({"bell", everySteps(3)}), HasSubstr("different cadences"));
}

}  // namespace
}  // namespace tessera
