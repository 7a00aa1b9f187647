// Strong waves against exact and similarity solutions, and what their mirror images say.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/exact_riemann.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

struct TubeErrors {
  double density = 0.0;
  double pressure = 0.0;
};

/// Means of the absolute errors of a tube whose diaphragm is at 1/2.
TubeErrors errorsOf(const std::string& deck, const ExactRiemann& exact, std::int64_t cells) {
  const Outcome o = simulate(deck).cells({cells, 1, 1}).run();
  constexpr int kPoints = 50;
  TubeErrors errors;
  for (std::int64_t i = 0; i < cells; ++i) {
    double density = 0.0;
    double pressure = 0.0;
    for (int n = 0; n < kPoints; ++n) {
      const double x = (static_cast<double>(i) + (n + 0.5) / kPoints) / static_cast<double>(cells);
      const GasAt gas = exact.at((x - 0.5) / o.time);
      density += gas.rho / kPoints;
      pressure += gas.p / kPoints;
    }
    const double rho = o.fields.at("gas.density")({i, 0, 0});
    const double momentum = o.fields.at("gas.momentum_x")({i, 0, 0});
    const double p = 0.4 * (o.fields.at("gas.energy")({i, 0, 0}) - 0.5 * momentum * momentum / rho);
    errors.density += std::abs(rho - density) / static_cast<double>(cells);
    errors.pressure += std::abs(p - pressure) / static_cast<double>(cells);
  }
  return errors;
}

// A competent code of this method has 3.4e-3, 1.6e-3 and 7.8e-4.
TEST(EulerTubes, SodsPressureHasThePublishedErrors) {
  const ExactRiemann exact({1, 0, 1}, {0.125, 0, 0.1}, 1.4);
  EXPECT_LE(errorsOf("euler/sod", exact, 100).pressure, 1.1 * 3.4e-3);
  EXPECT_LE(errorsOf("euler/sod", exact, 200).pressure, 1.1 * 1.6e-3);
  EXPECT_LE(errorsOf("euler/sod", exact, 400).pressure, 1.1 * 7.8e-4);
}

// Bounds are a tenth more than what the scheme gives without floors.
TEST(EulerTubes, GasThatRunsApartLeavesNearlyNothing) {
  const ExactRiemann exact({1, -2, 0.4}, {1, 2, 0.4}, 1.4);
  const TubeErrors errors = errorsOf("euler/two_rarefactions", exact, 100);
  EXPECT_LE(errors.density, 1.1 * 5.66e-3);
  EXPECT_LE(errors.pressure, 1.1 * 3.22e-3);
}

/// Where the density falls most along x, at the vertex of the parabola through three differences, in cells.
double shockCell(const WholeField& rho, std::int64_t cells) {
  const auto fall = [&](std::int64_t i) { return rho({i - 1, 0, 0}) - rho({i, 0, 0}); };
  std::int64_t most = 2;
  for (std::int64_t i = 3; i < cells - 1; ++i)
    if (fall(i) > fall(most)) most = i;
  const double below = fall(most - 1);
  const double above = fall(most + 1);
  return static_cast<double>(most) + 0.5 * (below - above) / (below - 2.0 * fall(most) + above);
}

TEST(EulerBlasts, APlaneOneIsWhereItShouldBe) {
  const Outcome o = simulate("euler/sedov_planar").run();
  EXPECT_NEAR(shockCell(o.fields.at("gas.density"), 128) / 128.0, 0.75, 0.01 * 0.75);
  EXPECT_NEAR(o.end.at("euler.energy") / o.start.at("euler.energy"), 1.0, 1e-13);
  EXPECT_NEAR(o.end.at("euler.mass"), 1.0, 1e-13);
}

// As fine as 32^3 cells here; docs/components/euler.md has what 128^3 give.
TEST(EulerBlasts, ASphericalOneThroughThreeLevelsIsWhereItShouldBe) {
  const Outcome o = simulate("euler/sedov_spherical").ranks(2).run();
  EXPECT_NEAR(shockCell(o.fields.at("gas.density on level 2"), 22) / 32.0, 0.6, 2.0 / 32.0);
  EXPECT_NEAR(o.end.at("euler.energy") / o.start.at("euler.energy"), 1.0, 1e-13);
  EXPECT_NEAR(o.end.at("euler.mass"), 1.0, 1e-13);
}

/// The whole ball in a box of three levels, all of them symmetric.
Simulate wholeBall() {
  return simulateText(
      "simulation.components = ['euler']\n[grid]\nlower = [-1, -1, -1]\ncells = [12, 12, 12]\n"
      "patch_size = [6, 12, 5]\n"
      "[[grid.level]]\nlower = [-0.5, -0.5, -0.5]\nupper = [0.5, 0.5, 0.5]\npatch_size = [7, 6, 12]\n"
      "[amr]\nsubcycle = true\n[time]\ncfl = 0.4\nmax_steps = 12\n[euler]\ninitial.points = 1\n"
      "initial.density = '1'\ninitial.pressure = 'x^2 + y^2 + z^2 < 0.03 ? 100 : 0.01'\n");
}

TEST(EulerBlasts, ASphericalOneHasTheBitsOfAllItsMirrorImages) {
  const Outcome o = wholeBall().ranks(2).run();
  for (const auto& [name, field] : o.fields) {
    const Extent n = field.box.extent();
    const bool isOdd[] = {name.starts_with("gas.momentum_x"), name.starts_with("gas.momentum_y"),
                          name.starts_with("gas.momentum_z")};
    for (int axis = 0; axis < kAxes; ++axis) {
      std::int64_t wrong = 0;
      forEachIndex(field.box, [&](Index x) {
        Index image = x;
        image[axis] = n[axis] - 1 - x[axis];
        wrong += field(x) == (isOdd[axis] ? -field(image) : field(image)) ? 0 : 1;
      });
      EXPECT_EQ(wrong, 0) << name << " along axis " << axis;
    }
  }
  EXPECT_NEAR(o.end.at("euler.momentum_x"), 0.0, 1e-13);
}

TEST(EulerBlasts, AnImplosionIsItsOwnImageInTheDiagonalToTheLastBit) {
  const Outcome o = simulate("euler/implosion").run();
  ASSERT_GT(o.steps, 100);
  const auto wrongOf = [&](const char* name, const char* image) {
    const WholeField& a = o.fields.at(name);
    const WholeField& b = o.fields.at(image);
    std::int64_t wrong = 0;
    forEachIndex(a.box, [&](Index x) { wrong += a(x) == b({x.j, x.i, 0}) ? 0 : 1; });
    return wrong;
  };
  EXPECT_EQ(wrongOf("gas.density", "gas.density"), 0);
  EXPECT_EQ(wrongOf("gas.energy", "gas.energy"), 0);
  EXPECT_EQ(wrongOf("gas.momentum_x", "gas.momentum_y"), 0);
  EXPECT_NEAR(o.end.at("euler.mass") / o.start.at("euler.mass"), 1.0, 1e-13);
  EXPECT_NEAR(o.end.at("euler.energy") / o.start.at("euler.energy"), 1.0, 1e-13);
}

}  // namespace
}  // namespace tessera::test
