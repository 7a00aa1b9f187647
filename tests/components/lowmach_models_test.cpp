// lowmach with eddies that cells do not resolve, and with solid cells.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

using std::numbers::pi;

/// A velocity that rises evenly from the wall below to the one above, which moves along.
constexpr const char* kShear = R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 3, cfl = 0.4, dt_max = 0.01 }
grid = { cells = [6, 8, 4], upper = [1, 2, 1], patches = [2, 2, 1], periodic = [true, false, true] }
[lowmach]
density = 2
viscosity = 0.01
initial.velocity.x = "3*y"
boundary.y_high = { type = "wall", velocity.x = 6 }
)deck";

TEST(LowmachModels, SmagorinskysViscosityOfALinearShearIsExact) {
  const Outcome o = simulateText(kShear).set("lowmach.turbulence=\"smagorinsky\"").run();

  const double widthSquared = std::pow(1.0 / 6.0 * 0.25 * 0.25, 2.0 / 3.0);
  for (const double mu : o.fields.at("lowmach.eddy_viscosity").values)
    ASSERT_NEAR(mu, 2.0 * 0.17 * 0.17 * widthSquared * 3.0, 1e-12);
  const WholeField& u = o.fields.at("velocity_x");
  for (std::int64_t j = 0; j < 8; ++j)
    ASSERT_NEAR(u({2, j, 1}), 3.0 * (0.25 * static_cast<double>(j) + 0.125), 1e-11);
}

TEST(LowmachModels, InTwoDimensionsTheWidthIsTheRootOfTheArea) {
  const Outcome o = simulateText(kShear).set("lowmach.turbulence=\"smagorinsky\"").cells({6, 8, 1}).run(1);

  for (const double mu : o.fields.at("lowmach.eddy_viscosity").values)
    ASSERT_NEAR(mu, 2.0 * 0.17 * 0.17 * (1.0 / 6.0 * 0.25) * 3.0, 1e-12);
}

TEST(LowmachModels, EddiesThatMixMakeTheStableStepShorter) {
  const Outcome o =
      simulateText(kShear).set("lowmach.turbulence=\"smagorinsky\"").set("time.dt_max=1").run(1);

  const double widthSquared = std::pow(1.0 / 6.0 * 0.25 * 0.25, 2.0 / 3.0);
  const double eddies = 2.0 * 0.17 * 0.17 * widthSquared * 3.0;
  // The fastest cell is the highest, and eddies mix better than they rub, by 1 over their Schmidt number.
  const double rate = 6.0 * 3.0 * 1.875 + 2.0 * (0.01 + eddies / 0.7) / 2.0 * (36.0 + 16.0 + 16.0);
  EXPECT_NEAR(o.dt, 0.4 / rate, 1e-12);
}

// Two stages of friction alone, of the viscosity and that of eddies, which holds for the step.
TEST(LowmachModels, EddiesRubAsTheirViscositySays) {
  const Outcome o = simulateText(kShear)
                        .set("lowmach.turbulence=\"smagorinsky\"")
                        .set("lowmach.initial.velocity.x=\"3*y^2\"")
                        .set("time={ max_steps = 1, dt = 0.02 }")
                        .run();

  const WholeField& mu = o.fields.at("lowmach.eddy_viscosity");
  const auto stage = [&](const std::array<double, 8>& u) {
    std::array<double, 8> next = u;
    for (std::size_t j = 1; j < 7; ++j) {
      const auto at = [&](std::size_t k) { return mu({2, static_cast<std::int64_t>(k), 1}); };
      const double above = (0.01 + 0.5 * (at(j) + at(j + 1))) * (u[j + 1] - u[j]);
      const double below = (0.01 + 0.5 * (at(j - 1) + at(j))) * (u[j] - u[j - 1]);
      next[j] = u[j] + 0.02 * (above - below) / (0.25 * 0.25) / 2.0;
    }
    return next;
  };
  std::array<double, 8> u{};
  for (std::size_t j = 0; j < 8; ++j) {
    const double y = 0.25 * static_cast<double>(j) + 0.125;
    u[j] = 3.0 * y * y;
  }
  const std::array<double, 8> twice = stage(stage(u));
  ASSERT_GT(mu({2, 4, 1}), 1e-3);
  for (std::size_t j = 2; j < 6; ++j)
    EXPECT_NEAR(o.fields.at("velocity_x")({2, static_cast<std::int64_t>(j), 1}), 0.5 * (u[j] + twice[j]),
                1e-11);
}

// A wave of the mixture across the shear decays in each step by the factor of two stages.
TEST(LowmachModels, EddiesMixByTheirViscosityOverTheirSchmidtNumber) {
  const Outcome o = simulateText(kShear)
                        .set("lowmach.turbulence=\"smagorinsky\"")
                        .set("lowmach.turbulent_schmidt=0.5")
                        .set("lowmach.diffusivity=0.03")
                        .set("lowmach.initial.mixture_fraction=\"0.5 + 0.4*cos(pi*y/2)\"")
                        .set("time={ max_steps = 3, dt = 0.01 }")
                        .run();

  const double widthSquared = std::pow(1.0 / 6.0 * 0.25 * 0.25, 2.0 / 3.0);
  const double eddies = 2.0 * 0.17 * 0.17 * widthSquared * 3.0;
  const double sine = std::sin(pi * 0.25 / 4.0);
  const double z = 0.01 * (0.03 + eddies / 0.5) / 2.0 * 4.0 / (0.25 * 0.25) * sine * sine;
  const double factor = std::pow(1.0 - z + 0.5 * z * z, 3);
  for (std::int64_t j = 0; j < 8; ++j) {
    const double y = 0.25 * static_cast<double>(j) + 0.125;
    EXPECT_NEAR(o.fields.at("mixture_fraction")({3, j, 2}), 0.5 + 0.4 * factor * std::cos(pi * y / 2.0),
                1e-12);
  }
}

TEST(LowmachModels, TheDynamicModelFindsNoEddiesInALinearShear) {
  const Outcome o = simulateText(kShear).set("lowmach.turbulence=\"dynamic\"").run();

  for (const double mu : o.fields.at("lowmach.eddy_viscosity").values) ASSERT_NEAR(mu, 0.0, 1e-12);
}

/// The dynamic model once more, plainly, of a velocity on the faces of a periodic square of N x N cells of
/// width h, of which a block may be solid: then its faces are at rest, and the fluid does not slip there.
class PlainGermano {
 public:
  static constexpr std::int64_t N = 12;
  static constexpr double h = 1.0 / N;

  explicit PlainGermano(bool hasBlock = false) : hasBlock_(hasBlock) {}

  double viscosity(std::int64_t i, std::int64_t j) const {
    double product = 0.0;
    double square = 0.0;
    for (std::int64_t m = 0; m < N; ++m) {
      for (std::int64_t n = 0; n < N; ++n)
        if (fluid(m, n) > 0.0) add(m, n, product, square);
    }
    return fluid(i, j) * std::max(0.0, product / square) * h * h * amount(strain(i, j));
  }
  /// 1 in cells with fluid, 0 in the block, where 0.3 < x < 0.5 and 0.25 < y < 0.6.
  double fluid(std::int64_t i, std::int64_t j) const {
    const double x = at((i + N) % N) + 0.5 * h;
    const double y = at((j + N) % N) + 0.5 * h;
    return hasBlock_ && x > 0.3 && x < 0.5 && y > 0.25 && y < 0.6 ? 0.0 : 1.0;
  }

 private:
  using Strain = std::array<double, 3>;  // xx, yy, xy

  static double at(std::int64_t i) { return static_cast<double>(i) * h; }
  double openX(std::int64_t i, std::int64_t j) const { return fluid(i - 1, j) * fluid(i, j); }
  double openY(std::int64_t i, std::int64_t j) const { return fluid(i, j - 1) * fluid(i, j); }
  double u(std::int64_t i, std::int64_t j) const {
    const double x = 2 * pi * at(i);
    return openX(i, j) * (std::sin(x) - 0.3 * std::sin(2 * x) + 0.2 * std::cos(2 * pi * (at(j) + 0.5 * h)));
  }
  double v(std::int64_t i, std::int64_t j) const {
    return openY(i, j) * 0.4 * std::sin(2 * pi * (at(i) + 0.5 * h)) * std::cos(4 * pi * at(j));
  }
  static double amount(const Strain& s) {
    return std::sqrt(2 * (s[0] * s[0] + s[1] * s[1] + 2 * s[2] * s[2]));
  }
  Strain strain(std::int64_t i, std::int64_t j) const {
    double xy = 0.0;
    for (const std::int64_t m : {i, i + 1}) {
      for (const std::int64_t n : {j, j + 1}) {
        // Beside a closed face the wall is half-way.
        const double nearX = openX(m, n) * openX(m, n - 1) > 0.0 ? 1.0 : 2.0;
        const double nearY = openY(m, n) * openY(m - 1, n) > 0.0 ? 1.0 : 2.0;
        xy += 0.125 * (nearX * (u(m, n) - u(m, n - 1)) + nearY * (v(m, n) - v(m - 1, n))) / h;
      }
    }
    return {(u(i + 1, j) - u(i, j)) / h, (v(i, j + 1) - v(i, j)) / h, xy};
  }
  void add(std::int64_t i, std::int64_t j, double& product, double& square) const {
    double fu[2] = {0, 0};
    double fuu[3] = {0, 0, 0};
    Strain fs{0, 0, 0};
    Strain fm{0, 0, 0};
    for (std::int64_t m = -1; m <= 1; ++m) {
      for (std::int64_t n = -1; n <= 1; ++n) {
        const double w = (m == 0 ? 0.5 : 0.25) * (n == 0 ? 0.5 : 0.25);
        const double uc = 0.5 * (u(i + m, j + n) + u(i + m + 1, j + n));
        const double vc = 0.5 * (v(i + m, j + n) + v(i + m, j + n + 1));
        const Strain s = strain(i + m, j + n);
        fu[0] += w * uc;
        fu[1] += w * vc;
        fuu[0] += w * uc * uc;
        fuu[1] += w * vc * vc;
        fuu[2] += w * uc * vc;
        for (std::size_t k = 0; k < 3; ++k) {
          fs[k] += w * s[k];
          fm[k] += w * amount(s) * s[k];
        }
      }
    }
    const double l[3] = {fuu[0] - fu[0] * fu[0], fuu[1] - fu[1] * fu[1], fuu[2] - fu[0] * fu[1]};
    const double trace = (l[0] + l[1]) / 3.0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double m = 2 * h * h * (fm[k] - 4 * amount(fs) * fs[k]);
      const double times = k < 2 ? 1.0 : 2.0;
      product += times * (l[k] - (k < 2 ? trace : 0.0)) * m;
      square += times * m * m;
    }
  }

  bool hasBlock_;
};

/// The flow of PlainGermano in the plane of two axes.
std::string germanoDeck(std::size_t a, std::size_t b) {
  const auto axis = [](std::size_t n) { return std::string(1, "xyz"[n]); };
  std::array<std::string, 3> cells{"1", "1", "1"};
  std::array<std::string, 3> periodic{"false", "false", "false"};
  cells[a] = cells[b] = "12";
  periodic[a] = periodic[b] = "true";
  const auto text = [](const std::array<std::string, 3>& t) {
    return "[" + t[0] + ", " + t[1] + ", " + t[2] + "]";
  };
  const std::string x = axis(a);
  const std::string y = axis(b);
  return "simulation.components = [\"lowmach\"]\n"
         "time = { max_steps = 1, cfl = 0.4 }\n"
         "grid = { cells = " +
         text(cells) + ", patches = [1, 1, 1], periodic = " + text(periodic) +
         " }\n"
         "[lowmach]\n"
         "viscosity = 0.001\n"
         "turbulence = \"dynamic\"\n"
         "initial.velocity." +
         x + " = \"sin(2*pi*" + x + ") - 0.3*sin(4*pi*" + x + ") + 0.2*cos(2*pi*" + y +
         ")\"\n"
         "initial.velocity." +
         y + " = \"0.4*sin(2*pi*" + x + ")*cos(4*pi*" + y + ")\"\n";
}

/// That of each cell, in the plane of two axes.
void expectViscosity(const Outcome& o, const PlainGermano& plain, std::size_t a, std::size_t b) {
  ASSERT_GT(plain.viscosity(3, 2), 1e-6);
  const WholeField& mu = o.fields.at("lowmach.eddy_viscosity");
  for (std::int64_t j = 0; j < PlainGermano::N; ++j) {
    for (std::int64_t i = 0; i < PlainGermano::N; ++i) {
      Index at{0, 0, 0};
      at[static_cast<int>(a)] = i;
      at[static_cast<int>(b)] = j;
      ASSERT_NEAR(mu(at), plain.viscosity(i, j), 1e-12) << a << " " << b << ": " << i << " " << j;
    }
  }
}

TEST(LowmachModels, TheDynamicModelIsThatOfGermanoAndLilly) {
  for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 2}, {2, 0}})
    expectViscosity(simulateText(germanoDeck(a, b)).run(), PlainGermano(), a, b);
}

TEST(LowmachModels, TheDynamicModelCountsCellsWithFluidAlone) {
  const Outcome o = simulateText(germanoDeck(0, 1))
                        .set("lowmach.solid.where=\"x > 0.3 && x < 0.5 && y > 0.25 && y < 0.6\"")
                        .run();
  expectViscosity(o, PlainGermano(true), 0, 1);
}

/// A channel of height 1 between walls, which are sides of the domain or solid cells.
std::string channel(bool solid) {
  const std::string cells =
      solid ? "cells = [8, 16, 1], lower = [0, -0.5, 0], upper = [1, 1.5, 1]" : "cells = [8, 8, 1]";
  return "simulation.components = [\"lowmach\"]\n"
         "time = { end = 0.3, cfl = 0.5 }\n"
         "solver.tolerance = 1e-12\n"
         "grid = { " +
         cells +
         ", patches = [2, 1, 1], periodic = [true, false, false] }\n"
         "[lowmach]\n"
         "viscosity = 0.2\n"
         "turbulence = \"smagorinsky\"\n"
         "initial.velocity = { x = \"y*(1 - y)*(1 + sin(2*pi*x))\", y = \"0.3*sin(pi*y)*cos(2*pi*x)\" }\n"
         "force.x = \"1 + sin(20*t)*y\"\n" +
         (solid ? "solid.where = \"y < 0 || y > 1\"\n" : "");
}

TEST(LowmachModels, SolidCellsMakeTheSameChannelAsSidesOfTheDomain) {
  const Outcome walls = simulateText(channel(false)).run();
  const Outcome solids = simulateText(channel(true)).run();

  ASSERT_EQ(walls.steps, solids.steps);
  for (std::int64_t i = 0; i < 8; ++i) {
    for (std::int64_t j = 0; j < 8; ++j) {
      for (const char* what : {"velocity_x", "velocity_y"})
        ASSERT_NEAR(walls.fields.at(what)({i, j, 0}), solids.fields.at(what)({i, j + 4, 0}), 1e-9)
            << what << i << j;
    }
    for (const std::int64_t j : {0, 3, 12, 15}) EXPECT_EQ(solids.fields.at("velocity_x")({i, j, 0}), 0.0);
  }
}

// Between solid cells the velocity of rest differs from Poiseuille's parabola by F h^2 / (8 mu), exactly.
TEST(LowmachModels, ASlotBetweenSolidCellsHasTheFlowOfPoiseuille) {
  const Outcome o = simulateText(channel(true))
                        .set("lowmach.force.x=1")
                        .set("lowmach.turbulence=\"none\"")
                        .set("lowmach.initial.velocity.y=0")
                        .set("lowmach.initial.velocity.x=0")
                        .set("time.end=12")
                        .run();

  const WholeField& u = o.fields.at("velocity_x");
  for (std::int64_t j = 0; j < 8; ++j) {
    const double y = (static_cast<double>(j) + 0.5) / 8.0;
    EXPECT_NEAR(u({3, j + 4, 0}), (y * (1.0 - y) + 1.0 / 256.0) / 0.4, 1e-7);
  }
}

TEST(LowmachModels, WhatEntersPassesABlockAndLeaves) {
  const Outcome o = simulate("lowmach/tubes").set("solver.tolerance=1e-11").run();

  ASSERT_LT(o.end.at("lowmach.divergence"), 1e-8);
  const WholeField& u = o.fields.at("velocity_x");
  for (std::int64_t i = 0; i <= 48; ++i) {
    double passes = 0.0;
    for (std::int64_t j = 0; j < 16; ++j) passes += u({i, j, 0}) / 16.0;
    EXPECT_NEAR(passes, 1.0, 1e-9) << i;
  }
  EXPECT_EQ(u({13, 5, 0}), 0.0);
  EXPECT_NEAR(o.end.at("lowmach.max_temperature"), 400.0, 1e-9);
  EXPECT_GE(o.end.at("lowmach.min_temperature"), 300.0 - 1e-9);
}

TEST(LowmachModels, HeatPassesFromASolidToAWallAlongAStraightLine) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { end = 4, dt_max = 0.05 }
grid = { cells = [2, 12, 1], upper = [1, 1.5, 1], patches = [1, 1, 1], periodic = [true, false, false] }
[lowmach]
conductivity = 0.5
viscosity = 0.1
initial.temperature = 3
solid = { where = "y < 0.5", temperature = 7 }
boundary.y_high = { type = "wall", temperature = 2 }
)deck")
                        .run();

  const WholeField& T = o.fields.at("temperature");
  for (std::int64_t j = 0; j < 12; ++j) {
    const double y = (static_cast<double>(j) + 0.5) / 8.0;
    EXPECT_NEAR(T({0, j, 0}), y < 0.5 ? 7.0 : 7.0 - 5.0 * (y - 0.5), 1e-6);
  }
}

/// Light and heavy fluid around a block in a closed box.
TEST(LowmachModels, AroundABlockMassAndMixtureAreKeptAndBoundsHold) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { end = 0.3, cfl = 0.4 }
grid = { cells = [16, 16, 1], patches = [2, 1, 1] }
[lowmach]
mixing.density = [8, 1]
viscosity = 0.02
diffusivity = 0.02
gravity = [0, -1, 0]
reference_density = 4
initial.mixture_fraction = "y < 0.4"
solid.where = "abs(x - 0.4) < 0.1 && abs(y - 0.5) < 0.2"
)deck")
                        .run();

  for (const char* what : {"lowmach.mass", "lowmach.mixture_fraction"})
    EXPECT_NEAR(o.end.at(what), o.start.at(what), 1e-12 * o.start.at("lowmach.mass")) << what;
  EXPECT_GE(o.end.at("lowmach.min_mixture_fraction"), 0.0);
  EXPECT_LE(o.end.at("lowmach.max_mixture_fraction"), 1.0);
  EXPECT_LT(o.end.at("lowmach.divergence"), 1e-7);
}

// Measured: 0.389 of densities from 1 to 20, and 0.075.
TEST(LowmachModels, TheCorrugatedFrontKeepsItsShapeAtRatioTwenty) {
  const Outcome coarse = simulate("lowmach/shunn_front").cells({48, 8, 1}).run();
  const Outcome fine = simulate("lowmach/shunn_front").run();

  EXPECT_LT(fine.end.at("lowmach.mixture_fraction.error_l2"), 0.08);
  EXPECT_LT(fine.end.at("lowmach.density.error_l2"), 0.41);
  for (const char* what : {"density", "mixture_fraction", "velocity_x"}) {
    const std::string norm = std::string("lowmach.") + what + ".error_l2";
    EXPECT_GT(coarse.end.at(norm), 1.5 * fine.end.at(norm)) << what;
  }
}

}  // namespace
}  // namespace tessera::test
