// lowmach on refined levels with solid cells, with the dynamic model of eddies, and with radiation.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// Light and heavy fluid around tubes in a closed box: one within a finer box, one that its border cuts, and
/// one in its corner.
constexpr const char* kTubes = R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 6, cfl = 0.4 }
solver.tolerance = 1e-12
[grid]
cells = [16, 16, 1]
patches = [2, 1, 1]
[[grid.level]]
lower = [0.25, 0.25, 0]
upper = [0.75, 0.625, 1]
patch_size = [8, 6, 1]
[[grid.level]]
level = 1
lower = [0.25, 0.625, 0]
upper = [0.5, 0.8125, 1]
patch_size = [8, 6, 1]
[lowmach]
mixing.density = [8, 1]
viscosity = 0.02
diffusivity = 0.02
gravity = [0, -1, 0]
reference_density = 4
initial.mixture_fraction = "0.5 + 0.5*sin(4*x)*cos(5*y)"
initial.velocity.x = "sin(pi*x)*cos(pi*y)"
initial.velocity.y = "-cos(pi*x)*sin(pi*y)"
)deck";
constexpr const char* kSolids =
    "(x - 0.4)^2 + (y - 0.45)^2 < 0.005 || (x - 0.75)^2 + (y - 0.4)^2 < 0.01 || "
    "(x - 0.5)^2 + (y - 0.64)^2 < 0.004";

Simulate tubes() {
  Simulate run = simulateText(kTubes);
  return run.set(std::string("lowmach.solid.where=\"") + kSolids + "\"");
}

bool isSolid(double x, double y) {
  const auto within = [&](double a, double b, double square) {
    return (x - a) * (x - a) + (y - b) * (y - b) < square;
  };
  return within(0.4, 0.45, 0.005) || within(0.75, 0.4, 0.01) || within(0.5, 0.64, 0.004);
}

TEST(LowmachSolidLevels, MassAndMixtureAreKeptAndEveryCellHasItsDivergence) {
  for (const char* state : {"lowmach.turbulence=\"none\"", "lowmach.turbulence=\"smagorinsky\"",
                            "lowmach.turbulence=\"dynamic\""}) {
    const Outcome o = tubes().set(state).run();

    for (const char* what : {"lowmach.mass", "lowmach.mixture_fraction"})
      EXPECT_NEAR(o.end.at(what), o.start.at(what), 1e-12 * o.start.at("lowmach.mass")) << what << state;
    EXPECT_LT(o.end.at("lowmach.divergence"), 1e-8) << state;
    EXPECT_GT(o.end.at("lowmach.max_velocity"), 0.1);
    EXPECT_GE(o.end.at("lowmach.min_mixture_fraction"), -1e-9);
    EXPECT_LE(o.end.at("lowmach.max_mixture_fraction"), 1.0 + 1e-9);
  }
}

TEST(LowmachSolidLevels, CellsOfEachLevelAreSolidByTheirOwnCentres) {
  const Outcome o = tubes().run();

  const WholeField& fluid = o.fields.at("lowmach.fluid on level 1");
  const WholeField& u = o.fields.at("velocity_x on level 1");
  int solids = 0;
  for (std::int64_t j = 8; j < 20; ++j) {
    for (std::int64_t i = 8; i < 24; ++i) {
      const double x = (static_cast<double>(i) + 0.5) / 32.0;
      const double y = (static_cast<double>(j) + 0.5) / 32.0;
      ASSERT_EQ(fluid({i, j, 0}), isSolid(x, y) ? 0.0 : 1.0) << i << " " << j;
      if (!isSolid(x, y)) continue;
      ++solids;
      EXPECT_EQ(u({i, j, 0}), 0.0);
      EXPECT_EQ(u({i + 1, j, 0}), 0.0);
    }
  }
  EXPECT_GT(solids, 20);
  // Under finer cells and faces the coarse ones hold what these have; x = 0.75 is where the finer level ends.
  const WholeField& coarse = o.fields.at("lowmach.fluid");
  const WholeField& open = o.fields.at("lowmach.open_x");
  const WholeField& fineOpen = o.fields.at("lowmach.open_x on level 1");
  int between = 0;
  for (std::int64_t j = 4; j < 10; ++j) {
    for (std::int64_t i = 4; i < 12; ++i) {
      const auto at = [&](std::int64_t a, std::int64_t b) { return fluid({2 * i + a, 2 * j + b, 0}); };
      const double mean = 0.25 * (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1));
      ASSERT_EQ(coarse({i, j, 0}), mean);
      between += mean > 0.0 && mean < 1.0 ? 1 : 0;
    }
    for (std::int64_t i = 4; i <= 12; ++i)
      ASSERT_EQ(open({i, j, 0}), 0.5 * (fineOpen({2 * i, 2 * j, 0}) + fineOpen({2 * i, 2 * j + 1, 0})));
  }
  EXPECT_GT(between, 0);
  EXPECT_EQ(fineOpen({24, 12, 0}), 0.0);
  EXPECT_EQ(fineOpen({24, 18, 0}), 1.0);
}

// No face of it conducts, so the pressure of its neighbours cannot come from it.
TEST(LowmachSolidLevels, AFluidCellThatSolidsShutInIsSolid) {
  const Outcome o = tubes()
                        .set(
                            "lowmach.solid.where=\"abs(x - 0.84375) < 0.08 && abs(y - 0.40625) < 0.08 && "
                            "abs(x - 0.84375) + abs(y - 0.40625) > 0.01\"")
                        .run(1);

  EXPECT_EQ(o.fields.at("lowmach.fluid")({13, 6, 0}), 0.0);
  EXPECT_EQ(o.fields.at("lowmach.fluid")({13, 8, 0}), 1.0);
}

TEST(LowmachSolidLevels, SolidCellsKeepTheirTemperatureAndNothingExpandsInThem) {
  const Outcome o = tubes()
                        .set("lowmach.reference_temperature=3")
                        .set("lowmach.initial.temperature=\"3 + x\"")
                        .set("lowmach.conductivity=0.02")
                        .set("lowmach.solid.temperature=6")
                        .run();

  const WholeField& fluid = o.fields.at("lowmach.fluid");
  int solids = 0;
  for (std::int64_t j = 0; j < 16; ++j) {
    for (std::int64_t i = 0; i < 16; ++i) {
      if (fluid({i, j, 0}) > 0.0) continue;
      ++solids;
      EXPECT_EQ(o.fields.at("temperature")({i, j, 0}), 6.0) << i << " " << j;
      EXPECT_EQ(o.fields.at("lowmach.expansion")({i, j, 0}), 0.0) << i << " " << j;
    }
  }
  EXPECT_GT(solids, 4);
  EXPECT_LT(o.end.at("lowmach.divergence"), 1e-7);
}

TEST(LowmachSolidLevels, AMixtureThatIsTheSameEverywhereStaysExactlySo) {
  const Outcome o = tubes().set("lowmach.initial.mixture_fraction=0.3").run();

  for (const char* level : {"mixture_fraction", "mixture_fraction on level 1"}) {
    for (const double f : o.fields.at(level).values)
      if (f != 0.0) ASSERT_EQ(f, 0.3) << level;
  }
}

// The pressure rises evenly downwards, also where the border of a level meets a tube: fluid stays at rest.
TEST(LowmachSolidLevels, FluidAtRestStaysAtRestAroundTubesAndItsPressureBearsIt) {
  const Outcome o = tubes()
                        .set("lowmach.mixing={ density = [2, 2] }")
                        .set("lowmach.initial.velocity={ x = 0, y = 0 }")
                        .set("lowmach.gravity=[-4, -3, 0]")
                        .set("lowmach.reference_density=0")
                        .set("time.dt_max=0.02")
                        .set(std::string("lowmach.solid.where=\"") + kSolids +
                             // A plate one fine cell away from the border.
                             " || x > 0.69 && x < 0.72 && y > 0.5 && y < 0.6\"")
                        .run();

  EXPECT_LT(o.end.at("lowmach.max_velocity"), 1e-9);
  const WholeField& p = o.fields.at("pressure");
  EXPECT_NEAR(p({1, 2, 0}) - p({14, 13, 0}), 2.0 * (4.0 * 13.0 + 3.0 * 11.0) / 16.0, 1e-7);
  const WholeField& fine = o.fields.at("pressure on level 1");
  EXPECT_NEAR(fine({8, 8, 0}) - fine({20, 18, 0}), 2.0 * (4.0 * 12.0 + 3.0 * 10.0) / 32.0, 1e-7);
}

/// A channel between walls that are solid cells; a finer box over a part of both walls, or of one.
Outcome channelOfSolids(std::int64_t n, const std::string& levels) {
  return simulateText(R"deck(
simulation.components = ["lowmach"]
time = { end = 2, cfl = 0.9 }
solver.tolerance = 1e-9
grid = { cells = [16, 16, 1], lower = [0, -0.5, 0], upper = [2, 1.5, 1], patches = [1, 1, 1], periodic = [true, false, false] }
[lowmach]
viscosity = 0.2
force.x = 1
initial.velocity.x = "max(y*(1 - y), 0)/0.4"
solid.where = "y < 0 || y > 1"
exact.velocity.x = "max(y*(1 - y), 0)/0.4"
)deck")
      .cells({n, n, 1})
      .set("grid.level=[" + levels + "]")
      .run();
}

TEST(LowmachSolidLevels, AChannelThatAFinerBoxCutsHasTheFlowOfPoiseuille) {
  for (const char* box : {"{ lower = [0.5, -0.25, 0], upper = [1.5, 1.25, 1], patch_size = [16, 16, 1] }",
                          "{ lower = [0.5, -0.25, 0], upper = [1.5, 0.5, 1], patch_size = [16, 16, 1] }"}) {
    const Outcome coarse = channelOfSolids(8, box);
    const Outcome fine = channelOfSolids(16, box);

    const WholeField& u = fine.fields.at("velocity_x");
    const auto through = [&](std::int64_t i) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < 16; ++j) sum += u({i, j, 0}) / 8.0;
      return sum;
    };
    for (const std::int64_t i : {3, 4, 5, 8, 12, 13}) EXPECT_NEAR(through(i), through(0), 1e-8) << i;
    // The whole flow of 1/(12 mu) comes out to a few percent, the better the finer the cells.
    EXPECT_NEAR(through(0), 1.0 / 2.4, 0.04 / 2.4) << box;
    EXPECT_GE(
        std::log2(coarse.end.at("lowmach.velocity_x.error_l1") / fine.end.at("lowmach.velocity_x.error_l1")),
        0.9)
        << box;
  }
}

/// What the dynamic model of a whole level says of a flow, on two levels of which the finer covers a part.
std::string eddying(const std::string& levels, const char* cells) {
  return std::string(
             "simulation.components = [\"lowmach\"]\ntime = { max_steps = 1, cfl = 0.4 }\n"
             "[grid]\npatches = [1, 1, 1]\nperiodic = [true, true, false]\ncells = ") +
         cells + "\nlevel = [" + levels + "]\n" + R"deck(
[lowmach]
viscosity = 0.001
turbulence = "dynamic"
initial.velocity.x = "sin(2*pi*x) - 0.3*sin(4*pi*x) + 0.2*cos(4*pi*y)"
initial.velocity.y = "0.4*sin(2*pi*x)*cos(4*pi*y)"
)deck";
}

TEST(LowmachSolidLevels, TheDynamicConstantOfALevelThatCoversAllIsThatOfItsCells) {
  const Outcome one = simulateText(eddying("", "[12, 12, 1]")).run();
  const Outcome two =
      simulateText(eddying("{ lower = [0, 0, 0], upper = [1, 1, 1], patch_size = [12, 12, 1] }", "[6, 6, 1]"))
          .run();

  const WholeField& right = one.fields.at("lowmach.eddy_viscosity");
  const WholeField& mu = two.fields.at("lowmach.eddy_viscosity on level 1");
  ASSERT_GT(right({3, 4, 0}), 1e-6);
  for (std::size_t n = 0; n < right.values.size(); ++n) ASSERT_NEAR(mu.values[n], right.values[n], 1e-12);
}

/// mu over h^2 |S| of the exact strain: the constant, but for errors of differences.
double constantAt(const WholeField& mu, std::int64_t cells, std::int64_t i, std::int64_t j) {
  const double pi = 3.14159265358979;
  const double h = 1.0 / static_cast<double>(cells);
  const double x = 2 * pi * (static_cast<double>(i) + 0.5) * h;
  const double y = 2 * pi * (static_cast<double>(j) + 0.5) * h;
  const double xx = 2 * pi * (std::cos(x) - 0.6 * std::cos(2 * x));
  const double yy = -4 * pi * 0.4 * std::sin(x) * std::sin(2 * y);
  const double xy = 0.5 * 2 * pi * (-0.4 * std::sin(2 * y) + 0.4 * std::cos(x) * std::cos(2 * y));
  return mu({i, j, 0}) / (h * h * std::sqrt(2 * (xx * xx + yy * yy + 2 * xy * xy)));
}

TEST(LowmachSolidLevels, TheDynamicConstantIsOneForAllLevels) {
  const Outcome o =
      simulateText(
          eddying("{ lower = [0, 0.5, 0], upper = [1, 1, 1], patch_size = [16, 16, 1] }", "[32, 32, 1]"))
          .run();
  const Outcome fine = simulateText(eddying("", "[64, 64, 1]")).run();
  const Outcome coarse = simulateText(eddying("", "[32, 32, 1]")).run();

  const double here = constantAt(o.fields.at("lowmach.eddy_viscosity"), 32, 5, 10);
  const double there = constantAt(o.fields.at("lowmach.eddy_viscosity on level 1"), 64, 10, 52);
  EXPECT_NEAR(here, there, 0.02 * here);
  // The flow is the same in both halves.
  const double ofFine = constantAt(fine.fields.at("lowmach.eddy_viscosity"), 64, 10, 52);
  const double ofCoarse = constantAt(coarse.fields.at("lowmach.eddy_viscosity"), 32, 5, 10);
  // M goes as the square of the width, so the sums of finer cells of the same area have 1/16 of the weight.
  const double weight = (ofCoarse - here) / (here - ofFine);
  EXPECT_NEAR(weight, 1.0 / 16.0, 0.06) << ofCoarse << " " << here << " " << ofFine;
}

/// A thin gas between cold walls that radiates, hotter on one side, with finer cells in a part of the box.
TEST(LowmachSolidLevels, AThinGasLosesTheEnergyThatItRadiatesOnAllLevels) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach", "rmcrt"]
[grid]
cells = [4, 4, 4]
patches = [2, 1, 1]
[[grid.level]]
lower = [0.25, 0.25, 0]
upper = [0.75, 1, 0.5]
[time]
dt = 0.01
end = 0.2
[lowmach]
density = 2
heat_capacity = 5
initial.temperature = 1
sources = ["-1e9 * rmcrt.divQ"]
[rmcrt]
temperature_from = "temperature"
absorption = 1e-8
stefan_boltzmann = 1
rays = 2
wall_rays = 0
threshold = 1e-12
)deck")
                        .keepHistory()
                        .run();

  // T' = -4 T^4; the source is of the begin of the step.
  for (const char* name : {"temperature", "temperature on level 1"}) {
    for (const double T : o.fields.at(name).values)
      if (T != 0.0) ASSERT_NEAR(T, std::pow(1.0 + 12.0 * 0.2, -1.0 / 3.0), 0.04) << name;
  }
  // Both stages of a step take a source of an earlier one: that of the last step and of this one.
  const auto& energy = o.history.at("lowmach.temperature");
  const auto& loss = o.history.at("rmcrt.loss");
  ASSERT_GT(loss.size(), 10u);
  for (std::size_t n = 2; n < loss.size(); ++n) {
    const double lost = 0.01 / 5.0 * 1e9 * 0.5 * (loss[n - 2] + loss[n - 1]);
    EXPECT_NEAR(energy[n - 1] - energy[n], lost, 1e-9) << n;
  }
}

/// All at once: a flame around a tube that the border of a finer box cuts, in a duct, with eddies.
constexpr const char* kBoilerLevels = R"deck(
simulation.components = ["lowmach", "rmcrt"]
time = { max_steps = 3, cfl = 0.4 }
grid = { cells = [12, 8, 6], upper = [1.2, 0.8, 0.6], patches = [1, 1, 1] }
[lowmach]
state = "flame"
mixing = { density = [1.2, 0.66] }
reference_temperature = 300
heat_capacity = 1375
flame = { stoichiometric = 0.055, temperature = [300, 320], heat = 50e6, absorption = 0.8 }
viscosity = 1e-3
diffusivity = 1e-3
turbulence = "dynamic"
convection = "limited"
initial = { mixture_fraction = "0.04*y", enthalpy = 0 }
sources = ["-rmcrt.divQ"]
solid.where = "(x - 0.6)^2 + (y - 0.4)^2 < 0.02"
boundary.x_high.type = "outlet"
boundary.x_low = { type = "inlet", velocity = { x = 1, y = "0.3*(z - 0.3)", z = "0.3*(0.4 - y)*cos(3*t)" }, mixture_fraction = "0.2*y" }
[rmcrt]
temperature_from = "temperature"
absorption_from = "lowmach.absorption"
rays = 4
every = 2
solid.where = "(x - 0.6)^2 + (y - 0.4)^2 < 0.02"
)deck";

// Rays see finer cells in and around their own patch alone, so with radiation patches stay as they are.
TEST(LowmachSolidLevels, HaveTheSameBitsForAnyRanksThreadsAndDevices) {
  const auto run = [] {
    Simulate one = simulateText(kBoilerLevels);
    return one.set("grid.level=[{ lower = [0, 0.2, 0], upper = [0.6, 0.6, 0.6], patch_size = [6, 4, 4] }]")
        .patches({3, 2, 1});
  };
  const Outcome right = run().run();
  ASSERT_GT(right.end.at("lowmach.max_velocity"), 1.0);
  ASSERT_LT(right.end.at("lowmach.divergence"), 1e-6);

  for (const int ranks : {1, 3})
    EXPECT_EQ(firstDifference(right, run().ranks(ranks).threads(ranks % 2).run()), "") << ranks << " ranks";
  EXPECT_EQ(firstDifference(right, run().ranks(2).checked().run()), "");
  EXPECT_EQ(firstDifference(right, run().ranks(2).seed(5).run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, run().devices(devices).run()), "");
}

/// Boxes of each level, in its cells; levels beyond the last one named are not there.
using BoxesOfLevels = std::vector<Box>;

/// The mean of the pressure over fluid that no finer cells cover, by volume, as a part of its largest amount.
double meanPressure(const Outcome& o, const BoxesOfLevels& boxes) {
  double sum = 0.0;
  double largest = 0.0;
  for (std::size_t n = 0; n < boxes.size(); ++n) {
    const std::string on = n == 0 ? "" : " on level " + std::to_string(n);
    const WholeField& p = o.fields.at("pressure" + on);
    const WholeField& fluid = o.fields.at("lowmach.fluid" + on);
    forEachIndex(boxes[n], [&](Index x) {
      const bool isCovered = n + 1 < boxes.size() && boxes[n + 1].contains(Index{2 * x.i, 2 * x.j, x.k});
      if (isCovered || fluid(x) == 0.0) return;
      sum += std::pow(0.25, n) * p(x);
      largest = std::max(largest, std::abs(p(x)));
    });
  }
  return sum / (largest * 256.0);
}

// Nothing gives the pressure a value: it is the mean over fluid that is 0, whatever solid cells hold.
TEST(LowmachSolidLevels, TheMeanPressureOfTheFluidIsNoughtOnAnyLevelsByEitherLibrary) {
  const std::string second = "{ lower = [0.25, 0.25, 0], upper = [0.75, 0.75, 1], patch_size = [8, 8, 1] }";
  const std::string third =
      "{ level = 2, lower = [0.375, 0.375, 0], upper = [0.625, 0.625, 1], patch_size = [8, 8, 1] }";
  for (const std::string library : {"own", "hypre"}) {
    if (library == "hypre" && !hasHypre()) continue;
    for (const std::size_t levels : {1, 2, 3}) {
      BoxesOfLevels boxes{{{0, 0, 0}, {16, 16, 1}}, {{8, 8, 0}, {24, 24, 1}}, {{24, 24, 0}, {40, 40, 1}}};
      boxes.resize(levels);
      const std::string list = levels == 1 ? "" : levels == 2 ? second : second + ", " + third;
      const Outcome o =
          tubes().set("grid.level=[" + list + "]").set("solver.library='" + library + "'").run();
      EXPECT_LT(std::abs(meanPressure(o, boxes)), 1e-14) << library << " on " << levels;
      EXPECT_EQ(o.fields.at("pressure")({12, 6, 0}), 0.0);
    }
  }
}

/// Nobody declares these holes: they are rows without entries, which a device finds as the host does.
TEST(LowmachSolidLevels, OnOneLevelDevicesFindTheSameHolesAndMean) {
  const auto run = [] { return tubes().set("grid.level=[]"); };
  const Outcome right = run().run();

  EXPECT_EQ(firstDifference(right, run().patches({3, 2, 1}).ranks(3).run()), "");
  const Outcome o = run().patches({2, 2, 1}).devices(firstDevices(DeviceKind::Emulated, 1)).run();
  EXPECT_EQ(firstDifference(right, o), "");
  EXPECT_GT(o.solves.device.waits, 0) << "solved on the host";
}

TEST(LowmachSolidLevels, HypreFindsTheSameFlow) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  const auto run = [](const char* library) {
    return tubes().set("solver.tolerance=1e-13").set(std::string("solver.library=") + library).run();
  };
  const Outcome own = run("'own'");
  const Outcome hypre = run("'hypre'");

  ASSERT_GT(own.end.at("lowmach.max_velocity"), 0.1);
  EXPECT_LT(hypre.end.at("lowmach.divergence"), 1e-8);
  for (const char* name :
       {"velocity_x", "velocity_x on level 1", "velocity_y on level 1", "pressure", "pressure on level 1"}) {
    const WholeField& u = own.fields.at(name);
    const WholeField& v = hypre.fields.at(name);
    double largest = 0.0;
    forEachIndex(u.box, [&](Index x) { largest = std::max(largest, std::abs(u(x) - v(x))); });
    EXPECT_LT(largest, 1e-10) << name;
  }
}

TEST(LowmachSolidLevels, HaveTheSameBitsForAnyPatches) {
  const auto run = [](const char* size) {
    Simulate one = tubes();
    const std::string level = std::string("patch_size = ") + size + " }";
    return one.set("lowmach.turbulence=\"dynamic\"")
        .set("grid.level=[{ lower = [0.25, 0.25, 0], upper = [0.75, 0.625, 1], " + level +
             ", { level = 1, lower = [0.25, 0.625, 0], upper = [0.5, 0.8125, 1], " + level + "]");
  };
  const Outcome right = run("[99, 99, 1]").run();

  for (const char* size : {"[5, 3, 1]", "[4, 6, 1]"})
    EXPECT_EQ(firstDifference(right, run(size).patches({3, 2, 1}).ranks(3).run()), "") << size;
}

}  // namespace
}  // namespace tessera::test
