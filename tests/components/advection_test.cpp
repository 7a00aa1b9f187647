#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/order_of.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// Cells whose value is not, bit by bit, that of the cell `steps` before them in `initial` (periodic along
/// x).
std::int64_t notTranslated(const WholeField& initial, const WholeField& later, std::int64_t steps) {
  const std::int64_t n = initial.box.hi.i;
  std::int64_t wrong = 0;
  forEachIndex(later.box, [&](Index x) {
    Index from = x;
    from.i = ((x.i - steps) % n + n) % n;
    if (later(x) != initial(from)) ++wrong;
  });
  return wrong;
}

const WholeField& concentration(const Outcome& o) { return o.fields.at("concentration"); }

TEST(Upwind, AtCourantNumberOneTranslatesExactlyThroughEveryBorder) {
  const Outcome start = simulate("advection/line_cfl1").run(0);

  for (const std::int64_t patches : {1, 5, 32}) {
    for (const int ranks : {1, 3}) {
      const Outcome o = simulate("advection/line_cfl1").patches({patches, 1, 1}).ranks(ranks).run(77);
      EXPECT_EQ(notTranslated(concentration(start), concentration(o), 77), 0)
          << patches << " patches, " << ranks << " ranks";
    }
  }
}

TEST(Upwind, AtCourantNumberOneTranslatesExactlyTowardsLowerCells) {
  const Outcome start = simulate("advection/line_cfl1").run(0);
  const Outcome o = simulate("advection/line_cfl1").set("advection.velocity.x=-4").run(50);

  EXPECT_EQ(o.dt, 1.0 / 512.0);
  EXPECT_EQ(notTranslated(concentration(start), concentration(o), -50), 0);
}

TEST(Upwind, AVelocityOnFacesTranslatesAsExactlyAsAConstant) {
  const Outcome start = simulate("advection/line_cfl1").run(0);
  const Outcome o = simulate("advection/line_cfl1").set("advection.velocity.x='1 + 0*x*t'").run(50);

  EXPECT_EQ(notTranslated(concentration(start), concentration(o), 50), 0);
}

TEST(Upwind, IsFirstOrder) {
  const auto error = [](std::int64_t n) {
    return simulate("advection/gaussian")
        .set("advection.scheme='upwind'")
        .set("time.end=0.25")
        .cells({n, n, 1})
        .run()
        .end.at("advection.error_l1");
  };

  const double order = orderOf(error, {128, 256});

  EXPECT_GE(order, 0.8);
  EXPECT_LE(order, 1.1);
}

double gaussianError(std::int64_t n, const char* limiter) {
  return simulate("advection/gaussian")
      .set(std::string("advection.limiter='") + limiter + "'")
      .set("constants.width=0.15")
      .cells({n, n, 1})
      .run()
      .end.at("advection.error_l1");
}

TEST(Plm, IsSecondOrderWithoutALimiter) {
  EXPECT_GE(orderOf([](std::int64_t n) { return gaussianError(n, "none"); }, {32, 64, 128}), 1.9);
}

TEST(Plm, IsNearlySecondOrderWithALimiter) {
  for (const char* limiter : {"vanleer", "mc"}) {
    EXPECT_GE(orderOf([&](std::int64_t n) { return gaussianError(n, limiter); }, {32, 64, 128}), 1.6)
        << limiter;
  }
}

TEST(Plm, IsSecondOrderWithAVelocityThatDependsOnTime) {
  // The hump swings to and fro: x = 0.5 + sin(2 pi t) / (4 pi), along y with the mirrored velocity.
  const auto error = [](std::int64_t n) {
    return simulate("advection/gaussian")
        .set("advection.limiter='none'")
        .set("advection.velocity.x='0.5*cos(2*pi*t)'")
        .set("advection.velocity.y='-0.5*cos(2*pi*t)'")
        .set("advection.exact='exp(-((x-0.5-sin(2*pi*t)/(4*pi))^2 + (y-0.5+sin(2*pi*t)/(4*pi))^2)/width^2)'")
        .set("constants.width=0.12")
        .set("time.end=0.2")
        .set("time.dt=" + std::to_string(0.4 / static_cast<double>(n)))
        .cells({n, n, 1})
        .run()
        .end.at("advection.error_l1");
  };

  EXPECT_GE(orderOf(error, {32, 64, 128}), 1.9);
}

struct Case {
  const char* deck;
  double largestL1;  ///< a little above what the scheme of the deck gives
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.deck; }

class Deformed : public ::testing::TestWithParam<Case> {};

TEST_P(Deformed, KeepsItsMassMakesNoExtremaAndComesBack) {
  const Outcome o = simulate(GetParam().deck).threads(2).run();

  EXPECT_NEAR(o.end.at("advection.total") / o.start.at("advection.total"), 1.0, 1e-13);
  EXPECT_GE(o.end.at("advection.min"), o.start.at("advection.min") - 1e-14);
  EXPECT_LE(o.end.at("advection.max"), o.start.at("advection.max") + 1e-14);
  EXPECT_LE(o.end.at("advection.error_l1"), GetParam().largestL1);
}

INSTANTIATE_TEST_SUITE_P(Advection, Deformed,
                         ::testing::Values(Case{"advection/zalesak", 0.034},
                                           Case{"advection/swirl", 0.00065}),
                         [](const auto& info) { return std::string(info.param.deck).substr(10); });

TEST(Plm, SharedMemoryChangesNoBit) {
  const Outcome expected = simulate("advection/swirl").cells({24, 24, 1}).withoutReuse().run(12);

  for (const int ranks : {1, 3}) {
    EXPECT_EQ(firstDifference(expected, simulate("advection/swirl").cells({24, 24, 1}).ranks(ranks).run(12)),
              "");
  }
}

TEST(Plm, EveryLimiterKeepsZalesaksDiscWithinItsRange) {
  for (const char* limiter : {"minmod", "vanleer", "mc"}) {
    const Outcome o = simulate("advection/zalesak")
                          .cells({50, 50, 1})
                          .set(std::string("advection.limiter='") + limiter + "'")
                          .run();

    EXPECT_GE(o.end.at("advection.min"), -1e-14) << limiter;
    EXPECT_LE(o.end.at("advection.max"), 1.0 + 1e-14) << limiter;
    EXPECT_NEAR(o.end.at("advection.total") / o.start.at("advection.total"), 1.0, 1e-13) << limiter;
  }
}

TEST(Advection, TheValueOfAnInflowSideFillsThePipe) {
  for (const char* scheme : {"upwind", "plm"}) {
    const Outcome o = simulateText(std::string(R"deck(
simulation.components = ["advection"]
grid = { cells = [32, 3, 1], patches = [4, 1, 1] }
time = { end = 4.0, cfl = 1.0 }
[advection]
velocity.x = 1
initial = 0
boundary.x_low = { type = "dirichlet", value = 0.75 }
scheme = ")deck") + scheme + "\"\n")
                          .run();

    EXPECT_NEAR(o.end.at("advection.min"), 0.75, 1e-12) << scheme;
    EXPECT_NEAR(o.end.at("advection.max"), 0.75, 1e-12) << scheme;
  }
}

/// Uniform flow from the sides whose numbers are given, over uniform matter of 0.25; all numbers are exact in
/// binary.
std::string inflowDeck(bool fromLow) {
  const std::string side = fromLow ? "low" : "high";
  const std::string sign = fromLow ? "" : "-";
  return "simulation.components = ['advection']\n"
         "grid = { cells = [4, 4, 4], patches = [1, 1, 1] }\n"
         "time = { dt = 0.25, max_steps = 1 }\n"
         "[advection]\n"
         "scheme = 'upwind'\n"
         "initial = 0.25\n"
         "velocity = { x = " +
         sign + "0.5, y = " + sign + "0.25, z = " + sign +
         "0.125 }\n"
         "boundary.x_" +
         side + " = { type = 'dirichlet', value = 1 }\nboundary.y_" + side +
         " = { type = 'dirichlet', value = 2 }\nboundary.z_" + side +
         " = { type = 'dirichlet', value = 4 }\n";
}

TEST(Advection, EachCellTakesInWhatItsInflowSidesGive) {
  for (const bool fromLow : {true, false}) {
    const std::int64_t first = fromLow ? 0 : 3;
    for (const std::int64_t patches : {1, 2, 4}) {
      const Outcome o = simulateText(inflowDeck(fromLow)).patches({patches, patches, patches}).run();
      const WholeField& q = concentration(o);

      forEachIndex(q.box, [&](Index x) {
        double expected = 0.25;
        if (x.i == first) expected += 0.5 * (1.0 - 0.25);
        if (x.j == first) expected += 0.25 * (2.0 - 0.25);
        if (x.k == first) expected += 0.125 * (4.0 - 0.25);
        EXPECT_EQ(q(x), expected) << asText(x) << ", " << patches << " patches along each axis";
      });
    }
  }
}

TEST(Advection, CellsAtInflowSidesHaveTheSameBitsOnEveryLayoutAndOnDevices) {
  for (const char* limiter : {"none", "minmod", "vanleer", "mc"}) {
    std::string deck = R"deck(
simulation.components = ["advection"]
grid = { cells = [8, 6, 4], patches = [1, 1, 1] }
time = { max_steps = 3, cfl = 0.4 }
[advection]
initial = "1 + 0.5*sin(7*x + 3*y*z)"
velocity = { x = "0.4 + x*y", y = "-0.3 + 0.1*z", z = 0.2 }
)deck";
    for (const char* side : {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"}) {
      deck += std::string("boundary.") + side + " = { type = 'dirichlet', value = '0.9 + x*y' }\n";
    }
    deck += std::string("limiter = '") + limiter + "'\n";
    const Outcome expected = simulateText(deck).run();

    EXPECT_EQ(firstDifference(expected, simulateText(deck).patches({3, 2, 2}).checked().run()), "")
        << limiter;
    EXPECT_EQ(firstDifference(expected, simulateText(deck).patches({8, 6, 4}).run()), "") << limiter;
    DeviceOptions emulated;
    emulated.kind = DeviceKind::Emulated;
    EXPECT_EQ(firstDifference(expected, simulateText(deck).patches({3, 2, 2}).devices(emulated).run()), "")
        << limiter;
  }
}

TEST(Advection, SymmetricInputStaysSymmetricBitByBit) {
  for (const char* limiter : {"none", "minmod", "vanleer", "mc"}) {
    // Both halves flow to the middle: the mirror image of the velocity is its negative.
    const Outcome o = simulateText(std::string(R"deck(
simulation.components = ["advection"]
grid = { lower = [-1, -1, 0], upper = [1, 1, 1], cells = [16, 16, 1], patches = [3, 1, 1] }
time = { max_steps = 20, cfl = 0.5 }
[advection]
velocity = { x = "-x*(1 + y^2)", y = "y" }
initial = "exp(-(x^2 + y^2) / 0.2)"
limiter = ")deck") + limiter + "\"\n")
                          .run();
    const WholeField& q = concentration(o);

    double asymmetry = 0.0;
    forEachIndex(q.box, [&](Index x) {
      asymmetry = std::max(
          {asymmetry, std::abs(q(x) - q({15 - x.i, x.j, 0})), std::abs(q(x) - q({x.i, 15 - x.j, 0}))});
    });
    EXPECT_EQ(asymmetry, 0.0) << limiter;
  }
}

}  // namespace
}  // namespace tessera::test
