#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/burns_christon.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

constexpr double kStefanBoltzmann = 5.670374419e-8;
constexpr double kAtThousand = kStefanBoltzmann * 1e12;  // emissive power at 1000 K

/// The exponential integrals of order 1 and 2.
double e1(double x) { return -std::expint(-x); }
double e2(double x) { return x == 0.0 ? 1.0 : std::exp(-x) - x * e1(x); }

/// Between cold black plates at 0 and 1, with an absorption coefficient of z^2 and 1 + z^2 times 1000 K: with
/// the optical depth t = z^3/3 and S = sigma T^4, divQ = z^2 (4 S - G), where
/// G = 2 times the integral of S E1(|t - t'|) dt'. The logarithm in E1 is taken out with S(t).
double betweenPlates(double z) {
  const auto sends = [](double at) { return kAtThousand * std::pow(1.0 + at * at, 4); };
  const auto depth = [](double at) { return at * at * at / 3.0; };
  const double here = depth(z);
  double sum = 0.0;
  constexpr int kPoints = 20000;
  for (int n = 0; n < kPoints; ++n) {
    const double at = (n + 0.5) / kPoints;
    const double away = std::abs(depth(at) - here);
    if (away > 0.0) sum += 2.0 * (sends(at) - sends(z)) * e1(away) * at * at / kPoints;
  }
  return -z * z * (sum - 2.0 * sends(z) * (e2(here) + e2(1.0 / 3.0 - here)));
}

/// Of divQ on the line through the middle, over the norm of what is right.
double errorOfHotCube(std::int64_t cells, int rays) {
  const Outcome o = simulate("rmcrt/hot_cube")
                        .cells({cells, cells, cells})
                        .set("rmcrt.rays=" + std::to_string(rays))
                        .set("rmcrt.wall_rays=0")
                        .run();
  const WholeField& divQ = o.fields.at("rmcrt.divQ");
  double error = 0.0;
  double norm = 0.0;
  for (std::int64_t i = 0; i < cells; ++i) {
    const double x = (static_cast<double>(i) + 0.5) / static_cast<double>(cells);
    const double right = kAtThousand * hotCubeDivQ({x, 0.5, 0.5});
    error += std::pow(divQ({i, cells / 2, cells / 2}) - right, 2);
    norm += right * right;
  }
  return std::sqrt(error / norm);
}

TEST(RmcrtBenchmarks, AHotCubeLosesWhatIntegrationSays) {
  EXPECT_NEAR(kAtThousand * hotCubeDivQ({0.5, 0.5, 0.5}), 211939.2, 1.0);
  EXPECT_NEAR(kAtThousand * hotCubeDivQ({0.75, 0.5, 0.5}), 10056.4, 0.5);
  const double few = errorOfHotCube(25, 16);
  const double many = errorOfHotCube(25, 256);

  EXPECT_LT(few, 0.02);
  EXPECT_LT(many, 0.006);
  EXPECT_LT(many, 0.6 * few);
}

TEST(RmcrtBenchmarks, WallsOfAHotCubeTakeUpWhatItLoses) {
  const Outcome o =
      simulate("rmcrt/hot_cube").cells({24, 24, 24}).set("rmcrt.rays=60").set("rmcrt.wall_rays=300").run();

  double walls = 0.0;
  for (const char* side : {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"})
    walls += o.end.at(std::string("rmcrt.wall_") + side);
  constexpr double kLoss = 0.0217105 * kAtThousand;  // hotCubeDivQ at 24^3 points; 1259 W with more of them
  EXPECT_NEAR(o.end.at("rmcrt.loss"), kLoss, 0.02 * kLoss);
  EXPECT_NEAR(walls, kLoss, 0.02 * kLoss);
}

TEST(RmcrtBenchmarks, AGasThatVariesBetweenPlatesLosesWhatExponentialIntegralsSay) {
  const Outcome o = simulate("rmcrt/varying_plates").set("rmcrt.rays=20000").run();

  const WholeField& divQ = o.fields.at("rmcrt.divQ");
  double total = 0.0;
  for (std::int64_t k = 0; k < 32; ++k) {
    const double z = (static_cast<double>(k) + 0.5) / 32.0;
    const double right = betweenPlates(z);
    const double sent = 4.0 * z * z * kAtThousand * std::pow(1.0 + z * z, 4);
    EXPECT_NEAR(divQ({0, 0, k}), right, 0.015 * sent + 50.0) << k;
    total += right / 32.0;
  }
  EXPECT_NEAR(o.end.at("rmcrt.loss"), total, 0.005 * total);
  EXPECT_NEAR(o.end.at("rmcrt.wall_z_low") + o.end.at("rmcrt.wall_z_high"), total, 0.01 * total);
}

}  // namespace
}  // namespace tessera::test
