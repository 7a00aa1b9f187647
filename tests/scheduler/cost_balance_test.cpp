#include "scheduler/assignment/cost_balance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::detail {
namespace {

/// A machine: what steps cost on it, in seconds.
struct Machine {
  double devices = 1e-3;  ///< all on devices
  double host = 16e-3;    ///< all on the host, by one worker
  int threads = 4;
  double split = 0.0;  ///< beside the work, where both have a part

  double step(double part) const {
    const double beside = part > 0.0 && part < 1.0 ? split : 0.0;
    return std::max(devices * (1.0 - part), host * part / threads) + beside;
  }
};

/// What whole patches make of it.
double rounded(double part, double smallestPart) { return std::round(part / smallestPart) * smallestPart; }

HostFractionSearch searched(const Machine& machine, double smallestPart = 1.0 / 64.0) {
  HostFractionSearch search(machine.threads, smallestPart);
  for (int n = 0; n < 10 && !search.settled(); ++n) {
    const double part = rounded(search.part(), smallestPart);
    search.take({part, machine.step(part), machine.host * part});
  }
  EXPECT_TRUE(search.settled());
  return search;
}

TEST(HostFractionSearch, GivesBothSidesWhatTheyDoInTheSameTime) {
  // Devices need 1 ms, four workers 4 ms: a fifth of the cells is the workers'.
  EXPECT_NEAR(searched({}).part(), 0.2, 1.0 / 64.0);
}

TEST(HostFractionSearch, LeavesAllOnDevicesWhereASplitCostsMoreThanItWins) {
  const HostFractionSearch search = searched({.split = 0.2e-3});

  EXPECT_EQ(search.part(), 0.0);
  EXPECT_EQ(search.trials().size(), 2U) << "devices alone, and one to see what the host can do";
}

TEST(HostFractionSearch, MovesNothingForASmallGain) {
  EXPECT_EQ(searched({.host = 4.0, .threads = 100}).part(), 0.0) << "2.4 % at best";
}

TEST(HostFractionSearch, TakesTheHostAloneWhereItIsFaster) {
  EXPECT_EQ(searched({.devices = 1e-3, .host = 0.8e-3, .threads = 1, .split = 0.5e-3}).part(), 1.0);
}

TEST(HostFractionSearch, WithOnePatchItIsOneOrTheOther) {
  EXPECT_EQ(searched({.host = 100e-3}, 1.0).part(), 0.0);
  EXPECT_EQ(searched({.host = 1e-3}, 1.0).part(), 1.0);
}

TEST(HostFractionSearch, IsNeverSlowerThanDevicesAloneOnAnyMachine) {
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> exponent(-3.0, 3.0);
    const Machine machine{1e-3, 1e-3 * std::pow(10.0, exponent(random)), 1 + static_cast<int>(random() % 16),
                          1e-3 * std::pow(10.0, exponent(random) - 1.0)};
    const double smallestPart = 1.0 / static_cast<double>(1 + random() % 100);
    const HostFractionSearch search = searched(machine, smallestPart);
    EXPECT_LE(machine.step(rounded(search.part(), smallestPart)), machine.devices) << "seed " << seed;
    EXPECT_LE(search.trials().size(), 4U) << "seed " << seed;
  }
}

/// Takes steps until the balance changes the part, or so many.
bool stepUntilChange(CostBalance& balance, const std::function<double(double)>& seconds, int most = 1000) {
  const double part = balance.part();
  for (int n = 0; n < most; ++n) {
    if (balance.stepped(seconds(part), 16e-3 * part, part)) return true;
  }
  return false;
}

TEST(CostBalance, ComesToRestAndThenAsksForNothing) {
  const Machine machine{.split = 10e-3};
  CostBalance balance(4, 1.0 / 64.0);
  const auto seconds = [&](double part) { return machine.step(part); };

  EXPECT_TRUE(stepUntilChange(balance, seconds)) << "the probe";
  EXPECT_TRUE(stepUntilChange(balance, seconds)) << "back again";
  EXPECT_TRUE(balance.settled());
  EXPECT_EQ(balance.part(), 0.0);
  const std::int64_t trials = balance.trialSteps();
  EXPECT_LE(trials, 3 + 15 + 2) << "one warm-up, three windows of 5 ms, and a hopeless trial broken off";
  EXPECT_FALSE(balance.endsWindow());
  EXPECT_FALSE(stepUntilChange(balance, seconds, 100));
  EXPECT_EQ(balance.trialSteps(), trials);
}

TEST(CostBalance, TheFirstStepsAfterAChangeDoNotCount) {
  CostBalance balance(4, 1.0 / 64.0);
  int steps = 0;
  EXPECT_TRUE(stepUntilChange(balance, [&](double) { return ++steps <= 3 ? 1.0 : 1e-3; }));

  EXPECT_DOUBLE_EQ(balance.search().devicesSeconds(), 1e-3);
}

TEST(CostBalance, GivesUpASplitThatHasBecomeSlower) {
  const Machine machine;
  CostBalance balance(4, 1.0 / 64.0);
  double factor = 1.0;
  const auto seconds = [&](double part) { return machine.step(part) * (part > 0.0 ? factor : 1.0); };
  while (!balance.settled()) ASSERT_TRUE(stepUntilChange(balance, seconds) || balance.settled());
  ASSERT_GT(balance.part(), 0.1);
  EXPECT_FALSE(stepUntilChange(balance, seconds)) << "as good as it was";

  factor = 1.3;
  EXPECT_TRUE(stepUntilChange(balance, seconds));
  EXPECT_EQ(balance.part(), 0.0);
  EXPECT_FALSE(stepUntilChange(balance, seconds)) << "for good";
}

}  // namespace
}  // namespace tessera::detail
