// Solid cells in the gas: walls anywhere.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/exact_riemann.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// A box of gas between x = 0 and 1/2, whose upper end along x is a side of the domain or a solid half.
Simulate closedBox(bool isSolid, const std::string& more = "") {
  return simulateText(std::string("simulation.components = ['euler']\n[grid]\nupper = ") +
                      (isSolid ? "[1, 1, 1]\ncells = [32, 16, 1]\n" : "[0.5, 1, 1]\ncells = [16, 16, 1]\n") +
                      "periodic = [false, true, false]\npatches = [2, 2, 1]\n"
                      "[time]\nmax_steps = 40\ndt = 0.005\n[euler]\n"
                      "boundary.x_low.type = 'reflect'\n" +
                      (isSolid ? "solid = 'x > 0.5'\n" : "boundary.x_high.type = 'reflect'\n") +
                      "initial.density = '1 + 0.5*exp(-((x - 0.3)^2 + (y - 0.25)^2)/0.02)'\n"
                      "initial.pressure = '1 + exp(-((x - 0.3)^2 + (y - 0.25)^2)/0.02)'\n" +
                      more);
}

TEST(EulerSolids, ASolidHalfIsASideOfTheDomain) {
  for (const char* more : {"", "slopes = 'vanleer'\nstages = 'rk3'\n", "riemann = 'hll'\n"}) {
    const Outcome wall = closedBox(false, more).run();
    const Outcome solid = closedBox(true, more).ranks(2).run();

    for (const auto& [name, field] : wall.fields) {
      const WholeField& other = solid.fields.at(name);
      std::int64_t wrong = 0;
      forEachIndex(field.box, [&](Index x) { wrong += field(x) != other(x) ? 1 : 0; });
      EXPECT_EQ(wrong, 0) << name;
    }
    EXPECT_EQ(solid.end.at("euler.mass"), wall.end.at("euler.mass"));
    EXPECT_EQ(solid.end.at("euler.min_pressure"), wall.end.at("euler.min_pressure"));
  }
}

TEST(EulerSolids, WhatASolidCellHoldsStays) {
  const Outcome before = closedBox(true).run(0);
  const Outcome after = closedBox(true).run();

  for (const auto& [name, field] : before.fields) {
    for (std::int64_t j = 0; j < 16; ++j) {
      for (std::int64_t i = 16; i < 32; ++i)
        ASSERT_EQ(field({i, j, 0}), after.fields.at(name)({i, j, 0})) << name;
    }
  }
}

TEST(EulerSolids, GasAroundASolidKeepsItsMass) {
  const Outcome o =
      simulateText(
          "simulation.components = ['euler']\n[grid]\ncells = [24, 24, 1]\npatches = [2, 3, 1]\n"
          "periodic = [true, true, false]\n[time]\nmax_steps = 60\ncfl = 0.4\n[euler]\n"
          "solid = '(x - 0.5)^2 + (y - 0.5)^2 < 0.04'\ninitial.density = '1'\n"
          "initial.velocity.x = '0.5'\ninitial.pressure = '1'\n")
          .ranks(2)
          .run();

  EXPECT_NEAR(o.end.at("euler.mass") / o.start.at("euler.mass"), 1.0, 1e-13);
  EXPECT_NEAR(o.end.at("euler.energy") / o.start.at("euler.energy"), 1.0, 1e-13);
  EXPECT_LT(o.end.at("euler.momentum_x"), 0.9 * o.start.at("euler.momentum_x"));
  EXPECT_NEAR(o.end.at("euler.momentum_y"), 0.0, 1e-13);
}

// Until the corner is heard of, the gas that the step stops has the state behind a plane shock.
TEST(EulerSolids, TheForwardStepStopsTheFlowAsAPlaneWallDoes) {
  const ExactRiemann exact({1.4, 3, 1}, {1.4, -3, 1}, 1.4);
  const Outcome o = simulate("euler/forward_step").cells({240, 80, 1}).set("time.end=0.08").run();

  // The step begins with cell 48; the shock has come 5 cells, sound from the corner not to the bottom.
  const WholeField& rho = o.fields.at("gas.density");
  const WholeField& energy = o.fields.at("gas.energy");
  EXPECT_NEAR(0.4 * energy({45, 0, 0}) / exact.pressure(), 1.0, 0.03);
  EXPECT_NEAR(rho({45, 0, 0}) / exact.densityLeft(), 1.0, 0.1);
  EXPECT_EQ(rho({10, 40, 0}), 1.4);
}

}  // namespace
}  // namespace tessera::test
