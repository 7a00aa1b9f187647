// Waves where levels meet: what is kept, and how exact it is.
#include <algorithm>
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

const char* const kBothWays[] = {"amr.subcycle=false", "amr.subcycle=true"};

/// Three levels, at both ends of a periodic axis.
Simulate wavesOnLevels() {
  return simulateText(
      "simulation.components = ['wave']\n[grid]\nperiodic = [true, true, false]\ncells = [16, 16, 1]\n"
      "patches = [2, 2, 1]\n"
      "[[grid.level]]\nlower = [0, 0.25, 0]\nupper = [0.5, 0.75, 1]\npatch_size = [7, 5, 1]\n"
      "[[grid.level]]\nlevel = 1\nlower = [0.875, 0.25, 0]\nupper = [1, 0.5, 1]\n"
      "[[grid.level]]\nlower = [0.1875, 0.4375, 0]\nupper = [0.3125, 0.5625, 1]\nratio = 4\n"
      "patch_size = [8, 8, 1]\n"
      "[wave]\nspeed = 1\ninitial = 'exp(-60*((x - 0.4)^2 + (y - 0.5)^2))'\n"
      "initial_velocity = '1 + sin(2*pi*x)*cos(2*pi*y)'\n[time]\ncfl = 0.5\nmax_steps = 40\n");
}

TEST(WaveLevels, TheIntegralOfTheVelocityIsKeptAndThatOfTheDisplacementGrowsByIt) {
  const Outcome kept = wavesOnLevels().run();
  EXPECT_NEAR(kept.end.at("wave.momentum"), kept.start.at("wave.momentum"), 1e-13);
  EXPECT_NEAR(kept.end.at("wave.total"),
              kept.start.at("wave.total") + kept.time * kept.start.at("wave.momentum"), 1e-13);
  const Outcome lost = wavesOnLevels().set("amr.reflux=false").run();
  EXPECT_GT(std::abs(lost.end.at("wave.momentum") - lost.start.at("wave.momentum")), 1e-6);
}

/// In lock-step, or with steps of their own for finer levels, where nothing may be refluxed.
Simulate& goes(Simulate& made, const std::string& way) {
  made.set(way);
  return way == "amr.subcycle=true" ? made.set("amr.reflux=false") : made;
}

TEST(WaveLevels, ShorterStepsOfFinerLevelsThatAreRefluxedAreRefusedWithTheirPlaceInTheDeck) {
  try {
    wavesOnLevels().set("amr.subcycle=true").run(1);
    FAIL() << "waves would grow";
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(), ::testing::AllOf(::testing::HasSubstr("amr.subcycle"),
                                                  ::testing::HasSubstr("set amr.reflux = false")));
  }
}

/// How high waves are after many steps that begin with height 1.
double heightAfter(const char* way, std::int64_t steps) {
  Simulate made = wavesOnLevels();
  const Outcome o = goes(made, way).set("wave.initial_velocity='sin(2*pi*x)*cos(2*pi*y)'").run(steps);
  return std::max(o.end.at("wave.max"), -o.end.at("wave.min"));
}

TEST(WaveLevels, TheyDoNotGrow) {
  EXPECT_LT(heightAfter("amr.subcycle=false", 1500), 1.2);
  EXPECT_LT(heightAfter("amr.subcycle=true", 300), 1.2);
}

TEST(WaveLevels, SubcycledTheyHaveTheSameBitsOnAnyRanksThreadsAndDevices) {
  const auto run = [] { return wavesOnLevels().set("amr.subcycle=true").set("amr.reflux=false"); };
  const Outcome expected = run().run(3);

  EXPECT_EQ(firstDifference(expected, run().ranks(3).threads(2).run(3)), "");
  EXPECT_EQ(firstDifference(expected, run().ranks(2).seed(11).run(3)), "");
  EXPECT_EQ(firstDifference(expected, run().patches({3, 1, 1}).checked().run(3)), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(expected, run().devices(devices).ranks(2).run(3)), "");
}

TEST(WaveLevels, AConstantStaysExactlyConstant) {
  const auto still = [](const char* way) {
    Simulate made = wavesOnLevels();
    return goes(made, way).set("wave.initial='0.3'").set("wave.initial_velocity='0'");
  };
  for (const char* way : kBothWays) {
    const Outcome before = still(way).run(0);
    const Outcome after = still(way).run();
    for (const auto& [name, field] : before.fields)
      EXPECT_EQ(field.values, after.fields.at(name).values) << name << ", " << way;
  }
}

double errorOfStandingWave(std::int64_t n, const char* way, const char* more) {
  const std::string cells = std::to_string(n);
  Simulate made = simulateText("simulation.components = ['wave']\n[grid]\ncells = [" + cells + ", " + cells +
                               ", 1]\nperiodic = [true, true, false]\npatches = [2, 2, 1]\n"
                               "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 0.75, 1]\n"
                               "[wave]\nspeed = 1\ninitial = 'sin(2*pi*x)*cos(2*pi*y)'\n"
                               "exact = 'cos(2*pi*sqrt(2)*t)*sin(2*pi*x)*cos(2*pi*y)'\n"
                               "[time]\ncfl = 0.5\nend = 0.5\n");
  return goes(made, way).set(more).run().end.at("wave.error_l2");
}

TEST(WaveLevels, AStandingWaveHasSecondOrder) {
  for (const char* way : kBothWays) {
    const double coarse = errorOfStandingWave(16, way, "amr.prolongation='linear'");
    const double fine = errorOfStandingWave(32, way, "amr.prolongation='linear'");
    EXPECT_GT(std::log2(coarse / fine), 1.8) << way << ": " << coarse << ' ' << fine;
    EXPECT_GT(errorOfStandingWave(32, way, "amr.prolongation='constant'"), 2.0 * fine) << way;
  }
}

}  // namespace
}  // namespace tessera::test
