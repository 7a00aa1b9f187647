// Decks of the component euler against exact solutions and what is conserved.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/exact_riemann.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// Mean of the absolute difference between a field and means of a finer one.
double differenceTo(const WholeField& fine, const WholeField& coarse) {
  const std::int64_t n = coarse.box.extent().i;
  const std::int64_t ratio = fine.box.extent().i / n;
  double sum = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    double mean = 0.0;
    for (std::int64_t m = 0; m < ratio; ++m) mean += fine({i * ratio + m, 0, 0}) / static_cast<double>(ratio);
    sum += std::abs(coarse({i, 0, 0}) - mean);
  }
  return sum / static_cast<double>(n);
}

WholeField densityOf(const std::string& deck, std::int64_t cells) {
  return simulate(deck).cells({cells, 1, 1}).run().fields.at("gas.density");
}

TEST(EulerDecks, LaxsTubeHasItsPlateausAndItsShock) {
  const ExactRiemann exact({0.445, 0.698, 3.528}, {0.5, 0, 0.571}, 1.4);
  const double end = 0.13;
  const WholeField rho = densityOf("euler/lax", 200);

  double sum = 0.0;
  for (std::int64_t i = 0; i < 200; ++i) {
    const double x = (static_cast<double>(i) + 0.5) / 200.0;
    sum += std::abs(rho({i, 0, 0}) - exact.at((x - 0.5) / end).rho) / 200.0;
  }
  EXPECT_LE(sum, 0.02);
  const double contact = 0.5 + exact.velocity() * end;
  const double shock = 0.5 + exact.shockSpeedRight() * end;
  EXPECT_NEAR(shock, 0.8224, 2e-4);
  const auto cellAt = [](double x) { return Index{static_cast<std::int64_t>(x * 200.0), 0, 0}; };
  EXPECT_NEAR(rho(cellAt(0.5 * (contact + shock))), exact.densityRight(), 0.02);
  EXPECT_NEAR(rho(cellAt(shock + 0.025)), 0.5, 1e-6);
}

TEST(EulerDecks, TheShockThatRunsIntoWavesConverges) {
  const WholeField best = densityOf("euler/shu_osher", 800);
  const double coarse = differenceTo(best, densityOf("euler/shu_osher", 200));
  const WholeField usual = densityOf("euler/shu_osher", 400);
  const double fine = differenceTo(best, usual);

  EXPECT_LE(fine, 0.7 * coarse);
  EXPECT_LE(fine, 0.06);
  // The waves behind the shock are longer than four cells of 400, and as high as with fine ones.
  const auto highest = [](const WholeField& rho) {
    return *std::max_element(rho.values.begin(), rho.values.end());
  };
  EXPECT_GE(highest(usual), 0.9 * highest(best));
}

TEST(EulerDecks, BlastWavesBetweenWallsKeepMassAndEnergy) {
  const Outcome o = simulate("euler/blast_waves").run();

  EXPECT_NEAR(o.end.at("euler.mass"), 1.0, 1e-13);
  EXPECT_NEAR(o.end.at("euler.energy") / o.start.at("euler.energy"), 1.0, 1e-13);
  EXPECT_GT(o.end.at("euler.min_pressure"), 0.0);
}

TEST(EulerDecks, TheCylindricalBlastWaveHasItsRadiusAndItsSymmetry) {
  const Outcome o = simulate("euler/sedov").cells({48, 48, 1}).run();

  // The density is highest behind the shock, at radius sqrt(t).
  const WholeField& rho = o.fields.at("gas.density");
  const auto radiusAlong = [&](Index direction, double length) {
    std::int64_t best = 0;
    for (std::int64_t n = 0; n < 48; ++n) {
      if (rho(n * direction) > rho(best * direction)) best = n;
    }
    return (static_cast<double>(best) + 0.5) / 48.0 * length;
  };
  EXPECT_NEAR(radiusAlong(ex, 1.0), 0.75, 0.03);
  EXPECT_NEAR(radiusAlong(ex + ey, std::sqrt(2.0)), 0.75, 0.03);
  EXPECT_GT(o.end.at("euler.max_mach"), 1.0);
  EXPECT_NEAR(o.end.at("euler.energy") / o.start.at("euler.energy"), 1.0, 1e-13);
  forEachIndex(rho.box, [&](Index x) { ASSERT_NEAR(rho(x), rho({x.j, x.i, 0}), 1e-11) << asText(x); });
}

TEST(EulerDecks, TheShockOfTheDoubleMachReflectionMovesAsItShould) {
  const Outcome o = simulate("euler/double_mach").set("time.end=0.05").run();

  // Below the top and above the reflected waves the shock is where nothing but itself has been.
  const WholeField& rho = o.fields.at("gas.density");
  const double y = 59.5 / 60.0;
  const double shock = 1.0 / 6.0 + (y + 20.0 * 0.05) / std::sqrt(3.0);
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < 240; ++i) {
    if (rho({i, 59, 0}) > 0.5 * (8.0 + 1.4)) last = i;
  }
  EXPECT_NEAR((static_cast<double>(last) + 1.0) / 60.0, shock, 1.5 / 60.0);
  EXPECT_GT(o.end.at("euler.min_pressure"), 0.5);
  EXPECT_GT(*std::max_element(rho.values.begin(), rho.values.end()), 12.0);
}

}  // namespace
}  // namespace tessera::test
