#include <cmath>
#include <numbers>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// A box of 12 x 8 x 6 cells of size 1/16, at (1/4, 1/8, 1/8) within a larger one whose other cells are
/// solid.
constexpr const char* kWithin = R"deck(
simulation.components = ["poisson"]
time = { dt = 1, max_steps = 1 }
solver.tolerance = 1e-13
[grid]
cells = [20, 12, 10]
lower = [-0.25, -0.125, -0.125]
upper = [1, 0.625, 0.5]
patches = [1, 1, 1]
[poisson]
solid.where = "x < 0 || x > 0.75 || y < 0 || y > 0.5 || z < 0 || z > 0.375"
)deck";

constexpr const char* kAlone = R"deck(
simulation.components = ["poisson"]
time = { dt = 1, max_steps = 1 }
solver.tolerance = 1e-13
[grid]
cells = [12, 8, 6]
lower = [0, 0, 0]
upper = [0.75, 0.5, 0.375]
[poisson]
)deck";

/// The largest difference between the box within solid cells and the box alone.
double differenceOf(const Outcome& within, const Outcome& alone) {
  const WholeField& u = alone.fields.at("potential");
  const WholeField& v = within.fields.at("potential");
  double largest = 0.0;
  forEachIndex(u.box, [&](Index x) { largest = std::max(largest, std::abs(u(x) - v(x + Index{4, 2, 2}))); });
  return largest;
}

constexpr const char* kInsulated =
    "boundary.x_low.type = \"neumann\"\nboundary.x_high.type = \"neumann\"\n"
    "boundary.y_low.type = \"neumann\"\nboundary.y_high.type = \"neumann\"\n"
    "boundary.z_low.type = \"neumann\"\nboundary.z_high.type = \"neumann\"\n";

TEST(PoissonSolid, ABoxThatKeepsItsValueIsOneWithThatValueOnAllSides) {
  const std::string problem = "source = \"exp(x)*y + z\"\n";
  const std::string sides =
      "boundary.x_low.value = 2\nboundary.x_high.value = 2\nboundary.y_low.value = 2\n"
      "boundary.y_high.value = 2\nboundary.z_low.value = 2\nboundary.z_high.value = 2\n";
  const Outcome alone = simulateText(kAlone + problem + sides).run();
  const Outcome within =
      simulateText(kWithin + problem + "solid.value = 2\n").patches({3, 2, 2}).ranks(2).run();

  EXPECT_LT(differenceOf(within, alone), 1e-11);
  EXPECT_EQ(within.fields.at("potential")({0, 0, 0}), 2.0);
}

TEST(PoissonSolid, AClosedBoxIsAnInsulatedOneAndItsMeanIsFixed) {
  const std::string problem = "source = \"cos(pi*x/0.75)*cos(2*pi*y/0.5)\"\nmean = 3\ninitial = 7\n";
  const Outcome alone = simulateText(kAlone + problem + kInsulated).run();
  const Outcome within = simulateText(kWithin + problem).patches({3, 2, 2}).ranks(2).run();

  EXPECT_LT(differenceOf(within, alone), 1e-11);
  EXPECT_EQ(within.fields.at("potential")({0, 0, 0}), 7.0);
  // An eigenvector of the second differences, beside the mean.
  const double h = 1.0 / 16.0;
  const auto eigenvalue = [&](double halves, double n) {
    return std::pow(2.0 / h * std::sin(halves * std::numbers::pi / (2.0 * n)), 2);
  };
  const double first = std::cos(std::numbers::pi * 0.5 / 12.0) * std::cos(std::numbers::pi / 8.0);
  EXPECT_NEAR(within.fields.at("potential")({4, 2, 2}) - 3.0,
              first / (eigenvalue(1.0, 12.0) + eigenvalue(2.0, 8.0)), 1e-11);
}

/// A ball with a value and a wall with a gap, in a flow.
constexpr const char* kBall = R"deck(
simulation.components = ["poisson"]
time = { dt = 1, max_steps = 2 }
grid = { cells = [17, 12, 9], patches = [1, 1, 1], periodic = [false, true, false] }
[poisson]
coefficient = "1 + x"
source = "x*t"
solid.where = "(x-0.4)^2 + (y-0.5)^2 + (z-0.5)^2 < 0.05 || (abs(x-0.8) < 0.05 && z > 0.4)"
solid.value = "1 + z"
boundary.z_low.type = "neumann"
)deck";

TEST(PoissonSolid, HasTheSameBitsForAnyRanksThreadsAndPatches) {
  for (const char* velocity : {"poisson.velocity.x=0", "poisson.velocity.x='5*z'"}) {
    const auto run = [&] { return simulateText(kBall).set(velocity); };
    const Outcome right = run().run();
    for (const Extent patches : {Extent{3, 2, 2}, Extent{1, 5, 3}}) {
      for (const int ranks : {1, 2, 5}) {
        const Outcome o = run().patches(patches).ranks(ranks).run();
        EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks, " << asText(patches) << " patches";
      }
    }
    EXPECT_EQ(firstDifference(right, run().patches({3, 2, 2}).checked().run()), "");
    const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
    EXPECT_EQ(firstDifference(right, run().patches({3, 2, 2}).devices(devices).run()), "");
    EXPECT_EQ(firstDifference(right, run().patches({3, 2, 2}).ranks(2).set("solver.setup_every=1").run()),
              "");
  }
}

TEST(PoissonSolid, ACellThatIsShutInCannotHaveASource) {
  const std::string away = "max(abs(x - 0.28125), abs(y - 0.15625), abs(z - 0.15625))";
  Simulate run = simulateText(kWithin + std::string("source = 1\n"))
                     .set("poisson.solid.where='" + away + " < 0.1 && " + away + " > 0.01'");
  try {
    run.run();
    FAIL() << "an unknown without an equation was solved for";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), ::testing::AllOf(::testing::HasSubstr("that solid cells shut in"),
                                                  ::testing::HasSubstr("(8, 4, 4)")));
  }
}

TEST(PoissonSolid, HypreFindsTheSameSolution) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  for (const char* velocity : {"poisson.velocity.x=0", "poisson.velocity.x='5*z'"}) {
    const auto run = [&] {
      return simulateText(kBall).set(velocity).set("solver.tolerance=1e-12").patches({3, 2, 2});
    };
    const Outcome own = run().run();
    const Outcome hypre = run().set("solver.library='hypre'").run();
    const WholeField& u = own.fields.at("potential");
    const WholeField& v = hypre.fields.at("potential");
    double largest = 0.0;
    forEachIndex(u.box, [&](Index x) { largest = std::max(largest, std::abs(u(x) - v(x))); });
    EXPECT_LT(largest, 1e-9) << velocity;
  }
}

}  // namespace
}  // namespace tessera::test
