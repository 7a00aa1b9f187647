// No allocation and no mutex in the steps of any deck, whatever its expressions depend on.
#include "tests/call_counts.hpp"

#if defined(TESSERA_COUNTS_CALLS)
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "components/component.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "tests/components/other_mesh.hpp"
#include "tests/components/small_decks.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/model.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::test {
namespace {

/// What steps of all plans of a deck cost, after the first run of each.
Counts countsOfSteps(const Deck& deck, int threads) {
  const ComponentRegistry registry = builtInComponents();
  checkDeck(deck, registry).throwIfErrors();
  LoneTransport transport;
  const Model model(deck, registry);
  const CompiledGraphs graphs = model.compile(model.meshOfDeck(1), 0, 1, transport.tagBound());
  const auto data = makeDataWarehouse(graphs, threads);
  const auto executor = makeThreadsExecutor(threads);
  model.prepareExpressions(threads);
  RunnerOptions options;
  // Without its solves, what a plan of a program finds of an earlier one is no number.
  options.findNonFinite = model.stepProgram({}).plans().size() == 1;
  StepRunner runner(graphs, *data, transport, *executor, options);
  const std::array<double, 1> control{1.0};
  const double dt = 1e-6;
  const std::vector<double> reduced(static_cast<std::size_t>(graphs.labels->reductionCount()));
  const auto runAll = [&](std::int64_t step) {
    StepInputs inputs{static_cast<double>(step) * dt, dt, step, control};
    inputs.reduced = reduced;
    for (std::size_t plan = 0; plan < graphs.plans.size(); ++plan) {
      // A regrid is between steps.
      if (!graphs.plans[plan].plan->name().starts_with("regrid.")) runner.run(plan, inputs);
    }
  };
  runAll(0);

  return countsOf([&] {
    for (std::int64_t step = 1; step < 4; ++step) runAll(step);
  });
}

class QuietDeck : public ::testing::TestWithParam<std::string> {};

TEST_P(QuietDeck, AllocatesNothingAndTakesNoMutexInAStep) {
  const Extent patches = alongResolvedAxes(GetParam(), {3, 2, 2});
  for (const int threads : {1, 2, 4}) {
    const Counts counts = countsOfSteps(smallDeck(GetParam()).patches(patches).deck(), threads);
    EXPECT_EQ(counts.allocations, 0) << threads << " threads";
    EXPECT_EQ(counts.locks, 0) << threads << " threads";
  }
}

/// Conditions and a source of time and space, which no deck below inputs/ has together.
constexpr const char* kChanging =
    "[simulation]\n"
    "components = ['heat']\n"
    "[grid]\n"
    "cells = [24, 12, 1]\n"
    "patches = [3, 2, 1]\n"
    "[heat]\n"
    "conductivity = '1 + 0.5*x'\n"
    "initial = 'exp(-(x-0.5)^2)'\n"
    "source = 'sin(10*t) * x'\n"
    "boundary.x_low = { type = 'dirichlet', value = 'sin(t + y)' }\n"
    "boundary.x_high = { type = 'neumann', value = 'cos(t * y)' }\n"
    "boundary.y_low = { type = 'dirichlet', value = 'x * t' }\n"
    "boundary.y_high = { type = 'neumann', value = 't' }\n"
    "[time]\n"
    "end = 1\n";

TEST(QuietText, ConditionsAndSourcesOfTimeAndSpaceNeedNothingEither) {
  const Deck deck = Deck::fromText(kChanging, "test.toml");
  for (const int threads : {1, 2, 4}) {
    const Counts counts = countsOfSteps(deck, threads);
    EXPECT_EQ(counts.allocations, 0) << threads << " threads";
    EXPECT_EQ(counts.locks, 0) << threads << " threads";
  }
}

/// What each step has cost, that of the time loop included; adopts another mesh after the fourth one.
class CountsSteps : public RunListener {
 public:
  explicit CountsSteps(OtherMeshes meshes) : meshes_(std::move(meshes)) { costs.reserve(64); }

  bool stepped(Simulation& simulation, std::span<const double>) override {
    costs.push_back({allocations.load(), locks.load()});
    if (simulation.clock().step() == 4) {
      meshes_.startFrom(simulation.mesh().hierarchy);
      simulation.adopt(meshes_.draw());
    }
    allocations.store(0);
    locks.store(0);
    return false;
  }

  std::vector<Counts> costs;

 private:
  OtherMeshes meshes_;
};

TEST_P(QuietDeck, FromTheSecondStepOnAnotherMeshCostsWhatStepsDidBefore) {
  const Extent patches = alongResolvedAxes(GetParam(), {3, 2, 2});
  Simulate run = smallDeck(GetParam()).patches(patches).set("time.max_steps=8");
  if (followsMesh(GetParam())) run.set("amr.interval=100");  // a regrid is between steps
  const Deck deck = run.deck();
  LoneTransport transport;
  Simulation simulation(deck, builtInComponents(), transport, {});
  CountsSteps listener({simulation.mesh().hierarchy, 1, 1});
  countsOf([&] { simulation.run(listener); });
  ASSERT_EQ(listener.costs.size(), 8U);
  for (const std::size_t step : {5, 6, 7}) {
    EXPECT_EQ(listener.costs[step].allocations, listener.costs[3].allocations) << "step " << step + 1;
    EXPECT_EQ(listener.costs[step].locks, listener.costs[3].locks) << "step " << step + 1;
  }
}

TESSERA_ON_COVERING_DECKS(QuietDeck);

}  // namespace
}  // namespace tessera::test
#endif
