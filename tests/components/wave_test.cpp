#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "tests/components/order_of.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

constexpr double kTwoPi = 2.0 * std::numbers::pi;

/// Largest difference between the displacement on 64 cells and `expected(position)`.
template <class Expected>
double largestError(const Outcome& o, Expected expected) {
  const WholeField& u = o.fields.at("displacement");
  double largest = 0.0;
  forEachIndex(u.box, [&](Index x) {
    largest = std::max(largest, std::abs(u(x) - expected((static_cast<double>(x.i) + 0.5) / 64.0)));
  });
  return largest;
}

TEST(Wave, ATravellingWaveAtCourantNumberOneIsExact) {
  const Outcome o = simulate("wave/line_cfl1").ranks(2).run(200);

  EXPECT_EQ(o.dt, 1.0 / 64.0);
  EXPECT_LT(largestError(o, [](double x) { return std::sin(kTwoPi * (x - 200.0 / 64.0)); }), 1e-12);
}

TEST(Wave, AStandingWaveAtCourantNumberOneIsExact) {
  const Outcome o = simulate("wave/line_cfl1").set("wave.initial_velocity=0").run(203);

  EXPECT_LT(largestError(o, [](double x) { return std::sin(kTwoPi * x) * std::cos(kTwoPi * 203.0 / 64.0); }),
            1e-12);
}

TEST(Wave, AFixedStringAtCourantNumberOneIsExact) {
  const Outcome o = simulate("wave/line_cfl1")
                        .set("grid.periodic=[false,false,false]")
                        .set("wave.boundary.x_low.type='dirichlet'")
                        .set("wave.boundary.x_high.type='dirichlet'")
                        .set("wave.initial_velocity=0")
                        .run(100);

  EXPECT_LT(largestError(o, [](double x) { return std::sin(kTwoPi * x) * std::cos(kTwoPi * 100.0 / 64.0); }),
            1e-12);
}

TEST(Wave, IsSecondOrder) {
  const auto error = [](std::int64_t n) {
    return simulate("wave/standing_2d").cells({n, n, 1}).run().end.at("wave.error_l2");
  };

  EXPECT_GE(orderOf(error, {16, 32, 64}), 1.9);
}

TEST(Wave, IsSecondOrderWhenTheStepChanges) {
  // dt_growth lets the step grow from the first one on; the stable step shrinks with the cells.
  const auto error = [](std::int64_t n) {
    return simulate("wave/standing_2d")
        .set("time.dt_growth=1.02")
        .set("output.every=0.05")
        .cells({n, n, 1})
        .run()
        .end.at("wave.error_l2");
  };

  EXPECT_GE(orderOf(error, {16, 32, 64}), 1.9);
}

TEST(Wave, FreeWallsKeepTheVolume) {
  const Outcome o = simulate("wave/pulse").cells({64, 32, 1}).run();

  EXPECT_NEAR(o.end.at("wave.total") / o.start.at("wave.total"), 1.0, 1e-13);
}

TEST(Wave, SymmetricInputStaysSymmetricBitByBit) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["wave"]
grid = { lower = [-1, -1, 0], upper = [1, 1, 1], cells = [16, 16, 1], patches = [3, 1, 1] }
time.max_steps = 60
wave = { speed = 2, initial = "exp(-(x^2 + y^2) / 0.1)" }
)deck")
                        .run();
  const WholeField& u = o.fields.at("displacement");

  double asymmetry = 0.0;
  forEachIndex(u.box, [&](Index x) {
    asymmetry =
        std::max({asymmetry, std::abs(u(x) - u({15 - x.i, x.j, 0})), std::abs(u(x) - u({x.j, x.i, 0}))});
  });
  EXPECT_EQ(asymmetry, 0.0);
}

}  // namespace
}  // namespace tessera::test
