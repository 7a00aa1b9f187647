#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/order_of.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

using std::numbers::pi;

/// What holds at the two ends of an axis of n cells on [0, 1], a wave that fits it, and the eigenvalue that
/// this has under the second differences.
struct Ends {
  const char* low;  ///< empty: periodic
  const char* high;
  const char* wave;  ///< of the letter u
  double quarters;   ///< of a wave on the axis, 1, 2 or 4

  double eigenvalue(double n) const {
    const double s = std::sin(quarters * pi / (4.0 * n));
    return 4.0 * n * n * s * s;
  }
  double at(double position) const {
    const double angle = quarters * pi / 2.0 * position;
    return std::string_view(wave).substr(0, 3) == "sin" ? std::sin(angle) : std::cos(angle);
  }
};

const std::vector<Ends> kEnds{{"", "", "sin(2*pi*u)", 4},
                              {"dirichlet", "dirichlet", "sin(pi*u)", 2},
                              {"neumann", "neumann", "cos(pi*u)", 2},
                              {"dirichlet", "neumann", "sin(pi/2*u)", 1},
                              {"neumann", "dirichlet", "cos(pi/2*u)", 1}};

std::string textOfWave(const Ends& ends, char axis) {
  std::string text = ends.wave;
  text[text.find('u')] = axis;
  return text;
}

/// A wave along three axes with these ends.
Simulate waveBetween(const std::array<Ends, 3>& ends, Extent n) {
  const std::string axes = "xyz";
  std::string periodic, sides, source;
  for (std::size_t d = 0; d < 3; ++d) {
    const Ends& e = ends[d];
    periodic += std::string(d > 0 ? ", " : "") + (*e.low == 0 ? "true" : "false");
    source += (d > 0 ? " * " : "") + textOfWave(e, axes[d]);
    if (*e.low == 0) continue;
    sides += std::string("boundary.") + axes[d] + "_low.type = \"" + e.low + "\"\n";
    sides += std::string("boundary.") + axes[d] + "_high.type = \"" + e.high + "\"\n";
  }
  return simulateText(
      "simulation.components = [\"poisson\"]\ntime = { dt = 1, max_steps = 1 }\n[grid]\n"
      "cells = [" +
      std::to_string(n.i) + ", " + std::to_string(n.j) + ", " + std::to_string(n.k) +
      "]\npatches = [2, 1, 2]\nperiodic = [" + periodic + "]\n[poisson]\nsource = \"" + source + "\"\n" +
      sides);
}

TEST(Poisson, WavesBetweenAllCombinationsOfSidesAreSolvedToTheTolerance) {
  const Extent n{9, 8, 7};
  for (const Ends& alongX : kEnds) {
    for (const Ends& alongY : kEnds) {
      for (const Ends& alongZ : kEnds) {
        const std::array<Ends, 3> ends{alongX, alongY, alongZ};
        const Outcome o = waveBetween(ends, n).run();
        const WholeField& u = o.fields.at("potential");
        double eigenvalue = 0.0;
        for (int d = 0; d < kAxes; ++d)
          eigenvalue += ends[static_cast<std::size_t>(d)].eigenvalue(static_cast<double>(n[d]));
        double largest = 0.0;
        forEachIndex(u.box, [&](Index x) {
          double f = 1.0;
          for (int d = 0; d < kAxes; ++d)
            f *= ends[static_cast<std::size_t>(d)].at((static_cast<double>(x[d]) + 0.5) /
                                                      static_cast<double>(n[d]));
          largest = std::max(largest, std::abs(u(x) - f / eigenvalue));
        });
        EXPECT_LT(largest * eigenvalue, 1e-8)
            << alongX.wave << ' ' << alongX.low << alongX.high << ", " << alongY.wave << ' ' << alongY.low
            << alongY.high << ", " << alongZ.wave << ' ' << alongZ.low << alongZ.high;
        EXPECT_LE(o.end.at("poisson.solve.iterations"), 15.0);
      }
    }
  }
}

/// Walls of several kinds, a coefficient of space and a source of time and space, on cells that halve badly.
constexpr const char* kMixes = R"deck(
simulation.components = ["poisson"]
time = { dt = 0.5, max_steps = 3 }
grid = { cells = [21, 26, 11], patches = [1, 1, 1], periodic = [false, true, false] }
[poisson]
coefficient = "1 + x^2 + 0.5*sin(2*pi*y)*z"
source = "exp(-10*((x-0.3)^2 + (y-0.5)^2)) * (1 + t)"
boundary.x_low = { type = "dirichlet", value = "y*z + t" }
boundary.x_high = { type = "neumann", value = "cos(2*pi*y)" }
boundary.z_low.type = "neumann"
boundary.z_high = { type = "dirichlet", value = "x" }
[[poisson.boundary_part]]
side = "x_high"
within = "z > 0.5"
type = "dirichlet"
value = 2
)deck";

TEST(Poisson, HasTheSameBitsForAnyRanksThreadsAndPatches) {
  const Outcome right = simulateText(kMixes).run();
  ASSERT_GT(right.end.at("poisson.solve.iterations"), 3.0);

  for (const Extent patches : {Extent{3, 2, 2}, Extent{1, 5, 3}, Extent{7, 13, 2}}) {
    for (const int ranks : {1, 2, 5}) {
      const Outcome o = simulateText(kMixes).patches(patches).ranks(ranks).threads(ranks % 3).run();
      EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks, " << asText(patches) << " patches";
    }
  }
  EXPECT_EQ(firstDifference(right, simulateText(kMixes).patches({3, 2, 2}).ranks(3).checked().run()), "");
}

/// The last coarse cell along x has a cell of one rank, and the side of the domain is beyond one of another.
TEST(Poisson, HasTheSameBitsWhereABoxOfOneCellEndsTheDomain) {
  const Simulate hotFace = simulate("poisson/hot_face").cells({10, 10, 10});
  const Outcome right = Simulate(hotFace).patches({1, 1, 1}).run();

  for (const Extent patches : {Extent{4, 1, 2}, Extent{2, 4, 1}, Extent{1, 2, 4}}) {
    for (int ranks = 1; ranks <= 8; ++ranks) {
      const Outcome o = Simulate(hotFace).patches(patches).ranks(ranks).run();
      EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks, " << asText(patches) << " patches";
    }
  }
}

TEST(Poisson, HasTheSameBitsUnderSeedsOnOtherMeshesAndOnDevices) {
  const Outcome right = simulateText(kMixes).run();

  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Outcome o = simulateText(kMixes).patches({3, 2, 2}).ranks(3).seed(seed).run();
    EXPECT_EQ(firstDifference(right, o), "") << "seed " << seed;
  }
  EXPECT_EQ(firstDifference(right, simulateText(kMixes).patches({3, 2, 2}).ranks(2).adoptions(7).run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, simulateText(kMixes).patches({3, 2, 2}).devices(devices).run()), "");
}

TEST(Poisson, ASetUpThatIsKeptGivesTheBitsOfAFreshOne) {
  const Outcome kept = simulateText(kMixes).patches({3, 2, 2}).ranks(2).run();
  const Outcome fresh = simulateText(kMixes).patches({3, 2, 2}).ranks(2).set("solver.setup_every=1").run();

  EXPECT_EQ(firstDifference(kept, fresh), "");
}

TEST(Poisson, TheCentreOfACubeWithOneHotFaceIsASixth) {
  const Outcome o = simulate("poisson/hot_face").run();

  EXPECT_NEAR(o.fields.at("potential")({16, 16, 16}), 1.0 / 6.0, 1e-9);
}

TEST(Poisson, IsSecondOrderBetweenTwoMaterials) {
  const auto error = [](std::int64_t n) {
    return simulate("poisson/two_materials").cells({n, 4, 1}).run().end.at("poisson.error_max");
  };

  EXPECT_GE(orderOf(error, {16, 32, 64}), 1.9);
}

/// u = sin(x + 2 y) exp(z), -div(grad u) = 4 u, with what it is on the sides.
constexpr const char* kSmooth = R"deck(
simulation.components = ["poisson"]
time = { dt = 1, max_steps = 1 }
grid = { cells = [8, 8, 8] }
[poisson]
source = "4*sin(x + 2*y)*exp(z)"
exact = "sin(x + 2*y)*exp(z)"
boundary.x_low = { type = "dirichlet", value = "sin(2*y)*exp(z)" }
boundary.x_high = { type = "neumann", value = "cos(1 + 2*y)*exp(z)" }
boundary.y_low = { type = "dirichlet", value = "sin(x)*exp(z)" }
boundary.y_high = { type = "dirichlet", value = "sin(x + 2)*exp(z)" }
boundary.z_low = { type = "neumann", value = "-sin(x + 2*y)" }
boundary.z_high = { type = "dirichlet", value = "sin(x + 2*y)*exp(1)" }
)deck";

/// The largest error lies in corners, where a logarithm of the mesh comes on top: 1.77 from 8 to 32
/// cells, 1.79 from 16 to 64.
TEST(Poisson, IsSecondOrderBetweenMixedWalls) {
  const auto errorOf = [](const char* norm) {
    return [norm](std::int64_t n) { return simulateText(kSmooth).cells({n, n, n}).run().end.at(norm); };
  };

  EXPECT_GE(orderOf(errorOf("poisson.error_l2"), {8, 16, 32}), 1.9);
  EXPECT_GE(orderOf(errorOf("poisson.error_max"), {8, 16, 32}), 1.75);
}

TEST(Poisson, TakesAboutTheSameIterationsOnAnyMesh) {
  double least = 1e9;
  double most = 0.0;
  for (const std::int64_t n : {16, 32, 64}) {
    const double iterations = simulate("poisson/eigenmode")
                                  .set("solver.tolerance=1e-8")
                                  .set("poisson.source='exp(x)*y'")
                                  .cells({n, n, n})
                                  .run()
                                  .end.at("poisson.solve.iterations");
    least = std::min(least, iterations);
    most = std::max(most, iterations);
  }

  EXPECT_LE(most - least, 3.0) << least << " to " << most;
  EXPECT_LE(most, 15.0);
}

TEST(Poisson, FixesTheMeanWhereNoSideGivesAValue) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["poisson"]
time = { dt = 1, max_steps = 1 }
grid = { cells = [12, 10, 1], patches = [2, 2, 1] }
[poisson]
source = "cos(pi*x)"
mean = 3
boundary.x_low.type = "neumann"
boundary.x_high.type = "neumann"
boundary.y_low.type = "neumann"
boundary.y_high.type = "neumann"
)deck")
                        .ranks(2)
                        .run();

  EXPECT_NEAR(o.end.at("poisson.total"), 3.0, 1e-12);
}

/// The sentence with which a run ends.
std::string failureOf(Simulate run) {
  try {
    run.run();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Numerical);
    return error.message();
  }
  return "no failure";
}

TEST(Poisson, WhatCannotBeSolvedIsASentenceOnAnyRanks) {
  for (const int ranks : {1, 4}) {
    const auto run = [&](const char* assignment) {
      return failureOf(
          simulate("poisson/eigenmode").cells({8, 8, 8}).patches({2, 2, 2}).ranks(ranks).set(assignment));
    };
    EXPECT_THAT(run("solver.max_iterations=1"),
                ::testing::AllOf(::testing::HasSubstr("does not come to its tolerance  (step 1, t = 0)"),
                                 ::testing::HasSubstr("poisson.solve, level 0"),
                                 ::testing::HasSubstr("iterations  1 of at most 1"),
                                 ::testing::HasSubstr("worst cell  (")));
    EXPECT_THAT(run("poisson.source='sqrt(0.5 - x)'"), ::testing::HasSubstr("a value is not finite"));
    EXPECT_THAT(run("poisson.coefficient=1e308"),
                ::testing::HasSubstr("the matrix of a linear system has an entry that is not a number"));
    EXPECT_THAT(failureOf(simulate("poisson/eigenmode")
                              .cells({8, 8, 8})
                              .ranks(ranks)
                              .set("poisson.source=1")
                              .set("poisson.boundary.y_low.type='neumann'")
                              .set("poisson.boundary.y_high.type='neumann'")),
                ::testing::HasSubstr("no side gives a value, and the sources do not add up to 0"));
  }
}

TEST(Poisson, ACoefficientThatIsNegativeSomewhereIsRefusedBeforeTheFirstStep) {
  for (const std::string value : {"log(x)", "x - 0.5", "0.8 - x*y"}) {
    try {
      simulate("poisson/eigenmode").cells({8, 8, 8}).set("poisson.coefficient='" + value + "'").run();
      FAIL() << value;
    } catch (const DeckError& error) {
      EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("poisson.coefficient is -"),
                                                 ::testing::HasSubstr("above 0 everywhere")))
          << value;
    }
  }
}

TEST(Poisson, AnotherComponentThatSolvesIsRefused) {
  Simulate both = simulate("poisson/eigenmode")
                      .set("simulation.components=['poisson', 'heat']")
                      .set("heat.scheme='backward_euler'")
                      .set("heat.conductivity=1")
                      .set("heat.initial=0");
  try {
    both.run();
    FAIL() << "each has a program of its own for a step";
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(),
                ::testing::HasSubstr("\"poisson\" and \"heat\" both take steps of several parts"));
  }
}

TEST(Poisson, AWarningGoesOnWithWhatThereIs) {
  const Outcome o = simulate("poisson/eigenmode")
                        .cells({8, 8, 8})
                        .set("solver.max_iterations=1")
                        .set("solver.on_failure='warn'")
                        .run();

  EXPECT_EQ(o.steps, 1);
  EXPECT_GT(o.end.at("poisson.solve.residual"), 1e-10);
}

}  // namespace
}  // namespace tessera::test
