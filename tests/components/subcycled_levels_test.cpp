#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/simulate.hpp"

// Finer levels that take several steps while the coarser one takes one.
namespace tessera::test {
namespace {

/// Boxes at both ends of a periodic axis, one of ratio 4 within.
const char* const kSubcycledMesh =
    "[grid]\nperiodic = [true, true, false]\ncells = [16, 16, 1]\npatches = [2, 2, 1]\n"
    "[[grid.level]]\nlower = [0, 0.25, 0]\nupper = [0.5, 0.75, 1]\npatch_size = [7, 5, 1]\n"
    "[[grid.level]]\nlevel = 1\nlower = [0.875, 0.25, 0]\nupper = [1, 0.5, 1]\n"
    "[[grid.level]]\nlower = [0.1875, 0.4375, 0]\nupper = [0.3125, 0.5625, 1]\nratio = 4\n"
    "patch_size = [8, 8, 1]\n[amr]\nsubcycle = true\n";

Simulate subcycledBlast() {
  return simulateText("simulation.components = ['euler']\n" + std::string(kSubcycledMesh) +
                      "[euler]\ninitial.points = 1\ninitial.density = '1 + 0.5*sin(2*pi*x)*cos(2*pi*y)'\n"
                      "initial.velocity = { x = '0.5 + 0.25*sin(2*pi*y)', y = '-0.3' }\n"
                      "initial.pressure = '1 + 0.8*exp(-60*((x - 0.4)^2 + (y - 0.5)^2))'\n"
                      "[time]\ncfl = 0.4\nmax_steps = 20\n");
}

TEST(SubcycledLevels, MassMomentumAndEnergyOfAGasAreKept) {
  const Outcome kept = subcycledBlast().run();
  const Outcome lost = subcycledBlast().set("amr.reflux=false").run();

  for (const char* name : {"euler.mass", "euler.momentum_x", "euler.momentum_y", "euler.energy"}) {
    EXPECT_NEAR(kept.end.at(name), kept.start.at(name), 1e-13) << name;
    EXPECT_GT(std::abs(lost.end.at(name) - lost.start.at(name)), 1e-7) << name;
  }
}

TEST(SubcycledLevels, GiveTheSameBitsOnAnyRanksThreadsAndDevices) {
  const Outcome expected = subcycledBlast().run(3);

  EXPECT_EQ(firstDifference(expected, subcycledBlast().ranks(3).threads(2).run(3)), "");
  EXPECT_EQ(firstDifference(expected, subcycledBlast().ranks(2).seed(7).run(3)), "");
  EXPECT_EQ(firstDifference(expected, subcycledBlast().patches({3, 2, 1}).run(3)), "");
  EXPECT_EQ(firstDifference(expected, subcycledBlast().checked().run(3)), "");
  EXPECT_EQ(firstDifference(expected, subcycledBlast().scratch().withoutReuse().run(3)), "");
  DeviceOptions devices;
  devices.kind = DeviceKind::Emulated;
  EXPECT_EQ(firstDifference(expected, subcycledBlast().devices(devices).ranks(2).run(3)), "");
}

TEST(SubcycledLevels, AConstantStaysExactlyConstant) {
  for (const char* prolongation : {"component", "constant", "linear"}) {
    const Simulate run =
        simulateText("simulation.components = ['euler']\n" + std::string(kSubcycledMesh) +
                     "prolongation = '" + prolongation +
                     "'\n[euler]\nstages = 'rk3'\ninitial.density = '1.3'\ninitial.velocity = { x = 0.7, y = "
                     "-0.2 }\ninitial.pressure = '0.9'\n[time]\ncfl = 0.4\nmax_steps = 6\n");
    const Outcome before = Simulate(run).run(0);
    const Outcome after = Simulate(run).run();
    for (const auto& [name, field] : before.fields) {
      for (std::size_t n = 0; n < field.values.size(); ++n)
        ASSERT_NEAR(field.values[n], after.fields.at(name).values[n], 1e-13) << name << ' ' << prolongation;
    }
  }
}

TEST(SubcycledLevels, HeatAndConcentrationAreKept) {
  const Outcome heat =
      simulateText("simulation.components = ['heat']\n" + std::string(kSubcycledMesh) +
                   "[heat]\nconductivity = '1 + 0.5*sin(2*pi*x)'\ninitial = '1 + sin(2*pi*x)*cos(2*pi*y)'\n"
                   "exact = '0'\n[time]\ncfl = 0.5\nmax_steps = 30\n")
          .run();
  EXPECT_NEAR(heat.end.at("heat.total"), heat.start.at("heat.total"), 1e-13);
  const Outcome swirl = simulateText("simulation.components = ['advection']\n" + std::string(kSubcycledMesh) +
                                     "[advection]\nvelocity = { x = 'sin(2*pi*y)', y = 0.5 }\n"
                                     "initial = '1 + sin(2*pi*x)*cos(2*pi*y)'\nexact = '0'\n"
                                     "[time]\ncfl = 0.4\nmax_steps = 30\n")
                            .run();
  EXPECT_NEAR(swirl.end.at("advection.total"), swirl.start.at("advection.total"), 1e-13);
}

double subcycledBumpError(std::int64_t n) {
  const std::string cells = std::to_string(n);
  return simulateText("simulation.components = ['advection']\n[grid]\ncells = [" + cells + ", " + cells +
                      ", 1]\nperiodic = [true, true, false]\npatches = [2, 2, 1]\n"
                      "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 0.75, 1]\n"
                      "[amr]\nsubcycle = true\n[advection]\nlimiter = 'none'\nvelocity = { x = 1, y = 0.5 }\n"
                      "initial = 'sin(2*pi*x)*cos(2*pi*y)'\n"
                      "exact = 'sin(2*pi*(x - t))*cos(2*pi*(y - 0.5*t))'\n[time]\ncfl = 0.4\nend = 0.25\n")
      .run()
      .end.at("advection.error_l1");
}

// Without interpolation in time, halos would be of first order.
TEST(SubcycledLevels, AnAdvectedBumpHasSecondOrder) {
  const double coarse = subcycledBumpError(32);
  const double fine = subcycledBumpError(64);
  EXPECT_GT(std::log2(coarse / fine), 1.8) << coarse << ' ' << fine;
}

// The step of level 0 is as long as it would be without finer levels.
TEST(SubcycledLevels, TakeLongerStepsThanLevelsInLockStep) {
  const Outcome own = subcycledBlast().run(1);
  const Outcome same = subcycledBlast().set("amr.subcycle=false").run(1);
  EXPECT_GT(own.dt, 6.0 * same.dt);
  EXPECT_LE(own.dt, 8.0 * same.dt);
}

TEST(SubcycledLevels, StepsThatMayBeTakenAgainAreRefused) {
  try {
    subcycledBlast().set("time.retries=2").run(1);
    FAIL() << "the deck was taken";
  } catch (const DeckError& error) {
    EXPECT_NE(error.message().find("amr.subcycle and time.retries exclude each other"), std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::test
