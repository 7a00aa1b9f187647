#include <cmath>
#include <complex>
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

constexpr double kConducts = 0.5;
constexpr double kSpeed = 3.0;
constexpr double kFirst = 1.0;  ///< the value on the side where the flow enters
constexpr double kLast = 2.0;

/// v u' - b u'' = 0 on n cells between two values: with upwind differences the solution is A + B r^i, and
/// both sides say what A and B are.
double betweenTwoValues(std::int64_t i, std::int64_t n) {
  const double h = 1.0 / static_cast<double>(n);
  const double k = kConducts / (h * h);
  const double p = kSpeed / h;
  const double r = (k + p) / k;
  const double last = (2.0 * k + p) * std::pow(r, static_cast<double>(n - 1));
  // (2k + p) A + 2k B = (2k + p) first, 2k A + last B = 2k end
  const double det = (2.0 * k + p) * last - 4.0 * k * k;
  const double a = ((2.0 * k + p) * kFirst * last - 4.0 * k * k * kLast) / det;
  const double b = ((2.0 * k + p) * 2.0 * k * (kLast - kFirst)) / det;
  return a + b * std::pow(r, static_cast<double>(i));
}

/// Along one axis, in either direction, and nothing across.
Simulate along(int axis, bool backwards, std::int64_t n) {
  const std::string name(1, "xyz"[axis]);
  std::string sides;
  for (int d = 0; d < kAxes; ++d) {
    const std::string across(1, "xyz"[d]);
    if (d == axis) continue;
    sides +=
        "boundary." + across + "_low.type = \"neumann\"\nboundary." + across + "_high.type = \"neumann\"\n";
  }
  const auto value = [&](const char* side, double v) {
    sides += "boundary." + name + "_" + side + " = { value = " + std::to_string(v) + " }\n";
  };
  value(backwards ? "high" : "low", kFirst);
  value(backwards ? "low" : "high", kLast);
  Index cells{4, 4, 4};
  cells[axis] = n;
  return simulateText(
      "simulation.components = [\"poisson\"]\ntime = { dt = 1, max_steps = 1 }\nsolver.tolerance = 1e-13\n"
      "grid = { cells = [" +
      std::to_string(cells.i) + ", " + std::to_string(cells.j) + ", " + std::to_string(cells.k) +
      "], patches = [2, 2, 2] }\n[poisson]\nsource = 0\ncoefficient = " + std::to_string(kConducts) +
      "\nvelocity." + name + " = " + std::to_string(backwards ? -kSpeed : kSpeed) + "\n" + sides);
}

TEST(PoissonFlow, TheDiscreteSolutionBetweenTwoValuesIsFoundAlongEachAxisInBothDirections) {
  constexpr std::int64_t n = 24;
  for (int axis = 0; axis < kAxes; ++axis) {
    for (const bool backwards : {false, true}) {
      const Outcome o = along(axis, backwards, n).ranks(2).run();
      const WholeField& u = o.fields.at("potential");
      double largest = 0.0;
      forEachIndex(u.box, [&](Index x) {
        const std::int64_t i = backwards ? n - 1 - x[axis] : x[axis];
        largest = std::max(largest, std::abs(u(x) - betweenTwoValues(i, n)));
      });
      EXPECT_LT(largest, 1e-11) << "axis " << axis << (backwards ? ", backwards" : "");
    }
  }
}

/// u = sin(x + 2 y) exp(z) in a flow that turns and crosses all sides, with what u is there.
constexpr const char* kTurning = R"deck(
simulation.components = ["poisson"]
time = { dt = 1, max_steps = 1 }
grid = { cells = [16, 16, 16], patches = [1, 1, 1] }
[poisson]
velocity.x = "4*(y - 0.4)"
velocity.y = "-4*(x - 0.6)"
velocity.z = "2 + x"
source = "exp(z)*((4*(y - 0.4) - 8*(x - 0.6))*cos(x + 2*y) + (2 + x + 4)*sin(x + 2*y))"
exact = "sin(x + 2*y)*exp(z)"
boundary.x_low = { value = "sin(2*y)*exp(z)" }
boundary.x_high = { type = "neumann", value = "cos(1 + 2*y)*exp(z)" }
boundary.y_low = { value = "sin(x)*exp(z)" }
boundary.y_high = { value = "sin(x + 2)*exp(z)" }
boundary.z_low = { type = "neumann", value = "-sin(x + 2*y)" }
boundary.z_high = { value = "sin(x + 2*y)*exp(1)" }
)deck";

/// u = sin(x + 2 y) in a plane where the flow turns and crosses all sides. The error is a h - b h^2, so the
/// order comes up to one from below.
constexpr const char* kTurningInAPlane = R"deck(
simulation.components = ["poisson"]
time = { dt = 1, max_steps = 1 }
solver.tolerance = 1e-11
grid = { cells = [32, 32, 1], patches = [1, 1, 1], periodic = [false, false, true] }
[poisson]
velocity.x = "4*(y - 0.4)"
velocity.y = "-4*(x - 0.6)"
source = "5*sin(x + 2*y) + (4*(y - 0.4) - 8*(x - 0.6))*cos(x + 2*y)"
exact = "sin(x + 2*y)"
boundary.x_low = { value = "sin(2*y)" }
boundary.x_high = { type = "neumann", value = "cos(1 + 2*y)" }
boundary.y_low = { value = "sin(x)" }
boundary.y_high = { value = "sin(x + 2)" }
)deck";

TEST(PoissonFlow, IsOfFirstOrderInTheLargestErrorWhereTheFlowTurns) {
  const auto errorOn = [](std::int64_t n) {
    return simulateText(kTurningInAPlane).cells({n, n, 1}).run().end.at("poisson.error_max");
  };
  const double coarse = errorOn(32);
  const double middle = errorOn(64);
  const double fine = errorOn(128);

  EXPECT_NEAR(std::log2(coarse / middle), 1.0, 0.1);
  EXPECT_NEAR(std::log2(middle / fine), 1.0, 0.05);
}

TEST(PoissonFlow, HasTheSameBitsForAnyRanksThreadsAndPatches) {
  const Outcome right = simulateText(kTurning).cells({13, 16, 11}).run();
  ASSERT_GT(right.end.at("poisson.solve.iterations"), 2.0);

  for (const Extent patches : {Extent{3, 2, 2}, Extent{1, 5, 3}}) {
    for (const int ranks : {1, 2, 5}) {
      const Outcome o = simulateText(kTurning).cells({13, 16, 11}).patches(patches).ranks(ranks).run();
      EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks, " << asText(patches) << " patches";
    }
  }
  const Outcome checked = simulateText(kTurning).cells({13, 16, 11}).patches({3, 2, 2}).checked().run();
  EXPECT_EQ(firstDifference(right, checked), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(
                right, simulateText(kTurning).cells({13, 16, 11}).patches({3, 2, 2}).devices(devices).run()),
            "");
}

TEST(PoissonFlow, TakesAboutTheSameIterationsOnAnyMesh) {
  double least = 1e9;
  double most = 0.0;
  for (const std::int64_t n : {8, 16, 32}) {
    const double its = simulateText(kTurning).cells({n, n, n}).run().end.at("poisson.solve.iterations");
    least = std::min(least, its);
    most = std::max(most, its);
  }

  EXPECT_LE(most - least, 4.0) << least << " to " << most;
}

std::string messageOf(Simulate run) {
  try {
    run.run();
  } catch (const Error& error) {
    return error.message();
  }
  return "no failure";
}

TEST(PoissonFlow, WithoutAValueOnASideItHasASolutionWhereWhatFlowsInFlowsOut) {
  Simulate wave = simulateText(
      "simulation.components = [\"poisson\"]\ntime = { dt = 1, max_steps = 1 }\nsolver.tolerance = 1e-12\n"
      "grid = { cells = [16, 4, 1], periodic = [true, true, false] }\n"
      "[poisson]\nsource = \"cos(2*pi*x)\"\nmean = 3\nvelocity.x = 2\n");

  const Outcome o = wave.run();
  EXPECT_NEAR(o.end.at("poisson.total"), 3.0, 1e-12);
  // cos(k x) goes to Re(exp(ikx) / s), s being what the differences make of exp(ikx).
  const double h = 1.0 / 16.0;
  const double k = 2.0 * std::numbers::pi;
  const std::complex<double> back = std::exp(std::complex<double>(0.0, -k * h));
  const std::complex<double> s = 2.0 * (1.0 - back) / h + std::pow(2.0 / h * std::sin(k * h / 2.0), 2);
  const WholeField& u = o.fields.at("potential");
  for (std::int64_t i = 0; i < 16; ++i) {
    const double x = (static_cast<double>(i) + 0.5) * h;
    const double right = 3.0 + (std::exp(std::complex<double>(0.0, k * x)) / s).real();
    EXPECT_NEAR(u({i, 2, 0}), right, 1e-11) << i;
  }
  EXPECT_THAT(messageOf(wave.set("poisson.velocity.x='2 + sin(2*pi*x)'")),
              ::testing::HasSubstr("its velocity has a divergence"));
}

/// Rounding of a strong conduction is not taken for a divergence of a weak flow.
TEST(PoissonFlow, AWeakFlowBesideAStrongConductionIsTakenForWhatItIs) {
  const Outcome o =
      simulateText(
          "simulation.components = [\"poisson\"]\ntime = { dt = 1, max_steps = 1 }\n"
          "solver.tolerance = 1e-10\ngrid = { cells = [256, 4, 1], periodic = [true, true, false] }\n"
          "[poisson]\nsource = \"cos(2*pi*x)\"\ncoefficient = \"1.3 + sin(2*pi*x)\"\nmean = 1\n"
          "velocity.x = 1e-5\n")
          .run();
  EXPECT_NEAR(o.end.at("poisson.total"), 1.0, 1e-10);
}

TEST(PoissonFlow, HypreFindsTheSameSolution) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  const auto run = [] { return simulateText(kTurning).set("solver.tolerance=1e-12").patches({2, 2, 1}); };
  const Outcome own = run().run();
  for (const char* method : {"bicgstab", "gmres"}) {
    const Outcome hypre =
        run().set("solver.library='hypre'").set(std::string("solver.method='") + method + "'").run();
    double largest = 0.0;
    const WholeField& u = own.fields.at("potential");
    const WholeField& v = hypre.fields.at("potential");
    forEachIndex(u.box, [&](Index x) { largest = std::max(largest, std::abs(u(x) - v(x))); });
    EXPECT_LT(largest, 1e-9) << method;
  }
}

TEST(PoissonFlow, SeveralLevelsAreRefused) {
  EXPECT_THAT(messageOf(simulateText(kTurning).set(
                  "grid.level=[{ratio=2, lower=[0.25,0.25,0.25], upper=[0.75,0.75,0.75], "
                  "patch_size=[8,8,8]}]")),
              ::testing::HasSubstr("a linear system with a velocity is solved on one level only"));
}

}  // namespace
}  // namespace tessera::test
