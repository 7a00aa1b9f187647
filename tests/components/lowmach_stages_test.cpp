// lowmach: what enters, arises, pushes and moves counts by the time of each stage and by the right amount.
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

constexpr std::array kMethods{"lowmach.stages=\"rk2\"", "lowmach.stages=\"rk3\""};

// The mean of both ends of a step has the integral of a source that rises evenly.
TEST(LowmachStages, SourcesAndForcesAreThoseOfEachStage) {
  for (const char* method : kMethods) {
    const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 3, dt = 0.05 }
grid = { cells = [4, 4, 4], patches = [1, 1, 1], periodic = [true, true, true] }
[lowmach]
density = 2
heat_capacity = 5
initial = { mixture_fraction = 0.1, temperature = 300 }
mixture_source = "1 + 4*t"
heat_source = "10*(2 + 6*t)"
force = { x = "2*(1 + 4*t)", y = "2*(3 - 2*t)", z = "2*t" }
)deck")
                          .set(method)
                          .run();

    const double t = 0.15;
    const auto expectAll = [&](const char* what, double value) {
      for (const double there : o.fields.at(what).values) ASSERT_NEAR(there, value, 1e-12) << what << method;
    };
    expectAll("mixture_fraction", 0.1 + 0.5 * (t + 2 * t * t));
    for (const double there : o.fields.at("temperature").values)
      ASSERT_NEAR(there, 300 + 2 * t + 3 * t * t, 1e-10) << method;
    expectAll("velocity_x", t + 2 * t * t);
    expectAll("velocity_y", 3 * t - t * t);
    expectAll("velocity_z", 0.5 * t * t);
  }
}

// Between walls that speed up as the fluid does there is no shear.
TEST(LowmachStages, WallsMoveAsAtTheTimeOfEachStage) {
  for (const char* method : kMethods) {
    for (int across = 0; across < 3; ++across) {
      const int along = (across + 1) % 3;
      const int other = (across + 2) % 3;
      Simulate run = simulateText(
          "simulation.components = [\"lowmach\"]\ntime = { max_steps = 3, dt = 0.05 }\n"
          "grid = { cells = [4, 4, 4], patches = [1, 1, 1] }\n[lowmach]\nviscosity = 0.1\n");
      std::array<std::string, 3> periodic{"true", "true", "true"};
      periodic[static_cast<std::size_t>(across)] = "false";
      run.set("grid.periodic=[" + periodic[0] + "," + periodic[1] + "," + periodic[2] + "]").set(method);
      for (const auto& [axis, speed] : {std::pair<int, std::string>{along, "1 + 4*t"}, {other, "2 - 3*t"}}) {
        const std::string name(1, "xyz"[axis]);
        run.set("lowmach.initial.velocity." + name + "=\"" + speed.substr(0, 1) + "\"");
        run.set("lowmach.force." + name + "=" + (axis == along ? "4" : "-3"));
        for (const char* side : {"_low", "_high"})
          run.set("lowmach.boundary." + std::string(1, "xyz"[across]) + side + ".velocity." + name + "=\"" +
                  speed + "\"");
      }
      const Outcome o = run.run();
      for (const double u : o.fields.at(std::string("velocity_") + "xyz"[along]).values)
        ASSERT_NEAR(u, 1 + 4 * 0.15, 1e-12) << method << across;
      for (const double u : o.fields.at(std::string("velocity_") + "xyz"[other]).values)
        ASSERT_NEAR(u, 2 - 3 * 0.15, 1e-12) << method << across;
    }
  }
}

/// Fluid that passes a tube from left to right.
constexpr const char* kPassing = R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 4, dt = 0.02 }
solver.tolerance = 1e-12
grid = { cells = [8, 4, 1], upper = [2, 1, 1], patches = [2, 1, 1] }
[lowmach]
density = 2
heat_capacity = 5
initial = { temperature = 300, mixture_fraction = 0.1 }
boundary = { y_low.type = "slip", y_high.type = "slip", x_high.type = "outlet" }
)deck";

// All of it is heated as what enters is: it stays as hot everywhere.
TEST(LowmachStages, WhatEntersIsAsAtTheTimeOfEachStage) {
  for (const char* method : kMethods) {
    const Outcome o = simulateText(kPassing)
                          .set(method)
                          .set("lowmach.initial.velocity.x=1")
                          .set("lowmach.heat_source=200")
                          .set("lowmach.mixture_source=2")
                          .set(
                              "lowmach.boundary.x_low={ type = \"inlet\", velocity.x = \"1 + 4*t\", "
                              "temperature = \"300 + 20*t\", mixture_fraction = \"0.1 + t\" }")
                          .run();
    const double t = 0.08;
    for (const double T : o.fields.at("temperature").values) ASSERT_NEAR(T, 300 + 20 * t, 1e-10) << method;
    for (const double f : o.fields.at("mixture_fraction").values) ASSERT_NEAR(f, 0.1 + t, 1e-12) << method;
    for (const double u : o.fields.at("velocity_x").values) ASSERT_NEAR(u, 1 + 4 * t, 1e-10) << method;
  }
}

TEST(LowmachStages, WhatEntersIsCountedExactly) {
  const Outcome o = simulateText(kPassing)
                        .set("lowmach.initial.velocity.x=1")
                        .set(
                            "lowmach.boundary.x_low={ type = \"inlet\", velocity.x = 1, temperature = 330, "
                            "mixture_fraction = 0.7 }")
                        .run(1);
  // Nothing else than what was there has left yet: 2 * 0.1 and 2 * 300 a second.
  const double t = 0.02;
  EXPECT_NEAR(o.end.at("lowmach.mixture_fraction") - o.start.at("lowmach.mixture_fraction"), 2 * 0.6 * t,
              1e-12);
  EXPECT_NEAR(o.end.at("lowmach.temperature") - o.start.at("lowmach.temperature"), 2 * 30 * t, 1e-10);
}

// An enthalpy of 30 heat capacities enters a gas of 300 K, so 2 * 300/330 of mass a second.
TEST(LowmachStages, TheEnthalpyThatEntersIsCountedExactly) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 1, dt = 0.02 }
solver.tolerance = 1e-13
grid = { cells = [8, 4, 1], upper = [2, 1, 1], patches = [2, 1, 1] }
[lowmach]
state = "flame"
mixing.density = [2, 2]
reference_temperature = 300
heat_capacity = 5
flame = { stoichiometric = 0.5, temperature = [300, 300], heat = 0 }
initial = { mixture_fraction = 0, enthalpy = 0, velocity.x = 1 }
boundary.y_low.type = "slip"
boundary.y_high.type = "slip"
boundary.x_high.type = "outlet"
boundary.x_low = { type = "inlet", velocity.x = 1, enthalpy = 150 }
)deck")
                        .run();

  EXPECT_NEAR(o.end.at("lowmach.enthalpy"), 2.0 * 300.0 / 330.0 * 150.0 * 0.02, 1e-9);
}

TEST(LowmachStages, NothingEntersThroughSolidCells) {
  const Outcome o = simulateText(kPassing)
                        .set("lowmach.initial.velocity.x=0")
                        .set("lowmach.solid.where=\"x < 0.5 && y > 0.5\"")
                        .set(
                            "lowmach.boundary.x_low={ type = \"inlet\", velocity.x = 1, temperature = 330, "
                            "mixture_fraction = 0.7 }")
                        .run();

  const WholeField& u = o.fields.at("velocity_x");
  for (std::int64_t j = 0; j < 4; ++j) EXPECT_EQ(u({0, j, 0}), j < 2 ? 1.0 : 0.0) << j;
  for (std::int64_t i = 0; i <= 8; ++i) {
    double through = 0.0;
    for (std::int64_t j = 0; j < 4; ++j) through += u({i, j, 0}) / 4.0;
    EXPECT_NEAR(through, 0.5, 1e-10) << i;
  }
}

/// Mass that arises evenly, around a solid block or without one.
Simulate arising(bool hasBlock) {
  Simulate run = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 4, dt = 0.01 }
solver.tolerance = 1e-12
grid = { cells = [8, 8, 1], patches = [2, 1, 1] }
[lowmach]
mixing.density = [4, 1]
initial.mixture_fraction = 0.25
arising.mixture_fraction = 0.25
mass_source = 3
)deck");
  if (hasBlock) run.set("lowmach.solid.where=\"x > 0.25 && x < 0.5 && y > 0.25 && y < 0.75\"");
  return run;
}

TEST(LowmachStages, NoMassArisesInSolidCells) {
  const Outcome o = arising(true).set("lowmach.boundary.x_high.type=\"outlet\"").run();

  const WholeField& u = o.fields.at("velocity_x");
  double leaves = 0.0;
  for (std::int64_t j = 0; j < 8; ++j) leaves += u({8, j, 0}) / 8.0;
  EXPECT_NEAR(leaves, 3.0 * (1.0 - 0.125) / (16.0 / 7.0), 1e-9);
  for (const double rho : o.fields.at("density").values) ASSERT_NEAR(rho, 16.0 / 7.0, 1e-8);
  EXPECT_EQ(o.fields.at("lowmach.expansion")({3, 4, 0}), 0.0);
}

// Where nothing leaves, the density rises evenly in all fluid, and no flow has to do with it.
TEST(LowmachStages, InAClosedBoxEveryCellHasTheDivergenceThatThereIsRoomFor) {
  for (const bool hasBlock : {true, false}) {
    const Outcome even = arising(hasBlock).run();
    EXPECT_LT(even.end.at("lowmach.divergence"), 1e-9) << hasBlock;
    EXPECT_LT(even.end.at("lowmach.max_velocity"), 1e-9) << hasBlock;

    const Outcome uneven = arising(hasBlock).set("lowmach.mass_source=\"x^2\"").run();
    EXPECT_LT(uneven.end.at("lowmach.divergence"), 1e-9) << hasBlock;
    EXPECT_GT(uneven.end.at("lowmach.max_velocity"), 1e-3) << hasBlock;
  }
}

TEST(LowmachStages, TheStableStepIsThatOfTheLightestFluidAndTheFastestFace) {
  const Outcome light = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 1, cfl = 0.5 }
grid = { cells = [8, 4, 1], patches = [2, 1, 1] }
[lowmach]
mixing.density = [4, 1]
viscosity = 0.3
initial.mixture_fraction = "x"
)deck")
                            .run();
  const double f = 7.5 / 8.0;
  EXPECT_NEAR(light.dt, 0.5 / (2.0 * 0.3 * ((1.0 - f) / 4.0 + f) * (64.0 + 16.0)), 1e-12);

  const Outcome fast = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 1, cfl = 0.5 }
grid = { cells = [8, 4, 1], patches = [2, 1, 1] }
[lowmach]
initial.velocity.x = "x"
boundary.x_high.type = "outlet"
)deck")
                           .run();
  EXPECT_NEAR(fast.dt, 0.5 / 8.0, 1e-12);
}

// A wave of temperature decays by conductivity over density and heat capacity.
TEST(LowmachStages, HeatSpreadsByConductivityOverHeatCapacity) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 3, dt = 0.01 }
grid = { cells = [8, 1, 1], patches = [2, 1, 1], periodic = [true, false, false] }
[lowmach]
density = 2
heat_capacity = 5
conductivity = 0.4
initial.temperature = "300 + 20*cos(2*pi*x)"
)deck")
                        .run();

  const double pi = std::numbers::pi;
  const double sine = std::sin(pi / 8.0);
  const double z = 0.01 * 0.4 / 10.0 * 4.0 * 64.0 * sine * sine;
  const double factor = std::pow(1.0 - z + 0.5 * z * z, 3);
  for (std::int64_t i = 0; i < 8; ++i)
    EXPECT_NEAR(o.fields.at("temperature")({i, 0, 0}),
                300.0 + 20.0 * factor * std::cos(2.0 * pi * (static_cast<double>(i) + 0.5) / 8.0), 1e-10);
}

// An even shear between a solid and a wall that moves has the same eddies everywhere, up to the solid: heat
// that passes by them along a straight line goes on doing so.
TEST(LowmachStages, EddiesBringHeatToASolidAsTheyDoInTheFluid) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 20, dt = 0.02 }
solver.tolerance = 1e-12
grid = { cells = [2, 12, 1], upper = [1, 1.5, 1], patches = [1, 1, 1], periodic = [true, false, false] }
[lowmach]
conductivity = 0.001
viscosity = 0.001
turbulence = "smagorinsky"
initial.velocity.x = "3*max(y - 0.5, 0)"
initial.temperature = "7 - 5*(y - 0.5)"
solid = { where = "y < 0.5", temperature = 7 }
boundary.y_high = { type = "wall", temperature = 2, velocity.x = 3 }
)deck")
                        .run();

  ASSERT_GT(o.fields.at("lowmach.eddy_viscosity")({0, 8, 0}), 5e-3);
  const WholeField& T = o.fields.at("temperature");
  for (std::int64_t j = 4; j < 12; ++j) {
    const double y = (static_cast<double>(j) + 0.5) / 8.0;
    EXPECT_NEAR(T({0, j, 0}), 7.0 - 5.0 * (y - 0.5), 1e-9) << j;
  }
}

}  // namespace
}  // namespace tessera::test
