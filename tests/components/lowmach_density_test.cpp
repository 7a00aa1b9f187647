// lowmach where the density varies: exact solutions, what is conserved, what stays as it is.
#include <cmath>
#include <numbers>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// The order between two runs, of which the second has cells of half the size.
double orderBetween(const Outcome& coarse, const Outcome& fine, const std::string& what) {
  const std::string norm = "lowmach." + what + ".error_l2";
  return std::log2(coarse.end.at(norm) / fine.end.at(norm));
}

TEST(LowmachDensity, DiffusionAtRatioTwentyIsOfSecondOrder) {
  const auto run = [](std::int64_t n) { return simulate("lowmach/shunn_diffusion").cells({n, 1, 1}).run(); };
  const Outcome coarse = run(64);
  const Outcome fine = run(128);

  ASSERT_EQ(fine.time, 1.0);
  for (const char* what : {"density", "mixture_fraction", "velocity_x"})
    EXPECT_GE(orderBetween(coarse, fine, what), 1.8) << what;
}

void expectOrders(const Outcome& coarse, const Outcome& fine, double least) {
  for (const char* what : {"density", "mixture_fraction", "velocity_x", "velocity_y"})
    EXPECT_GE(orderBetween(coarse, fine, what), least) << what;
}

TEST(LowmachDensity, OscillationsAtRatioTwentyAreOfSecondOrder) {
  const auto run = [](std::int64_t n) {
    return simulate("lowmach/shunn_oscillation")
        .cells({n, n, 1})
        .set("time.end=0.1")
        .set("solver.tolerance=1e-6")
        .run();
  };
  expectOrders(run(48), run(96), 1.8);
}

// From 32 to 128 cells the orders are 1.86, 1.88 and 1.83.
TEST(LowmachDensity, OscillationsAtRatioTwentyAreStableForAWholePeriod) {
  const auto run = [](std::int64_t n) {
    return simulate("lowmach/shunn_oscillation").cells({n, n, 1}).run();
  };
  const Outcome coarse = run(32);
  const Outcome fine = run(64);

  ASSERT_EQ(fine.time, 1.0);
  expectOrders(coarse, fine, 1.7);
  EXPECT_NEAR(fine.end.at("lowmach.mass"), 42.0, 42.0 * 1e-12);
  EXPECT_LT(fine.end.at("lowmach.divergence"), 1e-8);
}

// The front is 1/40 wide at the start: six cells of the finer mesh.
TEST(LowmachDensity, ACorrugatedFrontAtRatioTwentyIsOfSecondOrderWhereItIsResolved) {
  const auto run = [](std::int64_t n) {
    return simulate("lowmach/shunn_front")
        .cells({2 * n, n, 1})
        .set("grid.lower=[-0.5, 0, 0]")
        .set("grid.upper=[0.5, 0.5, 1]")
        .set("time.end=0.05")
        .set("solver.tolerance=1e-5")
        .run();
  };
  expectOrders(run(50), run(100), 1.8);
}

TEST(LowmachDensity, ACorrugatedFrontAtRatioTwentyIsStableToTheEnd) {
  const Outcome o = simulate("lowmach/shunn_front").set("time.end=1").run();

  ASSERT_EQ(o.time, 1.0);
  // Measured: 0.064, 0.398 of densities from 1 to 20, and 0.103: the front is as wide as one cell at first.
  EXPECT_LT(o.end.at("lowmach.velocity_x.error_l2"), 0.07);
  EXPECT_LT(o.end.at("lowmach.density.error_l2"), 0.42);
  EXPECT_LT(o.end.at("lowmach.mixture_fraction.error_l2"), 0.11);
}

/// A vortex that stirs light and heavy fluid in a periodic box.
constexpr const char* kStirred = R"deck(
simulation.components = ["lowmach"]
time = { end = 0.2, cfl = 0.4 }
grid = { cells = [16, 16, 1], patches = [1, 1, 1], periodic = [true, true, false] }
[lowmach]
mixing.density = [20, 1]
viscosity = 0.01
diffusivity = 0.01
initial.mixture_fraction = "0.5 + 0.5*sin(2*pi*x)*cos(2*pi*y)"
initial.velocity.x = "1 - cos(2*pi*x)*sin(2*pi*y)"
initial.velocity.y = "sin(2*pi*x)*cos(2*pi*y)"
)deck";

TEST(LowmachDensity, MassMixtureAndMomentumAreKeptAndBoundsHold) {
  const Outcome o = simulateText(kStirred).run();

  for (const char* what : {"mass", "mixture_fraction", "momentum_x", "momentum_y"}) {
    const std::string column = std::string("lowmach.") + what;
    EXPECT_NEAR(o.end.at(column), o.start.at(column), 1e-12 * o.start.at("lowmach.mass")) << what;
  }
  EXPECT_GE(o.end.at("lowmach.min_mixture_fraction"), 0.0);
  EXPECT_LE(o.end.at("lowmach.max_mixture_fraction"), 1.0);
  EXPECT_LT(o.end.at("lowmach.divergence"), 1e-8);
}

TEST(LowmachDensity, TheDensityStaysThatOfItsMixture) {
  const Outcome o = simulateText(kStirred).run();

  const WholeField& f = o.fields.at("mixture_fraction");
  const WholeField& rho = o.fields.at("density");
  for (std::size_t n = 0; n < f.values.size(); ++n)
    ASSERT_NEAR(rho.values[n] * ((1.0 - f.values[n]) / 20.0 + f.values[n]), 1.0, 1e-8);
}

TEST(LowmachDensity, AMixtureThatIsTheSameEverywhereStaysExactlySo) {
  const Outcome o = simulateText(kStirred).set("lowmach.initial.mixture_fraction=0.3").run(10);

  for (const double f : o.fields.at("mixture_fraction").values) ASSERT_EQ(f, 0.3);
}

TEST(LowmachDensity, AUniformStreamOfAnyDensityStaysExactlyAsItIs) {
  const Outcome o = simulateText(kStirred)
                        .set("lowmach.diffusivity=0")
                        .set("lowmach.initial.velocity.x=0.3")
                        .set("lowmach.initial.velocity.y=-1.7")
                        .run(10);

  ASSERT_GT(o.end.at("lowmach.max_density"), 10.0);
  for (const double u : o.fields.at("velocity_x").values) ASSERT_EQ(u, 0.3);
  for (const double v : o.fields.at("velocity_y").values) ASSERT_EQ(v, -1.7);
}

/// Energy grows as sinh(n t)^2, where n^2 = At g k / (1 + At k L), L the length over which the density
/// changes.
TEST(LowmachDensity, HeavyFluidOverLightOneFallsAtTheRateOfRayleighAndTaylor) {
  const auto energyAt = [](const char* time) {
    return simulate("lowmach/rayleigh_taylor").set(time).run().end.at("lowmach.kinetic_energy");
  };
  const double ratio = std::sqrt(energyAt("time.end=1.0") / energyAt("time.end=0.5"));
  const double rate = 2.0 * std::acosh(0.5 * ratio);
  const double k = 2.0 * std::numbers::pi;
  const double theory = std::sqrt(0.5 * k / (1.0 + 0.5 * k * 0.04));

  EXPECT_NEAR(rate, theory, 0.1 * theory);
}

/// Gas that is heated evenly and leaves on the right: rho T stays, so T' / T = Q / (rho0 T0 cp) = 1, and the
/// velocity is what grows on the way, x.
constexpr const char* kHeated = R"deck(
simulation.components = ["lowmach"]
time = { end = 0.5, cfl = 0.4, dt_max = 0.01 }
grid = { cells = [12, 6, 1], patches = [2, 1, 1] }
[lowmach]
density = 2
heat_capacity = 4
reference_temperature = 300
initial.temperature = 300
heat_source = 2400
boundary.x_low.type = "slip"
boundary.y_low.type = "slip"
boundary.y_high.type = "slip"
boundary.x_high.type = "outlet"
exact.temperature = "300*exp(t)"
exact.velocity.x = "if(t > 0, x, 0)"
)deck";

TEST(LowmachDensity, HeatedGasExpandsAsItsTemperatureRises) {
  const Outcome o = simulateText(kHeated).run();

  EXPECT_LT(o.end.at("lowmach.temperature.error_max"), 0.05);
  EXPECT_LT(o.end.at("lowmach.velocity_x.error_max"), 1e-6);
  EXPECT_NEAR(o.end.at("lowmach.max_density") * o.end.at("lowmach.max_temperature"), 600.0, 1e-6);
}

/// Light fluid enters through a part of a wall into heavy one and rises; viscosities differ.
constexpr const char* kPlume = R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 6, cfl = 0.4 }
grid = { cells = [12, 14, 5], upper = [1, 1.2, 0.4], patches = [1, 1, 1], periodic = [false, false, true] }
[lowmach]
mixing = { density = [1.2, 0.4], viscosity = 0.01 }
viscosity = 0.002
diffusivity = 0.002
gravity = [0, -9.8, 0]
reference_density = 1.2
convection = "limited"
initial.mixture_fraction = 0
boundary.y_high.type = "outlet"
boundary.x_high.type = "slip"
[[lowmach.boundary_part]]
side = "y_low"
within = "abs(x - 0.5) < 0.2"
type = "inlet"
velocity.y = "1 + 0.2*sin(20*t)"
mixture_fraction = "1 - 0.1*cos(2*pi*z/0.4)"
)deck";

TEST(LowmachDensity, HasTheSameBitsForAnyRanksThreadsPatchesAndDevices) {
  const Outcome right = simulateText(kPlume).run();
  ASSERT_GT(right.end.at("lowmach.max_mixture_fraction"), 0.5);

  for (const Extent patches : {Extent{3, 2, 2}, Extent{1, 4, 2}}) {
    for (const int ranks : {1, 3}) {
      const Outcome o = simulateText(kPlume).patches(patches).ranks(ranks).threads(ranks % 2).run();
      EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks, " << asText(patches) << " patches";
    }
  }
  EXPECT_EQ(firstDifference(right, simulateText(kPlume).patches({3, 2, 1}).ranks(2).checked().run()), "");
  EXPECT_EQ(firstDifference(right, simulateText(kPlume).patches({3, 2, 1}).ranks(2).seed(5).run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, simulateText(kPlume).patches({3, 2, 1}).devices(devices).run()), "");
}

/// Mean of the amounts by which a variable of two runs differs.
double meanDifference(const Outcome& a, const Outcome& b, const std::string& variable) {
  const std::vector<double>& left = a.fields.at(variable).values;
  const std::vector<double>& right = b.fields.at(variable).values;
  double sum = 0.0;
  for (std::size_t n = 0; n < left.size(); ++n) sum += std::abs(left[n] - right[n]);
  return sum / static_cast<double>(left.size());
}

TEST(LowmachDensity, GravityAtRatioTwentyIsOfSecondOrderInTime) {
  const auto run = [](double dt) {
    return simulateText(R"deck(
[simulation]
components = ["lowmach"]
[grid]
cells = [16, 16, 1]
periodic = [true, true, false]
[time]
end = 0.1
[lowmach]
mixing.density = [20, 1]
slopes = "none"
diffusivity = 0.001
gravity = [0, -5, 0]
initial.mixture_fraction = "0.5 + 0.3*sin(2*pi*x)*sin(2*pi*y)"
initial.velocity = { x = 1, y = 0.5 }
[solver]
tolerance = 1e-12
)deck")
        .set("time.dt=" + std::to_string(dt))
        .run();
  };
  const Outcome whole = run(0.01);
  const Outcome half = run(0.005);
  const Outcome quarter = run(0.0025);
  for (const char* variable : {"density", "mixture_fraction", "velocity_x", "velocity_y"}) {
    const double ratio = meanDifference(whole, half, variable) / meanDifference(half, quarter, variable);
    EXPECT_NEAR(ratio, 4.0, 0.4) << variable;
  }
}

TEST(LowmachDensity, WhatNeedsAMixtureSaysSo) {
  const auto errorOf = [](const std::string& assignment) -> std::string {
    try {
      simulate("lowmach/taylor_green").set(assignment).run(1);
    } catch (const DeckError& error) {
      return error.message();
    }
    return "";
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(errorOf("lowmach.diffusivity=1"), HasSubstr("needs lowmach.initial.mixture_fraction"));
  EXPECT_THAT(errorOf("lowmach.mixing.viscosity=0"), HasSubstr("needs lowmach.initial.mixture_fraction"));
  EXPECT_THAT(errorOf("lowmach.heat_source=1"), HasSubstr("needs lowmach.initial.temperature"));
}

}  // namespace
}  // namespace tessera::test
