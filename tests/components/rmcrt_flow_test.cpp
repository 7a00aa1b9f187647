// Radiation and a compressible flow: the one takes energy from the other.
#include <cmath>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// Sides that nothing leaves through but radiation.
constexpr const char* kClosed = R"deck(
boundary.x_low.type = "reflect"
boundary.x_high.type = "reflect"
boundary.y_low.type = "reflect"
boundary.y_high.type = "reflect"
boundary.z_low.type = "reflect"
boundary.z_high.type = "reflect"
)deck";

/// A gas at rest whose energy per volume is its temperature, so thin that all it sends leaves through cold
/// walls: T' = -4 T^4 (sigma = 1).
Simulate gasAtRest(double dt, int every) {
  return simulateText(std::string(R"deck(
simulation.components = ["euler", "rmcrt"]
grid = { cells = [4, 4, 4], patches = [2, 1, 1] }
time = { end = 0.2 }
[euler]
gamma = 2
gas_constant = 0.5
initial = { density = 2, pressure = 1 }
sources = ["-1e8 * rmcrt.divQ"]
)deck") + kClosed +
                      R"deck(
[rmcrt]
temperature_from = "euler.temperature"
absorption = 1e-8
stefan_boltzmann = 1
rays = 2
wall_rays = 0
threshold = 1e-12
)deck")
      .set("time.dt=" + std::to_string(dt))
      .set("rmcrt.every=" + std::to_string(every));
}

const std::string kInnerBox =
    "grid.level=[{ lower = [0.25, 0.25, 0.25], upper = [0.75, 0.75, 0.75], patch_size = [4, 4, 4] }]";

double errorOfCooling(Simulate deck) {
  const Outcome o = deck.run();
  return std::abs(o.fields.at("euler.temperature")({1, 2, 3}) - std::pow(1.0 + 12.0 * 0.2, -1.0 / 3.0));
}

TEST(RmcrtFlow, AThinGasAtRestCoolsByTheClosedFormToTheFirstOrder) {
  for (const char* stages : {"euler.stages=\"rk2\"", "euler.stages=\"rk3\""}) {
    const double coarse = errorOfCooling(gasAtRest(0.0025, 1).set(stages));
    const double fine = errorOfCooling(gasAtRest(0.00125, 1).set(stages));

    EXPECT_LT(coarse, 0.01);
    EXPECT_NEAR(coarse / fine, 2.0, 0.15);
  }
  EXPECT_NEAR(errorOfCooling(gasAtRest(0.00125, 8)) / errorOfCooling(gasAtRest(0.00125, 4)), 2.0, 0.35);
}

TEST(RmcrtFlow, CoolsByTheClosedFormOnLevels) {
  Outcome o = gasAtRest(0.0025, 1).set(kInnerBox).run();

  const double exact = std::pow(1.0 + 12.0 * 0.2, -1.0 / 3.0);
  for (const char* name : {"euler.temperature", "euler.temperature on level 1"}) {
    const WholeField& T = o.fields.at(name);
    EXPECT_NEAR(T({2, 3, 2}), exact, 0.01) << name;
    EXPECT_NEAR(T({2, 3, 2}), T({2, 2, 3}), 1e-6) << name;
  }
}

/// A gas that its own radiation sets into motion, between walls of which one is hot.
Simulate stirredGas(const std::string& level) {
  return simulateText(std::string(R"deck(
simulation.components = ["euler", "rmcrt"]
grid = { cells = [8, 4, 4], upper = [2, 1, 1], patches = [2, 1, 1] }
time = { dt = 0.01, max_steps = 9 }
[euler]
gas_constant = 0.5
initial = { density = "1 + 0.2*x", pressure = "1 + 0.3*x*y", velocity.x = "0.2*z" }
sources = ["-rmcrt.divQ"]
)deck") + kClosed +
                      R"deck(
[rmcrt]
temperature_from = "euler.temperature"
absorption = "0.5 + x"
stefan_boltzmann = 0.05
wall.z_low = { temperature = 3 }
rays = 3
wall_rays = 2
every = 2
)deck")
      .set("grid.level=" + level);
}

const std::string kCorner = "[{ lower = [0.5, 0, 0.25], upper = [1.5, 0.5, 1], patch_size = [4, 4, 4] }]";

// What a step takes is the divergence that was there before, of each place once.
TEST(RmcrtFlow, TheGasLosesJustWhatTheRadiationTakes) {
  for (const std::string& level : {std::string("[]"), kCorner}) {
    double expected = stirredGas(level).run(1).start.at("euler.energy");
    double largest = 0.0;
    for (std::int64_t steps = 1; steps <= 5; ++steps) {
      const Outcome o = stirredGas(level).run(steps);
      EXPECT_NEAR(o.end.at("euler.energy"), expected, 2e-14) << steps << " steps, levels " << level;
      expected = o.end.at("euler.energy") - 0.01 * o.end.at("rmcrt.loss");
      largest = std::max(largest, std::abs(o.end.at("rmcrt.loss")));
    }
    EXPECT_GT(largest, 0.1);
  }
}

TEST(RmcrtFlow, HasTheSameBitsOnEveryLayoutRankAndDevice) {
  const Outcome right = stirredGas(kCorner).patches({1, 1, 1}).run(4);
  EXPECT_EQ(firstDifference(right, stirredGas(kCorner).patches({4, 2, 1}).ranks(3).threads(2).run(4)), "");
  EXPECT_EQ(firstDifference(right, stirredGas(kCorner).patches({2, 1, 2}).checked().run(4)), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, stirredGas(kCorner).patches({2, 2, 1}).devices(devices).run(4)), "");
}

// The power of the last radiation goes on while a step is taken again and again.
TEST(RmcrtFlow, AStepThatIsRefusedTakesTheSamePower) {
  const Outcome plain = stirredGas("[]").run(5);
  const Outcome watched = stirredGas("[]").set("time.retries=2").run(5);

  EXPECT_EQ(firstDifference(plain, watched), "");
}

TEST(RmcrtFlow, ASourceThatNobodyWritesIsAnError) {
  const auto errorOf = [](const std::string& sources) -> std::string {
    try {
      stirredGas("[]").set("euler.sources=" + sources).run(1);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(errorOf("[\"rmcrt.dvQ\"]").find("rmcrt.dvQ"), std::string::npos);
  EXPECT_NE(errorOf("[\"2 rmcrt.divQ\"]").find("euler.sources has \"2 rmcrt.divQ\"; give the name"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera::test
