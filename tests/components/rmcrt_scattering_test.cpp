#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// Between plates without end at x = 0 and 1, of which each has one face of 0.04.
Simulate slab(int cells) {
  return simulate("rmcrt/plates")
      .cells({cells, 1, 1})
      .patches({1, 1, 1})
      .set("rmcrt.stefan_boltzmann=1")
      .set("rmcrt.scattering=1");
}
constexpr double kPlate = 0.04;

// Nothing is absorbed: of what the hot plate sends, 0.5534 arrives at the cold one (M. A. Heaslet and R. F.
// Warming, Int. J. Heat Mass Transfer 8, 979, 1965), which has an error of 0.0025 with these rays.
TEST(RmcrtScattering, ASlabThatScattersAloneLetsThroughWhatIsKnown) {
  const Outcome o = slab(10)
                        .set("rmcrt.absorption=0")
                        .set("rmcrt.temperature=0")
                        .set("rmcrt.wall.x_low.temperature=1")
                        .set("rmcrt.wall.x_high.temperature=0")
                        .set("rmcrt.rays=1")
                        .set("rmcrt.wall_rays=40000")
                        .run();

  EXPECT_NEAR(o.end.at("rmcrt.wall_x_high"), 0.5534 * kPlate, 0.01 * kPlate);
  EXPECT_NEAR(o.end.at("rmcrt.wall_x_low"), -0.5534 * kPlate, 0.01 * kPlate);
  EXPECT_EQ(o.end.at("rmcrt.loss"), 0.0);
}

// S = (1 - w)/pi + w/2 times the integral of S E1, w = 1/2, over an optical depth of 2, solved with product
// integration: 1.14502 is lost in the middle, and each cold plate takes up 0.74786.
TEST(RmcrtScattering, ASlabThatAbsorbsAndScattersLosesWhatTheIntegralEquationSays) {
  const Outcome o = slab(21)
                        .set("rmcrt.absorption=1")
                        .set("rmcrt.temperature=1")
                        .set("rmcrt.wall.temperature=0")
                        .set("rmcrt.rays=20000")
                        .run();

  EXPECT_NEAR(o.fields.at("rmcrt.divQ")({10, 0, 0}), 1.14502, 0.02);
  EXPECT_NEAR(o.end.at("rmcrt.wall_x_low"), 0.74786 * kPlate, 0.012 * kPlate);
  EXPECT_NEAR(o.end.at("rmcrt.wall_x_high"), 0.74786 * kPlate, 0.012 * kPlate);
  EXPECT_NEAR(o.end.at("rmcrt.loss"), 2.0 * 0.74786 * kPlate, 0.01 * kPlate);
}

TEST(RmcrtScattering, AVariableOfAnotherComponentScattersAsANumberDoes) {
  const auto deck = [] { return simulate("rmcrt/cooling").cells({6, 4, 4}); };
  const Outcome number = deck().set("rmcrt.scattering=1").run(1);
  const Outcome named = deck().set("rmcrt.scattering_from=\"temperature\"").run(1);

  EXPECT_EQ(number.fields.at("rmcrt.divQ").values, named.fields.at("rmcrt.divQ").values);
  EXPECT_NE(number.fields.at("rmcrt.divQ").values, deck().run(1).fields.at("rmcrt.divQ").values);
}

// Walls that take up nothing: what the gas loses in one place it gets in another one.
TEST(RmcrtScattering, AnEnclosureOfMirrorsLosesNothing) {
  const auto deck = [] {
    return simulate("rmcrt/burns_christon")
        .cells({8, 8, 8})
        .set("rmcrt.emissive_power=\"1 + x\"")
        .set("rmcrt.absorption=\"0.5 + y\"")
        .set("rmcrt.scattering=\"2*z\"")
        .set("rmcrt.rays=100");
  };
  const double sent = 4.0 * 1.5;  // emissive power and absorption are 1.5 and 1 in the mean

  for (const char* mirror : {"0", "1", "0.5"}) {
    const Outcome o =
        deck().set("rmcrt.wall.emissivity=0").set(std::string("rmcrt.wall.mirror=") + mirror).run();
    EXPECT_NEAR(o.end.at("rmcrt.loss"), 0.0, 0.003 * sent) << mirror;
    for (const char* side : {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"})
      EXPECT_EQ(o.end.at(std::string("rmcrt.wall_") + side), 0.0) << side;
  }
  const Outcome grey = deck().set("rmcrt.wall.emissivity=0.5").run();
  double walls = 0.0;
  for (const char* side : {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"})
    walls += grey.end.at(std::string("rmcrt.wall_") + side);
  EXPECT_GT(walls, 0.2 * sent);
  EXPECT_NEAR(grey.end.at("rmcrt.loss"), walls, 0.005 * sent);
}

}  // namespace
}  // namespace tessera::test
