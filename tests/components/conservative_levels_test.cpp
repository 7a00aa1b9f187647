#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "components/average_down.hpp"
#include "components/reflux/reflux.hpp"
#include "datawarehouse/task_context.hpp"
#include "tests/components/order_of.hpp"
#include "tests/components/simulate.hpp"

// What is kept where levels meet, and how exact it is there.
namespace tessera::test {
namespace {

/// u' = u - dt/h (difference of fluxes), with fluxes that are whole numbers: the largest one not above the
/// cell on the lower side. With dt/h and volumes that are powers of two all sums are exact.
class WholeFluxes final : public Component {
 public:
  std::string name() const override { return "whole"; }
  std::string summary() const override { return "whole fluxes"; }
  bool supportsLevels() const override { return true; }
  bool supportsSubcycling() const override { return true; }
  void declareParameters(ParameterTable& table) const override {
    table.expression("initial", {"x", "y", "z"}).doc("u at the start").required();
    declareBoundaries(table, BoundaryKind::Outflow);
  }
  void configure(const ParameterValues& values, ComponentSetup& setup) override {
    initial_ = values.expression("initial");
    u_ = setup.labels.variable<double, Cell>("u");
    total_ = setup.labels.reduction("total");
    setup.labels.setBoundary(u_, readBoundaries(values, setup.geometry, BoundaryKind::Outflow));
    setup.labels.setProlongation(u_, setup.prolongation.value_or(Prolongation::LimitedLinear));
    passed_ = passedLabels(setup, "passed");
    levels_ = setup.levels;
    refluxes_ = setup.refluxes;
  }
  void declareInitial(StepPlan& plan) const override {
    plan.task("Whole::initial").writes(u_).runs<Cpu>([u = u_, f = initial_](const auto& task) {
      const auto to = task.write(u);
      const Level& level = task.level();
      forEach(task.exec(), "initial", task.interior(), [&, to](Index x) {
        const Real3 p = level.position(x, Cell);
        to(x) = std::floor(4.0 * f(p.x, p.y, p.z, 0.0)) / 4.0;
      });
    });
    if (levels_ > 1) averageDown(plan, "Whole::averageDown", u_);
  }
  void declareStep(StepPlan& step) const override {
    TaskBuilder task = step.task("Whole::advance");
    task.reads(Old, u_, halo(1)).writes(u_);
    writePassed(task, passed_);
    task.runs<Cpu>([u = u_, passed = passed_](const auto& task) {
      const auto from = task.read(Old, u);
      const auto to = task.write(u);
      forEach(task.exec(), "copy", task.interior(), [=](Index x) { to(x) = from(x); });
      const auto along = [&](int axis, auto label) {
        if (!passed.active[static_cast<std::size_t>(axis)]) return;
        const auto flux = task.write(label);
        const Index e = unit(axis);
        forEach(task.exec(), "flux", task.interior(label),
                [=](Index x) { flux(x) = std::floor(from(x - e)); });
        const double dtOverH = task.dt() * task.inverseSpacing()[axis];
        forEach(task.exec(), "advance", task.interior(),
                [=](Index x) { to(x) -= dtOverH * (flux(x + e) - flux(x)); });
      };
      along(0, passed.x);
      along(1, passed.y);
      along(2, passed.z);
    });
    if (levels_ > 1 && refluxes_) refluxes(step, "Whole::reflux", u_, passed_, "Whole::advance");
    if (levels_ > 1) averageDown(step, "Whole::averageDown", u_, refluxes_ ? "Whole::reflux" : "");
  }
  void declareDiagnostics(StepPlan& plan) const override {
    plan.task("Whole::total")
        .reads(Old, u_)
        .contributes(total_, Sum)
        .runs<Cpu>([u = u_, t = total_](const auto& task) {
          const auto at = task.read(Old, u);
          const Real3 h = task.spacing();
          const double volume = h.x * h.y * h.z;
          ExactSum sum;
          task.forEachUncovered([&](const Box& box) {
            sum.add(reduce(task.exec(), "total", box, Sum, [=](Index x) { return at(x) * volume; }));
          });
          task.contribute(t, sum);
        });
  }
  std::vector<Diagnostic> diagnostics() const override { return {{"whole.total", total_, {}}}; }

 private:
  Expression initial_;
  Label<double, Cell> u_;
  PassedLabels<double> passed_;
  ReductionLabel total_;
  int levels_ = 1;
  bool refluxes_ = true;
};

Simulate wholeFluxes(const std::string& deck) {
  ComponentRegistry registry;
  registry.add<WholeFluxes>();
  return simulateText("simulation.components = ['whole']\n" + deck).components(registry);
}

/// Boxes at both ends of a periodic axis, one corner inside another, ratios 2 and 4, two and three axes.
std::string threeLevels(const std::string& cells = "[16, 16, 1]", const std::string& patches = "[2, 2, 1]") {
  return std::string("[grid]\nperiodic = ") +
         (cells == "[16, 16, 1]" ? "[true, true, false]" : "[true, true, true]") + "\ncells = " + cells +
         "\npatches = " + patches +
         "\n[[grid.level]]\nlower = [0, 0.25, 0]\nupper = [0.5, 0.75, 1]\npatch_size = [7, 5, 3]\n"
         "[[grid.level]]\nlevel = 1\nlower = [0.875, 0.25, 0]\nupper = [1, 0.5, 1]\n"
         "[[grid.level]]\nlower = [0.1875, 0.4375, 0]\nupper = [0.3125, 0.5625, 1]\nratio = 4\n"
         "patch_size = [8, 8, 8]\n";
}

TEST(WholeFluxes, AreKeptToTheLastBitOverHundredSteps) {
  for (const auto& [cells, patches] :
       {std::pair("[16, 16, 1]", "[2, 3, 1]"), std::pair("[16, 16, 4]", "[3, 2, 1]")}) {
    const std::string deck = threeLevels(cells, patches) +
                             "[time]\ndt = 0.0009765625\nmax_steps = 100\n"
                             "[whole]\ninitial = '40*sin(6.28*x)*cos(6.28*y) + 7*x + 50'\n";
    for (const int ranks : {1, 3}) {
      const Outcome o = wholeFluxes(deck).ranks(ranks).run();
      ASSERT_EQ(o.steps, 100);
      EXPECT_EQ(o.end.at("whole.total"), o.start.at("whole.total")) << cells << ", " << ranks << " ranks";
    }
    const Outcome own = wholeFluxes(deck).set("amr.subcycle=true").ranks(2).run();
    EXPECT_EQ(own.end.at("whole.total"), own.start.at("whole.total")) << cells << ", subcycled";
    const Outcome lost = wholeFluxes(deck).set("amr.reflux=false").run();
    EXPECT_GT(std::abs(lost.end.at("whole.total") - lost.start.at("whole.total")), 1e-3) << cells;
  }
}

// Fine cells end at 3/4. In the last two of them u is 1 and 2, so 2 leaves them, and the coarse cell beside
// them gets what the mean of both says, 1.
TEST(WholeFluxes, WithoutRefluxingWhatTheFinerFacesSayMoreIsLost) {
  const Simulate run = wholeFluxes(
      "[grid]\ncells = [16, 1, 1]\nperiodic = [true, false, false]\n"
      "[[grid.level]]\nlower = [0.25, 0, 0]\nupper = [0.75, 1, 1]\n"
      "[time]\ndt = 0.015625\nmax_steps = 1\n"
      "[whole]\ninitial = 'if(x > 0.71875, if(x < 0.75, 2, 1), 1)'\n");

  const Outcome kept = Simulate(run).run();
  const Outcome lost = Simulate(run).set("amr.reflux=false").run();

  EXPECT_EQ(kept.end.at("whole.total"), kept.start.at("whole.total"));
  EXPECT_EQ(lost.end.at("whole.total") - lost.start.at("whole.total"), -0.015625);
}

/// The component's error in the whole domain, on meshes of n^2 cells with a finer box in the middle.
double errorOf(const std::string& component, const std::string& deck, std::int64_t n,
               const std::string& column, const std::string& set = "") {
  Simulate run = simulateText("simulation.components = ['" + component + "']\n[grid]\ncells = [" +
                              std::to_string(n) + ", " + std::to_string(n) +
                              ", 1]\nperiodic = [true, true, false]\npatches = [2, 2, 1]\n"
                              "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 0.75, 1]\n" +
                              deck);
  if (!set.empty()) run.set(set);
  return run.run().end.at(column);
}

double orderBetween(double coarse, double fine) { return std::log2(coarse / fine); }

constexpr const char* kHeatMode =
    "[heat]\nconductivity = 1\ninitial = 'cos(2*pi*x)*cos(2*pi*y)'\n"
    "exact = 'exp(-8*pi*pi*t)*cos(2*pi*x)*cos(2*pi*y)'\n[time]\ncfl = 0.5\nend = 0.01\n";

TEST(ConservativeLevels, AHeatEigenmodeHasSecondOrder) {
  const double coarse = errorOf("heat", kHeatMode, 16, "heat.error_max");
  const double fine = errorOf("heat", kHeatMode, 32, "heat.error_max");
  EXPECT_GT(orderBetween(coarse, fine), 1.8) << coarse << ' ' << fine;

  const double first = errorOf("heat", kHeatMode, 32, "heat.error_max", "amr.prolongation='constant'");
  EXPECT_GT(first, 3.0 * fine);
}

constexpr const char* kBump =
    "[advection]\nlimiter = 'none'\nvelocity = { x = 1, y = 0.5 }\n"
    "initial = 'sin(2*pi*x)*cos(2*pi*y)'\nexact = 'sin(2*pi*(x - t))*cos(2*pi*(y - 0.5*t))'\n"
    "[time]\ncfl = 0.4\nend = 0.25\n";

TEST(ConservativeLevels, AnAdvectedBumpHasSecondOrder) {
  const double coarse = errorOf("advection", kBump, 32, "advection.error_l1");
  const double fine = errorOf("advection", kBump, 64, "advection.error_l1");
  EXPECT_GT(orderBetween(coarse, fine), 1.8) << coarse << ' ' << fine;

  const double first = errorOf("advection", kBump, 64, "advection.error_l1", "amr.prolongation='constant'");
  EXPECT_GT(first, 2.0 * fine);
}

TEST(ConservativeLevels, MassMomentumAndEnergyOfAGasAreKept) {
  const Simulate run =
      simulateText("simulation.components = ['euler']\n" + threeLevels() +
                   "[euler]\ninitial.points = 1\ninitial.density = '1 + 0.5*sin(2*pi*x)*cos(2*pi*y)'\n"
                   "initial.velocity = { x = '0.5 + 0.25*sin(2*pi*y)', y = '-0.3' }\n"
                   "initial.pressure = '1 + 0.8*exp(-60*((x - 0.4)^2 + (y - 0.5)^2))'\n"
                   "[time]\ncfl = 0.4\nmax_steps = 60\n");
  const Outcome kept = Simulate(run).run();
  const Outcome lost = Simulate(run).set("amr.reflux=false").run();

  for (const char* name : {"euler.mass", "euler.momentum_x", "euler.momentum_y", "euler.energy"}) {
    EXPECT_NEAR(kept.end.at(name), kept.start.at(name), 1e-13) << name;
    EXPECT_GT(std::abs(lost.end.at(name) - lost.start.at(name)), 1e-7) << name;
  }
}

TEST(ConservativeLevels, HeatAndConcentrationAreKept) {
  const Outcome heat =
      simulateText("simulation.components = ['heat']\n" + threeLevels() +
                   "[heat]\nconductivity = '1 + 0.5*sin(2*pi*x)'\ninitial = '1 + sin(2*pi*x)*cos(2*pi*y)'\n"
                   "exact = '0'\n[time]\ncfl = 0.5\nmax_steps = 60\n")
          .run();
  EXPECT_NEAR(heat.end.at("heat.total"), heat.start.at("heat.total"), 1e-13);
  const Outcome swirl = simulateText("simulation.components = ['advection']\n" + threeLevels() +
                                     "[advection]\nvelocity = { x = 'sin(2*pi*y)', y = 0.5 }\n"
                                     "initial = '1 + sin(2*pi*x)*cos(2*pi*y)'\nexact = '0'\n"
                                     "[time]\ncfl = 0.4\nmax_steps = 60\n")
                            .run();
  EXPECT_NEAR(swirl.end.at("advection.total"), swirl.start.at("advection.total"), 1e-13);
}

}  // namespace
}  // namespace tessera::test
