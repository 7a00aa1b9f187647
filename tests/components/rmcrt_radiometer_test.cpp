#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// Nothing but a wall at z = 1 that sends 1, and a radiometer.
Simulate hotLid(const std::string& radiometer) {
  return simulate("rmcrt/burns_christon")
      .cells({8, 8, 8})
      .set("rmcrt.emissive_power=0")
      .set("rmcrt.absorption=0")
      .set("rmcrt.stefan_boltzmann=1")
      .set("rmcrt.rays=1")
      .set("rmcrt.wall_rays=0")
      .set("rmcrt.wall.z_high.temperature=1")
      .set("rmcrt.radiometer=[{ name = \"lid\", " + radiometer + " }]");
}

double reading(Simulate simulation) { return simulation.run().end.at("rmcrt.radiometer_lid"); }

/// How much of what leaves a surface element falls on a rectangle a by b before it at a distance of 1, one
/// corner of which is straight ahead (M. F. Modest, appendix D, configuration 11).
double viewFactorOfCorner(double a, double b) {
  const double p = std::sqrt(1.0 + a * a);
  const double q = std::sqrt(1.0 + b * b);
  return (a / p * std::atan(b / p) + b / q * std::atan(a / q)) / (2.0 * M_PI);
}

TEST(RmcrtRadiometer, AHotLidIsSeenByItsViewFactor) {
  const double centre = 4.0 * viewFactorOfCorner(0.5, 0.5);
  const auto sigmas = [](double p) { return 4.0 * std::sqrt(p * (1.0 - p) / 20000.0); };
  EXPECT_NEAR(reading(hotLid("position = [0.5, 0.5, 0], direction = [0, 0, 3], rays = 20000")), centre,
              sigmas(centre));
  const double aside = viewFactorOfCorner(0.25, 0.125) + viewFactorOfCorner(0.75, 0.125) +
                       viewFactorOfCorner(0.25, 0.875) + viewFactorOfCorner(0.75, 0.875);
  EXPECT_NEAR(reading(hotLid("position = [0.25, 0.875, 0], direction = [0, 0, 1], rays = 20000")), aside,
              sigmas(aside));
  EXPECT_EQ(reading(hotLid("position = [0.5, 0.5, 0.5], direction = [0, 0, -1], rays = 100")), 0.0);
}

// The lid fills the view: intensity 1/pi times the integral of the cosine over the cone.
TEST(RmcrtRadiometer, WithinItsViewItSeesTheIntegralOfTheCosine) {
  const double sine = std::sin(20.0 / 180.0 * M_PI);
  for (const char* direction : {"[0, 0, 1]", "[0.05, -0.02, 0.8]"}) {
    const std::string looks = std::string(", direction = ") + direction;
    EXPECT_NEAR(reading(hotLid("position = [0.5, 0.5, 0.1], view_angle = 40, rays = 500" + looks)),
                sine * sine, 1e-12);
  }
}

// A ray of optical depth 1 or more brings 1 - exp(-depth) of what the gas sends.
TEST(RmcrtRadiometer, ANarrowViewSeesTheDepthOfTheGas) {
  const double sine = std::sin(0.5 / 180.0 * M_PI);
  const double seen = reading(hotLid("position = [0.3, 0.4, 0], direction = [0, 0, 1], view_angle = 1")
                                  .set("rmcrt.emissive_power=2")
                                  .set("rmcrt.absorption=1.5")
                                  .set("rmcrt.wall.z_high.temperature=0"));
  EXPECT_NEAR(seen / (sine * sine), 2.0 * (1.0 - std::exp(-1.5)), 1e-4);
}

TEST(RmcrtRadiometer, ReadsTheSameOnEveryLayoutAndOnLevels) {
  const std::string two =
      "rmcrt.radiometer=[{ name = \"a\", position = [0.5, 0.5, 0.5], direction = [1, 1, 0], rays = 50 },"
      "{ name = \"b\", position = [0.1, 0.9, 1.0], direction = [0, 0, -1], view_angle = 60, rays = 70 }]";
  for (const char* deck : {"rmcrt/burns_christon", "rmcrt/burns_christon_two_level"}) {
    const auto small = [&] { return simulate(deck).cells({8, 8, 8}).set("rmcrt.rays=1").set(two); };
    const Outcome right = small().patches({1, 1, 1}).run();
    EXPECT_EQ(right.start.at("rmcrt.radiometer_a"), 0.0);
    EXPECT_GT(right.end.at("rmcrt.radiometer_a"), 0.05) << deck;
    EXPECT_NE(right.end.at("rmcrt.radiometer_b"), right.end.at("rmcrt.radiometer_a")) << deck;
    EXPECT_EQ(firstDifference(right, small().patches({2, 2, 1}).ranks(3).threads(2).run()), "") << deck;
    EXPECT_EQ(firstDifference(right, small().patches({1, 2, 2}).checked().run()), "") << deck;
  }
}

TEST(RmcrtRadiometer, DecksThatMakeNoSenseAreErrors) {
  const auto errorOf = [](const std::string& radiometers) -> std::string {
    try {
      simulate("rmcrt/burns_christon").set("rmcrt.radiometer=[" + radiometers + "]").run();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string good = "{ name = \"a\", position = [0.5, 0.5, 0.5], direction = [1, 0, 0] }";
  EXPECT_NE(
      errorOf("{ name = \"a\", position = [0.5, 0.5, 0.5], direction = [0, 0, 0] }").find("looks nowhere"),
      std::string::npos);
  EXPECT_NE(errorOf("{ name = \"a\", position = [0.5, 1.5, 0.5], direction = [1, 0, 0] }")
                .find("stands outside of the domain"),
            std::string::npos);
  EXPECT_NE(errorOf("{ name = \"a b\", position = [0.5, 0.5, 0.5], direction = [1, 0, 0] }")
                .find("no column can be called"),
            std::string::npos);
  EXPECT_NE(errorOf(good + ", " + good).find("two radiometers are called \"a\""), std::string::npos);
}

}  // namespace
}  // namespace tessera::test
