#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "tests/components/order_of.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

Simulate implicitWave(const std::string& scheme) {
  return simulate("heat/crank_nicolson").set("heat.scheme='" + scheme + "'");
}

// dt is a hundred times what the explicit scheme allows, h^2/4.
TEST(ImplicitHeat, AWaveIsMultipliedByTheFactorOfTheScheme) {
  const double n = 32.0;
  const double dt = 100.0 / (4.0 * n * n);
  const double q = 8.0 * n * n * std::pow(std::sin(std::numbers::pi / n), 2) * dt;

  for (const std::string scheme : {"backward_euler", "crank_nicolson"}) {
    const double g = scheme == "backward_euler" ? 1.0 / (1.0 + q) : (1.0 - q / 2.0) / (1.0 + q / 2.0);
    const Outcome o = implicitWave(scheme).ranks(2).run(4);
    ASSERT_EQ(o.dt, dt);
    const WholeField& T = o.fields.at("temperature");
    double largest = 0.0;
    forEachIndex(T.box, [&](Index x) {
      double wave = std::pow(g, 4);
      for (int d = 0; d < 2; ++d)
        wave *= std::sin(2.0 * std::numbers::pi * (static_cast<double>(x[d]) + 0.5) / n);
      largest = std::max(largest, std::abs(T(x) - wave));
    });
    EXPECT_LT(largest, 1e-11) << scheme;
  }
}

/// A conductivity of space, a source and conditions of time; T = exp(-t) sin(x) + x t.
constexpr const char* kMade = R"deck(
simulation.components = ["heat"]
time = { dt = 0.25, end = 0.5 }
grid = { cells = [256, 1, 1], patches = [3, 1, 1] }
[heat]
scheme = "crank_nicolson"
conductivity = "1 + x"
initial = "sin(x)"
source = "-exp(-t)*sin(x) + x - exp(-t)*(cos(x) - (1 + x)*sin(x)) - t"
exact = "exp(-t)*sin(x) + x*t"
boundary.x_low = { type = "dirichlet", value = 0 }
boundary.x_high = { type = "neumann", value = "exp(-t)*cos(1) + t" }
)deck";

TEST(ImplicitHeat, IsOfFirstAndOfSecondOrderInTime) {
  const auto errorOf = [](const char* scheme) {
    return [scheme](std::int64_t steps) {
      return simulateText(kMade)
          .set(std::string("heat.scheme='") + scheme + "'")
          .set("time.dt=" + std::to_string(0.5 / static_cast<double>(steps)))
          .run()
          .end.at("heat.error_l2");
    };
  };

  EXPECT_NEAR(orderOf(errorOf("backward_euler"), {4, 8, 16}), 1.0, 0.1);
  EXPECT_GE(orderOf(errorOf("crank_nicolson"), {2, 4, 8}), 1.85);
}

TEST(ImplicitHeat, HasTheSameBitsForAnyRanksThreadsAndPatchesAndOnDevices) {
  const auto run = [] { return simulateText(kMade).set("grid.cells=[24, 20, 1]"); };
  const Outcome right = run().patches({1, 1, 1}).run();
  ASSERT_GT(right.end.at("heat.solve.iterations"), 2.0);

  for (const int ranks : {1, 2, 5})
    EXPECT_EQ(firstDifference(right, run().patches({5, 3, 1}).ranks(ranks).threads(ranks % 3).run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 1);
  EXPECT_EQ(firstDifference(right, run().patches({5, 3, 1}).devices(devices).run()), "");
}

/// A spot with a finer box around it, insulated, and a step 64 times as long as the explicit scheme takes on
/// the finer level.
Simulate spotOnLevels(const std::string& scheme) {
  return simulate("heat/spot_two_level")
      .set("heat.scheme='" + scheme + "'")
      .set("solver.tolerance=1e-13")
      .set("time.dt=0.00390625")
      .set("time.end=0.015625")
      .set("output.every=1");
}

TEST(ImplicitHeat, OnLevelsNoHeatIsLostOrWonWhereTheyMeet) {
  for (const std::string scheme : {"backward_euler", "crank_nicolson"}) {
    const Outcome o = spotOnLevels(scheme).run();
    EXPECT_EQ(o.steps, 4);
    EXPECT_NEAR(o.end.at("heat.total"), o.start.at("heat.total"), 1e-13 * o.start.at("heat.total")) << scheme;
    EXPECT_GT(o.start.at("heat.max") - o.end.at("heat.max"), 0.5) << scheme;
  }
}

/// T = exp(-t) cos(pi x) cos(pi y) + x t, with a conductivity of space.
constexpr const char* kMadeOnLevels = R"deck(
simulation.components = ["heat"]
time = { dt = 0.0625, end = 0.25 }
[grid]
cells = [16, 16, 1]
patches = [2, 1, 1]
[[grid.level]]
ratio = 2
lower = [0.25, 0.25, 0]
upper = [0.75, 0.625, 1]
patch_size = [8, 8, 1]
[heat]
scheme = "crank_nicolson"
conductivity = "1 + x"
initial = "cos(pi*x)*cos(pi*y)"
source = "exp(-t)*(-cos(pi*x) + 2*pi^2*(1 + x)*cos(pi*x) + pi*sin(pi*x))*cos(pi*y) + x - t"
exact = "exp(-t)*cos(pi*x)*cos(pi*y) + x*t"
boundary.x_low = { type = "neumann", value = "-t" }
boundary.x_high = { type = "dirichlet", value = "-exp(-t)*cos(pi*y) + t" }
)deck";

TEST(ImplicitHeat, OnLevelsIsOfSecondOrderInSpaceAndTime) {
  const auto error = [](std::int64_t n) {
    return simulateText(kMadeOnLevels)
        .cells({n, n, 1})
        .set("time.dt=" + std::to_string(1.0 / static_cast<double>(n)))
        .run()
        .end.at("heat.error_max");
  };

  EXPECT_GE(orderOf(error, {16, 32, 64}), 1.85);
}

TEST(ImplicitHeat, OnLevelsHasTheSameBitsForAnyRanksAndPatchesAndOnOtherMeshes) {
  const Outcome right = simulateText(kMadeOnLevels).run();
  ASSERT_GT(right.end.at("heat.solve.iterations"), 1.0);

  for (const int ranks : {2, 5}) {
    const Outcome o = simulateText(kMadeOnLevels).patches({3, 2, 1}).ranks(ranks).threads(ranks % 3).run();
    EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks";
  }
  EXPECT_EQ(firstDifference(right, simulateText(kMadeOnLevels).ranks(3).adoptions(5).run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 1);
  EXPECT_EQ(firstDifference(right, simulateText(kMadeOnLevels).devices(devices).run()), "");
}

TEST(ImplicitHeat, IsSolvedOnLevelsThatFollowTheSolution) {
  const auto run = [] {
    return simulate("heat/spot_following").set("heat.scheme='crank_nicolson'").set("time.dt=0.001");
  };
  const Outcome right = run().run(20);

  EXPECT_GT(right.regrids.changes, 0);
  EXPECT_EQ(firstDifference(right, run().ranks(3).run(20)), "");
}

/// The last step is shorter, so its matrix is another one.
TEST(ImplicitHeat, OnLevelsHypreFindsTheSameWithASetUpForEachMatrix) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  const auto run = [](const char* library) {
    return simulateText(kMadeOnLevels)
        .set("time.end=0.28")
        .set("solver.tolerance=1e-12")
        .set(std::string("solver.library='") + library + "'")
        .run();
  };
  const Outcome hypre = run("hypre");
  EXPECT_EQ(hypre.steps, 5);
  EXPECT_EQ(hypre.solves.setups, 2);
  EXPECT_LT(largestDifference(run("own"), hypre), 1e-11);
}

TEST(ImplicitHeat, HypreSolvesOnLevelsThatFollowTheSolution) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  const auto run = [](const char* library) {
    return simulate("heat/spot_following")
        .set("heat.scheme='crank_nicolson'")
        .set("time.dt=0.001")
        .set("solver.tolerance=1e-12")
        .set(std::string("solver.library='") + library + "'")
        .run(10);
  };
  const Outcome hypre = run("hypre");
  EXPECT_GT(hypre.regrids.changes, 0);
  EXPECT_LT(largestDifference(run("own"), hypre), 1e-9);
}

TEST(ImplicitHeat, ShorterStepsOfFinerLevelsAreRefusedWithTheirPlaceInTheDeck) {
  try {
    spotOnLevels("backward_euler").set("amr.subcycle=true").run(1);
    FAIL() << "a solve is for all levels together";
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(), ::testing::HasSubstr("solves on all levels together; remove amr.subcycle"));
  }
}

}  // namespace
}  // namespace tessera::test
