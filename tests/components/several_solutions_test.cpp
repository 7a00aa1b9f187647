#include <array>
#include <string>

#include <gtest/gtest.h>

#include "components/component.hpp"
#include "components/expression_fill.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

constexpr std::size_t kSpecies = 3;

/// Three species that diffuse alike, each with a source and values on sides of its own, implicitly in time:
/// in one solve of three right-hand sides, or in three solves.
class Species final : public Component {
 public:
  explicit Species(bool together) : together_(together) {}

  std::string name() const override { return "species"; }
  std::string summary() const override { return "three species that diffuse alike"; }
  void declareParameters(ParameterTable&) const override {}
  void configure(const ParameterValues&, ComponentSetup& setup) override {
    const std::array sources{"exp(x)*y", "sin(9*x)*z + t", "1"};
    for (std::size_t n = 0; n < kSpecies; ++n) {
      const std::string name = "species_" + std::to_string(n);
      amounts_[n] = setup.labels.variable<double, Cell>(name, "1");
      right_[n] = setup.labels.variable<double, Cell>(name + ".right", "1");
      sources_[n] = Expression::parse(sources[n]);
      setup.composed.push_back(sources_[n]);
      BoundaryConditions conditions;
      conditions.sides.fill(
          SideCondition{BoundaryKind::Dirichlet, Expression::constant(static_cast<double>(n))});
      setup.labels.setBoundary(amounts_[n], conditions);
    }
    stableDt_ = setup.stableDt;
  }
  void declareInitial(StepPlan& plan) const override {
    TaskBuilder task = plan.task("Species::initial");
    for (const auto& amount : amounts_) task.writes(amount);
    task.runs<Cpu>([amounts = amounts_](const auto& t) {
      for (const auto& amount : amounts) fill(t, amount, Expression::constant(0.5), 0.0);
    });
    plan.task("Species::stableDt")
        .contributes(stableDt_, Min)
        .withoutDt()
        .runs<Cpu>([dt = stableDt_](const auto& t) { t.contribute(dt, 0.1); });
  }
  void declareStep(StepPlan& step) const override {
    TaskBuilder task = step.task("Species::right");
    for (std::size_t n = 0; n < kSpecies; ++n) task.reads(Old, amounts_[n]).writes(right_[n]);
    task.runs<Cpu>([amounts = amounts_, right = right_, sources = sources_](const auto& t) {
      for (std::size_t n = 0; n < kSpecies; ++n) {
        fill(t, right[n], sources[n], t.time());
        const auto f = t.write(right[n]);
        const auto u = t.read(Old, amounts[n]);
        const double dt = t.dt();
        forEach(t.exec(), "Species::right", t.interior(), [=](Index x) { f(x) = u(x) + dt * f(x); });
      }
    });
    step.task("Species::stableDt")
        .contributes(stableDt_, Min)
        .withoutDt()
        .runs<Cpu>([dt = stableDt_](const auto& t) { t.contribute(dt, 0.1); });
  }
  std::vector<StepProgram> stepPrograms() const override {
    StepProgram program("step");
    program.run("species");
    LinearSystem system{.solution = amounts_[0], .rightHandSide = right_[0], .mass = 1.0, .partOfDt = 1.0};
    for (std::size_t n = 1; n < kSpecies; ++n) system.others.push_back({amounts_[n], right_[n]});
    if (together_) {
      program.solve("species.solve", system);
    } else {
      for (std::size_t n = 0; n < kSpecies; ++n) program.solve("species.solve", system.of(n));
    }
    return {program};
  }

 private:
  bool together_;
  std::array<Label<double, Cell>, kSpecies> amounts_;
  std::array<Label<double, Cell>, kSpecies> right_;
  std::array<Expression, kSpecies> sources_;
  ReductionLabel stableDt_;
};

Simulate species(bool together) {
  ComponentRegistry registry;
  registry.add([together] { return std::make_unique<Species>(together); });
  return simulateText(
             "simulation.components = [\"species\"]\ntime = { dt = 0.1, max_steps = 3 }\n"
             "grid = { cells = [14, 11, 9], patches = [3, 2, 2] }\n")
      .components(std::move(registry));
}

TEST(SeveralSolutions, OfOneMatrixHaveTheBitsOfOneAfterAnother) {
  const Outcome right = species(false).run();
  const auto middle = [&](int n) { return right.fields.at("species_" + std::to_string(n))({7, 5, 4}); };
  ASSERT_NE(middle(0), middle(1));

  EXPECT_EQ(firstDifference(right, species(true).run()), "");
  for (const int ranks : {2, 5}) EXPECT_EQ(firstDifference(right, species(true).ranks(ranks).run()), "");
  EXPECT_EQ(firstDifference(right, species(true).ranks(3).seed(1).run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, species(true).devices(devices).run()), "");
}

TEST(SeveralSolutions, OfOneMatrixHaveTheBitsOfOneAfterAnotherInHypre) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  const auto hypre = [](bool together) { return species(together).set("solver.library=\"hypre\"").run(); };

  EXPECT_EQ(firstDifference(hypre(false), hypre(true)), "");
}

}  // namespace
}  // namespace tessera::test
