// lowmach where the mesh has levels: what stays as it is, what is kept, the divergence of every cell, orders.
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// A vortex that stirs light and heavy fluid in a periodic box; three levels, with corners, and a box that
/// goes on across the period.
constexpr const char* kStirredLevels = R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 8, cfl = 0.4 }
solver.tolerance = 1e-12
[grid]
cells = [16, 16, 1]
patches = [2, 2, 1]
periodic = [true, true, false]
[[grid.level]]
lower = [0, 0.25, 0]
upper = [0.5, 0.75, 1]
patch_size = [8, 8, 1]
[[grid.level]]
level = 1
lower = [0.5, 0, 0]
upper = [0.75, 0.5, 1]
patch_size = [8, 8, 1]
[[grid.level]]
lower = [0.25, 0.375, 0]
upper = [0.4375, 0.625, 1]
patch_size = [8, 8, 1]
[lowmach]
mixing.density = [20, 1]
viscosity = 0.01
diffusivity = 0.01
initial.mixture_fraction = "0.5 + 0.5*sin(2*pi*x)*cos(2*pi*y)"
initial.velocity.x = "1 - cos(2*pi*x)*sin(2*pi*y)"
initial.velocity.y = "sin(2*pi*x)*cos(2*pi*y)"
)deck";

void expectUnchanged(const Simulate& run, const std::string& variable) {
  const Outcome before = Simulate(run).run(0);
  const Outcome after = Simulate(run).run();
  int fields = 0;
  for (const auto& [name, field] : before.fields) {
    if (!name.starts_with(variable)) continue;
    ++fields;
    EXPECT_EQ(field.values, after.fields.at(name).values) << name;
  }
  EXPECT_EQ(fields, 3);
}

TEST(LowmachLevels, AUniformStreamOfAnyDensityStaysExactlyAsItIs) {
  Simulate run = simulateText(kStirredLevels);
  run.set("lowmach.diffusivity=0")
      .set("lowmach.initial.velocity.x=0.3")
      .set("lowmach.initial.velocity.y=-1.7");
  expectUnchanged(run, "velocity_x");
  expectUnchanged(run, "velocity_y");
}

TEST(LowmachLevels, AMixtureThatIsTheSameEverywhereStaysExactlySo) {
  Simulate run = simulateText(kStirredLevels);
  run.set("lowmach.initial.mixture_fraction=0.3");
  expectUnchanged(run, "mixture_fraction");
}

TEST(LowmachLevels, MassAndMixtureAreKeptAndEveryCellHasItsDivergence) {
  const Outcome o = simulateText(kStirredLevels).ranks(3).run();

  for (const char* what : {"mass", "mixture_fraction"}) {
    const std::string column = std::string("lowmach.") + what;
    EXPECT_NEAR(o.end.at(column), o.start.at(column), 1e-12 * o.start.at("lowmach.mass")) << what;
  }
  EXPECT_GE(o.end.at("lowmach.min_mixture_fraction"), -1e-12);
  EXPECT_LE(o.end.at("lowmach.max_mixture_fraction"), 1.0 + 1e-12);
  EXPECT_LT(o.end.at("lowmach.divergence"), 1e-8);
}

TEST(LowmachLevels, TheDensityStaysThatOfItsMixture) {
  const Outcome o = simulateText(kStirredLevels).run();

  for (const char* level : {"", " on level 1", " on level 2"}) {
    const WholeField& f = o.fields.at(std::string("mixture_fraction") + level);
    const WholeField& rho = o.fields.at(std::string("density") + level);
    double largest = 0.0;
    for (std::size_t n = 0; n < f.values.size(); ++n) {
      if (rho.values[n] == 0.0) continue;  // no patch there
      largest = std::max(largest, std::abs(rho.values[n] * ((1.0 - f.values[n]) / 20.0 + f.values[n]) - 1.0));
    }
    EXPECT_LT(largest, 1e-8) << level;
  }
}

// With fluxes of their own, cells on both sides of a border of levels gain and lose different amounts.
TEST(LowmachLevels, WithoutRefluxingTheMixtureIsNotKept) {
  const Outcome o = simulateText(kStirredLevels).set("amr.reflux=false").run();

  EXPECT_NEAR(o.end.at("lowmach.mass"), o.start.at("lowmach.mass"), 1e-12 * o.start.at("lowmach.mass"));
  EXPECT_GT(std::abs(o.end.at("lowmach.mixture_fraction") - o.start.at("lowmach.mixture_fraction")),
            1e-6 * o.start.at("lowmach.mass"));
}

constexpr const char* kMiddle =
    "{ lower = [0.25, 0.25, 0], upper = [0.75, 0.625, 1], patch_size = [8, 8, 1] }";

TEST(LowmachLevels, TravellingVorticesAreOfSecondOrderAndNoWorseThanOnOneLevel) {
  const auto run = [](std::int64_t n, const std::string& levels) {
    return simulate("lowmach/taylor_green").cells({n, n, 1}).set("grid.level=[" + levels + "]").run();
  };
  const Outcome coarse = run(16, kMiddle);
  const Outcome fine = run(32, kMiddle);
  const Outcome one = run(32, "");

  for (const char* what : {"velocity_x", "velocity_y"}) {
    const std::string norm = std::string("lowmach.") + what + ".error_l1";
    EXPECT_GE(std::log2(coarse.end.at(norm) / fine.end.at(norm)), 1.8) << what;
    EXPECT_LT(fine.end.at(norm), one.end.at(norm)) << what;
  }
  EXPECT_GE(std::log2(coarse.end.at("lowmach.pressure.error_l1") / fine.end.at("lowmach.pressure.error_l1")),
            1.8);
  EXPECT_LT(fine.end.at("lowmach.divergence"), 1e-8);
}

TEST(LowmachLevels, OscillationsAtRatioTwentyAreStableAndConverge) {
  const auto run = [](std::int64_t n) {
    return simulate("lowmach/shunn_oscillation")
        .cells({n, n, 1})
        .set("grid.level=[{ lower = [-0.5, -0.5, 0], upper = [0.25, 0.5, 1], patch_size = [16, 16, 1] }]")
        .set("time.end=0.5")
        .run();
  };
  const Outcome coarse = run(32);
  const Outcome fine = run(64);

  for (const char* what : {"density", "mixture_fraction", "velocity_x", "velocity_y"}) {
    const std::string norm = std::string("lowmach.") + what + ".error_l1";
    EXPECT_GE(std::log2(coarse.end.at(norm) / fine.end.at(norm)), 1.6) << what;
  }
  EXPECT_NEAR(fine.end.at("lowmach.mass"), fine.start.at("lowmach.mass"), 42.0 * 1e-12);
  EXPECT_LT(fine.end.at("lowmach.divergence"), 1e-7);
}

/// The least order in the mean square of density, mixture and velocities across borders of levels.
void expectSecondOrder(const Outcome& coarse, const Outcome& fine) {
  for (const char* what : {"density", "mixture_fraction", "velocity_x", "velocity_y"}) {
    const std::string norm = std::string("lowmach.") + what + ".error_l2";
    if (fine.end.contains(norm)) EXPECT_GE(std::log2(coarse.end.at(norm) / fine.end.at(norm)), 1.8) << what;
  }
}

TEST(LowmachLevels, MixingAtRatioTwentyIsOfSecondOrder) {
  const auto diffusion = [](std::int64_t n) {
    return simulate("lowmach/shunn_diffusion")
        .cells({n, 1, 1})
        .set("grid.level=[{ lower = [0, 0, 0], upper = [0.5, 1, 1], patch_size = [64, 1, 1] }]")
        .set("solver.tolerance=1e-7")
        .run();
  };
  expectSecondOrder(diffusion(32), diffusion(64));

  const auto oscillation = [](std::int64_t n) {
    return simulate("lowmach/shunn_oscillation")
        .cells({n, n, 1})
        .set("grid.level=[{ lower = [-0.5, -0.5, 0], upper = [0.25, 0.5, 1], patch_size = [16, 16, 1] }]")
        .set("time.end=0.1")
        .set("solver.tolerance=1e-6")
        .run();
  };
  expectSecondOrder(oscillation(32), oscillation(64));
}

/// A box of finer cells at the outlet of a channel, and at a wall.
TEST(LowmachLevels, WhatEntersAChannelLeavesItThroughFinerFaces) {
  const Outcome o =
      simulate("lowmach/channel")
          .cells({24, 8, 1})
          .set("grid.level=[{ lower = [1.5, 0, 0], upper = [3, 0.5, 1], patch_size = [12, 8, 1] }]")
          .set("solver.tolerance=1e-13")
          .run();

  const WholeField& u = o.fields.at("velocity_x");
  const auto through = [&](std::int64_t i) {
    double sum = 0.0;
    for (std::int64_t j = 0; j < 8; ++j) sum += u({i, j, 0}) / 8.0;
    return sum;
  };
  for (const std::int64_t i : {11, 12, 13, 18, 24}) EXPECT_NEAR(through(i), through(0), 1e-10) << i;
  EXPECT_LT(o.end.at("lowmach.velocity_x.error_l1"), 0.01);
  EXPECT_LT(o.end.at("lowmach.divergence"), 1e-8);
}

/// Light fluid that enters through a part of a wall into heavy one in a box, with heat and eddies; a finer
/// box at the inlet and one within it.
constexpr const char* kPlumeLevels = R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 3, cfl = 0.4 }
[grid]
cells = [12, 14, 6]
upper = [1, 1.2, 0.4]
patches = [1, 1, 1]
periodic = [false, false, true]
[[grid.level]]
lower = [0.25, 0, 0]
upper = [0.75, 0.6, 0.33]
patch_size = [99, 99, 99]
[[grid.level]]
lower = [0.4, 0, 0.11]
upper = [0.6, 0.3, 0.19]
patch_size = [99, 99, 99]
[lowmach]
mixing = { density = [1.2, 0.4], viscosity = 0.01 }
viscosity = 0.002
diffusivity = 0.002
conductivity = 0.003
reference_temperature = 300
turbulence = "smagorinsky"
gravity = [0, -9.8, 0]
reference_density = 1.2
convection = "limited"
initial.mixture_fraction = 0
initial.temperature = "300 + 20*x"
heat_source = "100*x"
boundary.y_high.type = "outlet"
boundary.x_high.type = "slip"
[[lowmach.boundary_part]]
side = "y_low"
within = "abs(x - 0.5) < 0.2"
type = "inlet"
velocity.y = "1 + 0.2*sin(20*t)"
mixture_fraction = "1 - 0.1*cos(2*pi*z/0.4)"
temperature = 320
)deck";

TEST(LowmachLevels, HaveTheSameBitsForAnyRanksThreadsPatchesAndDevices) {
  const auto run = [](const char* sizes) {
    Simulate one = simulateText(kPlumeLevels);
    const std::string level = std::string("patch_size = ") + sizes + " }";
    return one.set("grid.level=[{ lower = [0.25, 0, 0], upper = [0.75, 0.6, 0.33], " + level +
                   ", { lower = [0.4, 0, 0.11], upper = [0.6, 0.3, 0.19], " + level + "]");
  };
  const Outcome right = simulateText(kPlumeLevels).run();
  ASSERT_GT(right.end.at("lowmach.max_mixture_fraction"), 0.05);
  ASSERT_LT(right.end.at("lowmach.divergence"), 1e-7);

  for (const char* sizes : {"[5, 7, 4]", "[3, 99, 6]"}) {
    for (const int ranks : {1, 3}) {
      const Outcome o = run(sizes).patches({3, 2, 2}).ranks(ranks).threads(ranks % 2).run();
      EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks, patches of " << sizes;
    }
  }
  EXPECT_EQ(firstDifference(right, run("[8, 8, 4]").patches({3, 2, 1}).ranks(2).checked().run()), "");
  EXPECT_EQ(firstDifference(right, run("[8, 8, 4]").patches({3, 2, 1}).ranks(2).seed(5).run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, run("[8, 8, 4]").patches({3, 2, 1}).devices(devices).run()), "");
}

TEST(LowmachLevels, ShorterStepsOnFinerLevelsAreRefusedByName) {
  std::string message;
  try {
    simulateText(kStirredLevels).set("amr.subcycle=true").run(1);
  } catch (const DeckError& error) {
    message = error.message();
  }
  EXPECT_THAT(message, ::testing::HasSubstr("\"lowmach\" cannot take shorter steps on finer levels"));
}

/// The density varies, so each solve has a matrix of its own.
TEST(LowmachLevels, HypreFindsTheSameFlow) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  const Outcome right = simulateText(kStirredLevels).run();
  const Outcome hypre = simulateText(kStirredLevels).set("solver.library='hypre'").run();
  EXPECT_EQ(hypre.solves.setups, hypre.solves.solves);
  EXPECT_LT(hypre.end.at("lowmach.divergence"), 1e-9);
  for (const char* name : {"density", "mixture_fraction", "velocity_x", "velocity_y"}) {
    const WholeField& expected = right.fields.at(name);
    const WholeField& found = hypre.fields.at(name);
    double largest = 0.0;
    forEachIndex(expected.box,
                 [&](Index x) { largest = std::max(largest, std::abs(expected(x) - found(x))); });
    EXPECT_LT(largest, 1e-8) << name;
  }
}

}  // namespace
}  // namespace tessera::test
