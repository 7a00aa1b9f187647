#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/order_of.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

using std::numbers::pi;

TEST(Lowmach, TravellingVorticesAreOfSecondOrderAndDecayAsTheyShall) {
  const auto run = [](std::int64_t n) { return simulate("lowmach/taylor_green").cells({n, n, 1}).run(); };
  const Outcome coarse = run(16);
  const Outcome fine = run(32);

  const auto order = [&](const char* norm) { return std::log2(coarse.end.at(norm) / fine.end.at(norm)); };
  EXPECT_GE(order("lowmach.velocity_x.error_l2"), 1.95);
  EXPECT_GE(order("lowmach.velocity_y.error_max"), 1.95);
  EXPECT_GE(order("lowmach.pressure.error_l2"), 1.8);
  EXPECT_NEAR(fine.end.at("lowmach.kinetic_energy"), 1.0 + 0.25 * std::exp(-16.0 * pi * pi * 0.01 * 0.5),
              1e-3);
  EXPECT_LT(fine.end.at("lowmach.divergence"), 1e-9);
  EXPECT_NEAR(fine.end.at("lowmach.momentum_x"), 1.0, 1e-12);
  EXPECT_NEAR(fine.end.at("lowmach.momentum_y"), 1.0, 1e-12);
}

TEST(Lowmach, ThreeStagesAndLimitedSlopesAreOfSecondOrderAsWell) {
  const auto errorOf = [](std::int64_t n) {
    return simulate("lowmach/taylor_green")
        .set("lowmach.stages='rk3'")
        .set("lowmach.convection='limited'")
        .cells({n, n, 1})
        .run()
        .end.at("lowmach.velocity_x.error_l2");
  };

  EXPECT_GE(orderOf(errorOf, {16, 32}), 1.8);
}

TEST(Lowmach, AUniformStreamStaysExactlyAsItIs) {
  const Outcome o = simulate("lowmach/taylor_green")
                        .set("lowmach.initial.velocity.x=0.3")
                        .set("lowmach.initial.velocity.y=-1.7")
                        .run(20);

  for (const double u : o.fields.at("velocity_x").values) ASSERT_EQ(u, 0.3);
  for (const double v : o.fields.at("velocity_y").values) ASSERT_EQ(v, -1.7);
}

/// The velocity on the middle line, at places between faces by a straight line.
double alongX(const Outcome& o, double y) {
  const WholeField& u = o.fields.at("velocity_x");
  const std::int64_t n = u.box.hi.j;
  const double at = y * static_cast<double>(n) - 0.5;
  const auto j = static_cast<std::int64_t>(at);
  const double part = at - static_cast<double>(j);
  return (1.0 - part) * u({n / 2, j, 0}) + part * u({n / 2, j + 1, 0});
}

// Targets: an own solution on 128^2 with Richardson's extrapolation; those of Ghia et al. are 1.6 % off.
TEST(Lowmach, TheLidOfACavityDrivesTheVelocitiesOfTheReference) {
  const Outcome o = simulate("lowmach/cavity").cells({32, 32, 1}).set("time.end=12").run();

  const WholeField& v = o.fields.at("velocity_y");
  double least = 0.0;
  double most = 0.0;
  for (std::int64_t i = 0; i < 32; ++i) {
    least = std::min(least, v({i, 16, 0}));
    most = std::max(most, v({i, 16, 0}));
  }
  EXPECT_NEAR(alongX(o, 0.458), -0.2140, 0.0064);
  EXPECT_NEAR(alongX(o, 0.5), -0.2091, 0.0063);
  EXPECT_NEAR(least, -0.2538, 0.0076);
  EXPECT_NEAR(most, 0.1795, 0.0054);
  EXPECT_LT(o.end.at("lowmach.divergence"), 1e-4);
}

TEST(Lowmach, AChannelBecomesTheFlowOfPoiseuille) {
  const auto run = [](std::int64_t n) { return simulate("lowmach/channel").cells({3 * n, n, 1}).run(); };
  const Outcome coarse = run(8);
  const Outcome fine = run(16);

  EXPECT_GE(
      std::log2(coarse.end.at("lowmach.velocity_x.error_l2") / fine.end.at("lowmach.velocity_x.error_l2")),
      1.8);
  const WholeField& p = fine.fields.at("pressure");
  const double perLength = (p({16, 8, 0}) - p({32, 8, 0})) / 1.0;
  EXPECT_NEAR(perLength, 8.0 * 0.1, 0.01);
  // What enters leaves.
  const WholeField& u = fine.fields.at("velocity_x");
  double in = 0.0;
  double out = 0.0;
  for (std::int64_t j = 0; j < 16; ++j) {
    in += u({0, j, 0}) / 16.0;
    out += u({48, j, 0}) / 16.0;
  }
  EXPECT_NEAR(in, 2.0 / 3.0, 2e-3);
  EXPECT_NEAR(out, in, 1e-11);
}

/// Fluid that rotates as a whole and goes along x: u = (1, -3 z, 3 y), p = density 9 (y^2 + z^2)/2, which
/// central differences have exactly.
constexpr const char* kSwirl = R"deck(
simulation.components = ["lowmach"]
time = { end = 0.3, cfl = 0.5 }
grid = { cells = [8, 8, 8], lower = [0, -0.5, -0.5], upper = [1, 0.5, 0.5], patches = [2, 1, 1] }
[lowmach]
density = 2
viscosity = 0.01
initial.velocity = { x = 1, y = "-3*z", z = "3*y" }
boundary.x_low = { type = "inlet", velocity = { x = 1, y = "-3*z", z = "3*y" } }
boundary.y_low = { type = "inlet", velocity = { x = 1, y = "-3*z", z = "3*y" } }
boundary.y_high = { type = "inlet", velocity = { x = 1, y = "-3*z", z = "3*y" } }
boundary.z_low = { type = "inlet", velocity = { x = 1, y = "-3*z", z = "3*y" } }
boundary.z_high = { type = "inlet", velocity = { x = 1, y = "-3*z", z = "3*y" } }
boundary.x_high = { type = "outlet", pressure = "9*(y^2 + z^2)" }
exact = { velocity = { x = "1", y = "-3*z", z = "3*y" }, pressure = "9*(y^2 + z^2)" }
)deck";

TEST(Lowmach, ASwirlThatEntersRotatesThroughTheBoxAndLeaves) {
  const Outcome o = simulateText(kSwirl).run();

  for (const char* what : {"velocity_x", "velocity_y", "velocity_z"})
    EXPECT_LT(o.end.at(std::string("lowmach.") + what + ".error_max"), 1e-10) << what;
  EXPECT_LT(o.end.at("lowmach.pressure.error_max"), 1e-7);
}

// A stream that is the faster the later, with a velocity across that depends on z alone: it stays so to
// rounding, as what enters is that of the time of each stage.
TEST(Lowmach, AProfileThatEntersFasterAndFasterIsThatOfEachStage) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { end = 0.3, cfl = 0.5 }
grid = { cells = [8, 4, 6], patches = [2, 1, 1], periodic = [false, true, false] }
[lowmach]
initial.velocity = { x = 1, y = "cos(pi*z)" }
boundary.x_low = { type = "inlet", velocity = { x = "1 + 4*t", y = "cos(pi*z)" } }
boundary.x_high.type = "outlet"
boundary.z_low.type = "slip"
boundary.z_high.type = "slip"
exact.velocity = { x = "1 + 4*t", y = "cos(pi*z)", z = "0" }
)deck")
                        .run();

  for (const char* what : {"velocity_x", "velocity_y", "velocity_z"})
    EXPECT_LT(o.end.at(std::string("lowmach.") + what + ".error_max"), 1e-10) << what;
  // Mass that the flow gains speeds up by the fall of the pressure, in the last stage too: 4 along a length
  // of 3/4.
  const WholeField& p = o.fields.at("pressure");
  EXPECT_NEAR(p({0, 1, 2}) - p({6, 1, 2}), 4.0 * 0.75, 1e-7);
}

/// Sides of all kinds, one of them in parts, forces of space and time, three stages.
constexpr const char* kAllSides = R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 6, cfl = 0.5 }
grid = { cells = [14, 11, 6], upper = [1.4, 1, 0.6], patches = [1, 1, 1], periodic = [false, false, true] }
[lowmach]
viscosity = 0.02
density = 2
gravity = [0, -1, 0]
stages = "rk3"
convection = "limited"
force = { x = "sin(6*y + 5*t)", z = "cos(x)" }
initial.velocity.z = "x*y"
boundary.x_low = { type = "wall", velocity.z = 0.2 }
boundary.x_high = { type = "outlet", pressure = "0.1*y" }
boundary.y_low.type = "slip"
[[lowmach.boundary_part]]
side = "x_low"
within = "abs(y - 0.5) < 0.3"
type = "inlet"
velocity = { x = "1 + t", y = "0.1*z" }
)deck";

TEST(Lowmach, HasTheSameBitsForAnyRanksThreadsPatchesAndDevices) {
  const Outcome right = simulateText(kAllSides).run();
  ASSERT_GT(right.end.at("lowmach.max_velocity"), 1.0);
  ASSERT_LT(right.end.at("lowmach.divergence"), 1e-8);

  for (const Extent patches : {Extent{3, 2, 2}, Extent{1, 4, 3}}) {
    for (const int ranks : {1, 3}) {
      const Outcome o = simulateText(kAllSides).patches(patches).ranks(ranks).threads(ranks % 2).run();
      EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks, " << asText(patches) << " patches";
    }
  }
  EXPECT_EQ(firstDifference(right, simulateText(kAllSides).patches({3, 2, 2}).ranks(2).checked().run()), "");
  EXPECT_EQ(firstDifference(right, simulateText(kAllSides).patches({3, 2, 2}).ranks(2).seed(5).run()), "");
  EXPECT_EQ(firstDifference(right, simulateText(kAllSides).patches({3, 2, 2}).ranks(2).adoptions(3).run()),
            "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, simulateText(kAllSides).patches({3, 2, 2}).devices(devices).run()), "");
}

TEST(Lowmach, WhatContradictsItselfIsRefusedWithAFix) {
  const auto errorOf = [](const std::string& assignment) -> std::string {
    try {
      simulateText(kAllSides).set(assignment).run(1);
    } catch (const DeckError& error) {
      return error.message();
    }
    return "";
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(errorOf("lowmach.boundary.x_low.type='outlet'"), HasSubstr("an \"outlet\" takes a whole side"));
  EXPECT_THAT(errorOf("lowmach.boundary.y_low.pressure=1"), HasSubstr("only an \"outlet\" has a pressure"));
  EXPECT_THAT(errorOf("lowmach.boundary.z_low.type='slip'"), HasSubstr("periodic"));
  EXPECT_THAT(errorOf("time.cfl=1.5"), HasSubstr("lowmach is unstable above 1"));
}

}  // namespace
}  // namespace tessera::test
