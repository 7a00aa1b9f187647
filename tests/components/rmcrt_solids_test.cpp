// Bodies in the medium, with temperatures and emissivities of their own.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// Two bodies without end along y and z, and nothing between them: temperature 2 and emissivity 0.8 below,
/// 1 and 0.3 above.
Simulate twoPlates() {
  return simulateText(R"deck(
simulation.components = ["rmcrt"]
grid = { cells = [10, 1, 1], patches = [2, 1, 1] }
time = { dt = 1, max_steps = 1 }
[rmcrt]
temperature = 0
absorption = 0
stefan_boltzmann = 1
rays = 16
directions = "stratified"
threshold = 1e-13
incident = true
box = [{ name = "below", lower = [0, 0, 0], upper = [0.5, 1, 1] }]
solid.where = "x < 0.2 || x > 0.8"
solid.temperature = "if(x < 0.5, 2, 1)"
solid.emissivity = "if(x < 0.5, 0.8, 0.3)"
)deck");
}

// What leaves a plate: J = e E + (1 - e) J of the other one. Half of the directions see each of them.
TEST(RmcrtSolids, HaveATemperatureAndAnEmissivityEach) {
  const double below = (0.8 * 16.0 + 0.2 * 0.3) / (1.0 - 0.2 * 0.7);
  const double above = 0.3 + 0.7 * below;
  for (const char* mirror : {"rmcrt.solid.mirror=0", "rmcrt.solid.mirror=0.5", "rmcrt.solid.mirror=1"}) {
    const Outcome o = twoPlates().set(mirror).run();

    for (const std::int64_t i : {2, 4, 7})
      EXPECT_NEAR(o.fields.at("rmcrt.incident")({i, 0, 0}), 2.0 * (below + above), 1e-10) << i;
    EXPECT_NEAR(o.end.at("rmcrt.box_below"), 15.0 / (1.0 / 0.8 + 1.0 / 0.3 - 1.0), 1e-10);
    EXPECT_EQ(o.fields.at("rmcrt.incident")({0, 0, 0}), 0.0);
  }
}

TEST(RmcrtSolids, HaveThemOnEachLevel) {
  const Outcome o =
      twoPlates()
          .set("grid.level=[{ lower = [0.3, 0, 0], upper = [1, 1, 1], patch_size = [4, 1, 1] }]")
          .set("rmcrt.halo=1")
          .run();

  EXPECT_NEAR(o.end.at("rmcrt.box_below"), 15.0 / (1.0 / 0.8 + 1.0 / 0.3 - 1.0), 1e-10);
}

TEST(RmcrtSolids, OfOneKindAreAsNumbers) {
  const auto deck = [](const char* precision) {
    return simulate("rmcrt/enclosure").set("rmcrt.temperature=500").set(precision);
  };
  for (const char* precision : {"rmcrt.precision=\"double\"", "rmcrt.precision=\"float\""}) {
    const Outcome number =
        deck(precision).set("rmcrt.solid.temperature=700").set("rmcrt.solid.emissivity=0.3").run();
    const Outcome varying = deck(precision)
                                .set("rmcrt.solid.temperature=\"700 + 0*x\"")
                                .set("rmcrt.solid.emissivity=\"0.3 + 0*x\"")
                                .run();
    EXPECT_EQ(number.fields.at("rmcrt.divQ").values, varying.fields.at("rmcrt.divQ").values);
    EXPECT_EQ(number.end, varying.end);
  }
}

TEST(RmcrtSolids, OfTheTemperatureOfAnotherComponentAreAtRestWithIt) {
  const auto deck = [](const std::string& where) {
    return simulateText(R"deck(
simulation.components = ["heat", "rmcrt"]
grid = { cells = [6, 5, 4], patches = [2, 1, 1] }
time = { dt = 1e-4, max_steps = 2 }
heat = { conductivity = 0.1, initial = 3 }
[rmcrt]
temperature_from = "temperature"
solid.where = "x > 0.5 && y > 0.5"
solid.emissivity = "0.2 + 0.5*z"
absorption = 0.5
rays = 4
wall = { temperature = 3, emissivity = 0.5 }
)deck")
        .set(where);
  };
  const Outcome rest = deck("rmcrt.solid.temperature_from=\"temperature\"").run();
  const Outcome cold = deck("rmcrt.solid.temperature=1").run();

  EXPECT_EQ(rest.end.at("rmcrt.loss"), 0.0);
  EXPECT_EQ(rest.end.at("rmcrt.wall_x_low"), 0.0);
  EXPECT_GT(std::abs(cold.end.at("rmcrt.wall_x_low")), 1e-7);
}

TEST(RmcrtSolids, HaveTheSameBitsOnEveryLayoutRankAndDevice) {
  const auto small = [] {
    return simulate("rmcrt/enclosure")
        .cells({6, 6, 4})
        .set("grid.level=[{ lower = [0.25, 0.25, 0], upper = [0.75, 0.75, 1], patch_size = [4, 4, 4] }]")
        .set("rmcrt.rays=2")
        .set("rmcrt.scattering=0.5")
        .set("rmcrt.solid.temperature=\"500 + 400*x\"")
        .set("rmcrt.solid.emissivity=\"0.1 + 0.8*y\"");
  };
  const Outcome right = small().patches({1, 1, 1}).run();
  EXPECT_GT(std::abs(right.end.at("rmcrt.loss")), 1.0);
  EXPECT_EQ(firstDifference(right, small().patches({3, 2, 1}).ranks(3).threads(2).run()), "");
  EXPECT_EQ(firstDifference(right, small().patches({2, 1, 2}).checked().run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 1);
  EXPECT_EQ(firstDifference(right, small().patches({2, 2, 1}).devices(devices).run()), "");
}

TEST(RmcrtSolids, ThatMakeNoSenseAreErrors) {
  const auto errorOf = [](const std::string& assignment) -> std::string {
    try {
      twoPlates().set(assignment).run();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(errorOf("rmcrt.solid.emissivity=\"2*x\"")
                .find("rmcrt.solid.emissivity is 1.7 in cell (8, 0, 0) of level 0; let it be between 0 and 1 "
                      "in all solid cells"),
            std::string::npos)
      << errorOf("rmcrt.solid.emissivity=\"2*x\"");
  EXPECT_NE(errorOf("rmcrt.solid.temperature=\"-x\"").find("rmcrt.solid.temperature is -0.05 in cell"),
            std::string::npos);
  EXPECT_NE(errorOf("rmcrt.solid.temperature_from=\"T\"").find("how hot solid cells are"), std::string::npos);
  EXPECT_EQ(errorOf("rmcrt.solid.emissivity=\"if(x < 0.5, 0.8, 0.3) + 2*(x > 0.3)*(x < 0.7)\""), "");
}

}  // namespace
}  // namespace tessera::test
