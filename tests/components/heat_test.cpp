#include <cmath>
#include <numbers>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/order_of.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

constexpr double kPi = std::numbers::pi;

double square(double v) { return v * v; }

/// Largest difference between a field and `expected(x)`.
template <class Expected>
double largestError(const WholeField& field, Expected expected) {
  double largest = 0.0;
  forEachIndex(field.box, [&](Index x) { largest = std::max(largest, std::abs(field(x) - expected(x))); });
  return largest;
}

/// sin(2 pi x) at the centre of cell i of n on [0, 1].
double sineAt(std::int64_t i, std::int64_t n) {
  return std::sin(2.0 * kPi * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
}

struct Eigenmode {
  const char* deck;
  std::int64_t n;
  int dimensions;
  double dt;
};

std::ostream& operator<<(std::ostream& out, const Eigenmode& m) { return out << m.deck; }

class DiscreteEigenmode : public ::testing::TestWithParam<Eigenmode> {};

// u^m = g^m u^0 with g = 1 - (4 k dt / h^2) d sin^2(pi h): the exact solution of the scheme, k = 1.
TEST_P(DiscreteEigenmode, IsMultipliedByTheSameFactorInEachStep) {
  const Eigenmode& m = GetParam();

  const Outcome o = simulate(m.deck).ranks(2).run();

  const double n = static_cast<double>(m.n);
  const double g = 1.0 - 4.0 * m.dt * square(n) * m.dimensions * square(std::sin(kPi / n));
  const double factor = std::pow(g, 100);
  ASSERT_EQ(o.steps, 100);
  EXPECT_LT(largestError(o.fields.at("temperature"),
                         [&](Index x) {
                           double u = factor;
                           for (int d = 0; d < m.dimensions; ++d) u *= sineAt(x[d], m.n);
                           return u;
                         }),
            1e-12);
  EXPECT_LT(o.end.at("heat.error_max"), 1e-12);  // the deck's own `exact` says the same
}

INSTANTIATE_TEST_SUITE_P(Heat, DiscreteEigenmode,
                         ::testing::Values(Eigenmode{"heat/eigenmode_1d", 64, 1, 1e-4},
                                           Eigenmode{"heat/eigenmode_2d", 32, 2, 2e-4},
                                           Eigenmode{"heat/eigenmode_3d", 16, 3, 5e-4}),
                         [](const auto& info) { return std::to_string(info.param.dimensions) + "D"; });

/// A bar of 40 cells in 3 patches between two walls of one kind.
Simulate bar(const std::string& type, const std::string& initial) {
  return simulateText(R"deck(
simulation.components = ["heat"]
[grid]
cells = [40, 1, 1]
patches = [3, 1, 1]
[time]
dt = 2e-4
max_steps = 100
[heat]
conductivity = 1
boundary.x_low.type = ")deck" +
                      type + "\"\nboundary.x_high.type = \"" + type + "\"\ninitial = \"" + initial + "\"\n");
}

/// g^100 for the mode sin(pi x) or cos(pi x) on 40 cells: half a wave, so sin^2(pi h / 2).
double halfWaveFactor() { return std::pow(1.0 - 4.0 * 2e-4 * 1600.0 * square(std::sin(kPi / 80.0)), 100); }

TEST(Heat, ASineBetweenColdWallsIsADiscreteEigenmode) {
  const Outcome o = bar("dirichlet", "sin(pi*x)").run();

  EXPECT_LT(largestError(o.fields.at("temperature"),
                         [](Index x) {
                           return halfWaveFactor() * std::sin(kPi * (static_cast<double>(x.i) + 0.5) / 40.0);
                         }),
            1e-12);
}

TEST(Heat, ACosineBetweenInsulatedWallsIsADiscreteEigenmode) {
  const Outcome o = bar("neumann", "cos(pi*x)").run();

  EXPECT_LT(largestError(o.fields.at("temperature"),
                         [](Index x) {
                           return halfWaveFactor() * std::cos(kPi * (static_cast<double>(x.i) + 0.5) / 40.0);
                         }),
            1e-12);
}

TEST(Heat, AnInsulatedBoxKeepsItsHeat) {
  const Outcome o = simulate("heat/cosine").cells({16, 16, 16}).run(200);

  EXPECT_NEAR(o.end.at("heat.total"), o.start.at("heat.total"), 1e-13);
  EXPECT_DOUBLE_EQ(o.start.at("heat.total"), 1.0);
}

TEST(Heat, AVaryingConductivityKeepsTheHeatOfAPeriodicBox) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["heat"]
grid = { cells = [12, 10, 9], patches = [2, 2, 2], periodic = [true, true, true] }
time.max_steps = 200
[heat]
conductivity = "1.5 + sin(2*pi*x) * cos(2*pi*(y - z))"
initial = "1 + exp(-((x-0.3)^2 + (y-0.5)^2 + (z-0.6)^2) / 0.1^2)"
)deck")
                        .run();

  EXPECT_NEAR(o.end.at("heat.total") / o.start.at("heat.total"), 1.0, 1e-13);
  EXPECT_LT(o.end.at("heat.max"), o.start.at("heat.max"));
}

TEST(Heat, NoTemperatureLeavesTheInitialRangeUnderTheStableStep) {
  const Outcome o = simulate("heat/hot_spot")
                        .cells({16, 16, 16})
                        .set("time.cfl=1")
                        .set("heat.boundary.z_high.value=0")
                        .run(50);

  EXPECT_GE(o.end.at("heat.min"), 0.0);
  EXPECT_LE(o.end.at("heat.max"), o.start.at("heat.max"));
}

TEST(Heat, AConstantSourceHeatsEvenly) {
  const Outcome o = simulate("heat/cosine").cells({8, 8, 8}).set("heat.source=2.5").run(20);

  EXPECT_NEAR(o.end.at("heat.total"), 1.0 + 2.5 * o.time, 1e-13);
}

TEST(Heat, IsSecondOrderWithBoundaryValuesThatDependOnTime) {
  const auto error = [](std::int64_t n) {
    return simulate("heat/dirichlet_slab").cells({n, 1, 1}).run().end.at("heat.error_l2");
  };

  EXPECT_GE(orderOf(error, {16, 32, 64}), 1.9);
}

TEST(Heat, IsSecondOrderWithAVaryingConductivityAndASource) {
  const auto error = [](std::int64_t n) {
    return simulate("heat/variable_conductivity").cells({4 * n, 3 * n, 1}).run().end.at("heat.error_l2");
  };

  EXPECT_GE(orderOf(error, {4, 8, 16}), 1.9);
}

/// Largest difference of a field and its mirror image along each axis.
double asymmetry(const WholeField& u) {
  double largest = 0.0;
  forEachIndex(u.box, [&](Index x) {
    for (int d = 0; d < kAxes; ++d) {
      Index mirror = x;
      mirror[d] = u.box.hi[d] - 1 - x[d];
      largest = std::max(largest, std::abs(u(x) - u(mirror)));
    }
  });
  return largest;
}

TEST(Heat, SymmetricInputStaysSymmetricBitByBit) {
  // On [-1, 1] the positions of mirrored cells have the same bits but for the sign.
  const Outcome o = simulateText(R"deck(
simulation.components = ["heat"]
grid = { lower = [-1, -1, -1], upper = [1, 1, 1], cells = [16, 16, 16], patches = [3, 2, 1] }
time.max_steps = 30
[heat]
conductivity = "1 + x^2 + y^2*z^2"
source = "x^2 * cos(t)"
initial = "exp(-(x^2 + y^2 + z^2) / 0.1)"
)deck")
                        .run();

  EXPECT_EQ(asymmetry(o.fields.at("temperature")), 0.0);
}

/// The first is found by a look at the deck, the second only when every cell gets its value.
TEST(Heat, AConductivityThatIsNotPositiveIsRefusedWithItsPlaceInTheDeck) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"x - 0.5", "heat.conductivity is -0.492188 at (0.0078125, 0.5, 0.5)"},
      {"if(x > 0.02 && x < 0.03, -1, 1)", "heat.conductivity is -1.000000 in cell (1, 0, 0)"}};
  for (const auto& [expression, text] : cases) {
    try {
      simulate("heat/eigenmode_1d").set("heat.conductivity='" + expression + "'").run();
      FAIL() << "the conductivity is negative somewhere";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
      EXPECT_THAT(error.message(), ::testing::HasSubstr(text));
      EXPECT_THAT(error.message(), ::testing::HasSubstr("command line"));
    }
  }
}

TEST(Heat, ABoundaryOnAPeriodicAxisIsRefused) {
  try {
    simulate("heat/eigenmode_1d").set("heat.boundary.x_low.type='dirichlet'").run();
    FAIL() << "axis x is periodic";
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(), ::testing::HasSubstr("axis x is periodic, so x_low has no boundary"));
  }
}

TEST(Heat, AValueOfAnOutflowBoundaryIsRefused) {
  try {
    simulate("heat/dirichlet_slab").set("heat.boundary.x_low.type='outflow'").run();
    FAIL() << "the deck still gives a value";
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(), ::testing::HasSubstr("\"outflow\" takes no value"));
  }
}

}  // namespace
}  // namespace tessera::test
