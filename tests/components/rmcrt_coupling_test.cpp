#include <cmath>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// A thin gas of one temperature between cold walls: what it sends leaves, so T' = -4 T^4 (sigma = 1).
Simulate thinGas(double dt, int every) {
  return simulateText(R"deck(
simulation.components = ["heat", "rmcrt"]
grid = { cells = [4, 4, 4], patches = [2, 1, 1] }
time = { dt = )deck" + std::to_string(dt) +
                      R"deck(, end = 0.2 }
[heat]
conductivity = 1e-9
initial = 1
sources = ["-1e8 * rmcrt.divQ"]
[rmcrt]
temperature_from = "temperature"
absorption = 1e-8
stefan_boltzmann = 1
rays = 2
wall_rays = 0
threshold = 1e-12
every = )deck" + std::to_string(every) +
                      "\n");
}

/// How far the temperature is from the closed form, at t = 0.2.
double coolingError(double dt, int every) {
  const Outcome o = thinGas(dt, every).run();
  return std::abs(o.fields.at("temperature")({1, 2, 3}) - std::pow(1.0 + 12.0 * 0.2, -1.0 / 3.0));
}

TEST(RmcrtCoupling, AThinGasCoolsByTheClosedFormToTheFirstOrder) {
  const double coarse = coolingError(0.0025, 1);
  const double fine = coolingError(0.00125, 1);

  EXPECT_LT(coarse, 0.01);
  EXPECT_NEAR(coarse / fine, 2.0, 0.15);
}

TEST(RmcrtCoupling, TheErrorOfRareRadiationIsOfFirstOrderInTheTimeBetween) {
  const double often = coolingError(0.00125, 4);
  const double rare = coolingError(0.00125, 8);

  EXPECT_LT(rare, 0.03);
  EXPECT_NEAR(rare / often, 2.0, 0.35);
}

TEST(RmcrtCoupling, TheFirstStepRadiatesAndHeatTakesWhatWasThereBefore) {
  const Outcome one = thinGas(0.01, 5).run(1);
  const Outcome two = thinGas(0.01, 5).run(2);

  EXPECT_EQ(one.fields.at("temperature")({0, 0, 0}), 1.0);
  EXPECT_NEAR(one.fields.at("rmcrt.divQ")({0, 0, 0}), 4e-8, 1e-15);
  EXPECT_NEAR(two.fields.at("temperature")({0, 0, 0}), 0.96, 1e-8);
}

TEST(RmcrtCoupling, ASourceThatNobodyWritesIsAnError) {
  const auto errorOf = [](const std::string& sources) -> std::string {
    try {
      thinGas(0.01, 1).set("heat.sources=" + sources).run(1);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(errorOf("[\"rmcrt.dvQ\"]").find("rmcrt.dvQ"), std::string::npos);
  EXPECT_NE(errorOf("[\"2 rmcrt.divQ\"]").find("give the name of a variable"), std::string::npos);
  EXPECT_NE(errorOf("[\"two*rmcrt.divQ\"]").find("give the name of a variable"), std::string::npos);
  EXPECT_NE(errorOf("[\"2*\u00e9\"]").find("give the name of a variable"), std::string::npos);
}

}  // namespace
}  // namespace tessera::test
