// lowmach against published figures of flows that have no closed form.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

// Targets: the spectral solution of O. Botella and R. Peyret (Comput. Fluids 27, 1998).
TEST(LowmachPublished, TheCavityAtReynoldsNumberOneThousandConvergesToTheSpectralSolution) {
  const auto run = [](std::int64_t n) {
    return simulate("lowmach/cavity_1000").cells({n, n, 1}).patches({1, 1, 1}).run();
  };
  const Outcome coarse = run(32);
  const Outcome fine = run(48);

  const auto expectNear = [&](const char* column, double target) {
    const double there = fine.end.at(column);
    EXPECT_NEAR(there, target, 0.1 * std::abs(target)) << column;
    // What the error, which falls as the square of the width of cells, leaves.
    const double limit = there + (there - coarse.end.at(column)) / (1.5 * 1.5 - 1.0);
    EXPECT_NEAR(limit, target, 0.04 * std::abs(target)) << column;
  };
  expectNear("across_middle.min", -0.3885698);
  expectNear("along_middle.min", -0.5270771);
  expectNear("along_middle.max", 0.3769447);
}

/// How often in a unit of time a column rises through its mean, from a time on.
double frequencyOf(const Outcome& o, const std::string& column, double from) {
  const std::vector<double>& time = o.history.at("time");
  const std::vector<double>& value = o.history.at(column);
  const auto begin =
      static_cast<std::size_t>(std::lower_bound(time.begin(), time.end(), from) - time.begin());
  double mean = 0.0;
  for (std::size_t n = begin + 1; n < time.size(); ++n)
    mean += value[n] * (time[n] - time[n - 1]) / (time.back() - time[begin]);
  std::vector<double> rises;
  for (std::size_t n = begin + 1; n < time.size(); ++n) {
    if (value[n - 1] < mean && value[n] >= mean) rises.push_back(time[n]);
  }
  if (rises.size() < 2) return 0.0;
  return static_cast<double>(rises.size() - 1) / (rises.back() - rises.front());
}

// The law of B. M. Cetegen and T. A. Ahmed (Combust. Flame 93, 1993), D in metres.
TEST(LowmachPublished, ARoundPlumePuffsAsOftenAsMeasurementsSay) {
  const Outcome o = simulate("lowmach/plume").keepHistory().run();

  const double law = 1.5 / std::sqrt(0.5);
  EXPECT_NEAR(frequencyOf(o, "axis", 1.5), law, 0.15 * law);
}

/// When energy falls fastest, in means over 0.5 of time, and how fast.
struct FastestFall {
  double time = 0.0;
  double rate = 0.0;
};

FastestFall fastestFallOf(const Outcome& o, double volume) {
  const std::vector<double>& time = o.history.at("time");
  const std::vector<double>& energy = o.history.at("lowmach.kinetic_energy");
  FastestFall fastest;
  for (std::size_t n = 0; n < time.size(); ++n) {
    const auto later =
        static_cast<std::size_t>(std::lower_bound(time.begin(), time.end(), time[n] + 0.5) - time.begin());
    if (later == time.size()) break;
    const double rate = (energy[n] - energy[later]) / (volume * (time[later] - time[n]));
    if (rate > fastest.rate) fastest = {0.5 * (time[n] + time[later]), rate};
  }
  return fastest;
}

// An eighth of a box of 64^3 cells, between the planes of symmetry that the vortices have. Spectral solutions
// of 512^3: 0.0127 to 0.0129 near t = 9.
TEST(LowmachPublished, TaylorGreenVorticesDecayFastestNearTimeNine) {
  Simulate eighth = simulate("lowmach/vortex_decay");
  eighth.set("grid.periodic=[false,false,false]").cells({32, 32, 32}).set("time.end=10");
  eighth.set("time.cfl=0.9").set("time.dt_max=0.1").set("solver.tolerance=1e-3");
  for (const char* side : {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"})
    eighth.set(std::string("lowmach.boundary.") + side + ".type=\"slip\"");
  eighth.set("grid.upper=[3.141592653589793,3.141592653589793,3.141592653589793]");
  const Outcome o = eighth.keepHistory().run();

  const double volume = std::pow(std::numbers::pi, 3);
  EXPECT_NEAR(o.start.at("lowmach.kinetic_energy") / volume, 0.125, 1e-4);
  const FastestFall fastest = fastestFallOf(o, volume);
  EXPECT_NEAR(fastest.time, 9.0, 0.9);
  EXPECT_NEAR(fastest.rate, 0.0128, 0.0025);
}

}  // namespace
}  // namespace tessera::test
