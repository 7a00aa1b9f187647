#include "components/error_norms.hpp"

#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {
namespace {

/// 1 on the coarsest level, 2 on the next one, and so on; 100 in cells that finer ones cover.
class Steps final : public Component {
 public:
  std::string name() const override { return "steps"; }
  std::string summary() const override { return "a value a level"; }
  bool supportsLevels() const override { return true; }
  void declareParameters(ParameterTable& table) const override { ErrorNorms::declareParameters(table); }
  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    u_ = setup.labels.variable<double, Cell>("u");
    norms_ = ErrorNorms("Steps", values, setup, u_);
  }
  void declareInitial(StepPlan& plan) const override {
    plan.task("Steps::write").writes(u_).runs<Cpu>([u = u_](const auto& task) {
      const auto out = task.write(u);
      const auto value = static_cast<double>(task.level().number() + 1);
      forEach(task.exec(), "uncovered", task.interior(), [=](Index x) { out(x) = value; });
      task.forEachCovered(
          [&](const Box& box) { forEach(task.exec(), "covered", box, [=](Index x) { out(x) = 100.0; }); });
    });
  }
  void declareStep(StepPlan&) const override {}
  void declareDiagnostics(StepPlan& plan) const override { norms_.declareTasks(plan); }
  std::vector<Diagnostic> diagnostics() const override { return norms_.diagnostics(); }

 private:
  Label<double, Cell> u_;
  ErrorNorms norms_;
};

/// The columns at the start of a run on 4 x 4 cells of the unit square, of which the inner four are refined;
/// `deeper` refines a quarter of these once more.
std::map<std::string, double> columns(bool deeper, int ranks) {
  std::string text =
      "simulation.components = ['steps']\n"
      "time = { dt = 1, max_steps = 0 }\n"
      "steps.exact = '1'\n"
      "[grid]\ncells = [4, 4, 1]\npatch_size = [2, 2, 1]\n"
      "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 0.75, 1]\npatch_size = [4, 2, 1]\n";
  if (deeper)
    text += "[[grid.level]]\nlower = [0.375, 0.375, 0]\nupper = [0.625, 0.625, 1]\npatch_size = [4, 4, 1]\n";
  ComponentRegistry registry;
  registry.add<Steps>();
  const Deck deck = Deck::fromText(text, "deck.toml");
  std::map<std::string, double> found;
  LoopbackWorld world(ranks);
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deck, registry, transport, {});
    simulation.run();
    const std::vector<double> values = simulation.diagnose();
    if (transport.rank() > 0) return;
    for (std::size_t n = 0; n < values.size(); ++n)
      found[simulation.model().diagnostics()[n].name] = values[n];
  });
  return found;
}

TEST(ErrorNorms, OnTwoLevelsEachPartOfTheDomainCountsOnce) {
  for (const int ranks : {1, 3}) {
    auto column = columns(false, ranks);

    // Three quarters of the square hold 1, a quarter 2, where the error is 1.
    EXPECT_EQ(column["steps.total"], 1.25);
    EXPECT_EQ(column["steps.min"], 1.0);
    EXPECT_EQ(column["steps.max"], 2.0);
    EXPECT_EQ(column["steps.error_l1"], 0.25);
    EXPECT_EQ(column["steps.error_l2"], 0.5);
    EXPECT_EQ(column["steps.error_max"], 1.0);
  }
}

TEST(ErrorNorms, OnThreeLevelsEachPartOfTheDomainCountsOnce) {
  for (const int ranks : {1, 3}) {
    auto column = columns(true, ranks);

    // Twelve sixteenths hold 1, three 2, one 3.
    EXPECT_EQ(column["steps.total"], 21.0 / 16);
    EXPECT_EQ(column["steps.min"], 1.0);
    EXPECT_EQ(column["steps.max"], 3.0);
    EXPECT_EQ(column["steps.error_l1"], 5.0 / 16);
    EXPECT_EQ(column["steps.error_l2"], std::sqrt(7.0 / 16));
    EXPECT_EQ(column["steps.error_max"], 2.0);
  }
}

}  // namespace
}  // namespace tessera
