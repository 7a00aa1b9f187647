#include "tools/simulation/time_control.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace tessera {
namespace {

using testing::HasSubstr;

TimeSettings until(double end) {
  TimeSettings settings;
  settings.end = end;
  settings.cfl = 1.0;
  return settings;
}

TimeSettings withSteps(std::int64_t maxSteps) {
  TimeSettings settings;
  settings.maxSteps = maxSteps;
  return settings;
}

TimeSettings fixed(TimeSettings settings, double dt) {
  settings.dt = dt;
  return settings;
}

struct Taken {
  double dt;
  double time;
};

/// Steps until the end, with the same stable step all along.
std::vector<Taken> stepsOf(TimeControl clock, double stableDt) {
  std::vector<Taken> steps;
  while (!clock.finished()) {
    clock.setStableDt(stableDt);
    clock.take(clock.next());
    steps.push_back({clock.dt(), clock.time()});
  }
  return steps;
}

TEST(TimeControl, StepIsThePartOfTheStableOneThatTheDeckAsksFor) {
  TimeSettings settings = until(10.0);
  settings.cfl = 0.5;
  TimeControl clock(settings);
  clock.setStableDt(1.0);
  EXPECT_EQ(clock.next().dt, 0.5);
}

TEST(TimeControl, LastStepLandsExactlyOnTheEndAndNoneIsTiny) {
  const auto steps = stepsOf(TimeControl(until(1.0)), 0.3);
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps.back().time, 1.0);
  EXPECT_DOUBLE_EQ(steps[2].dt, 0.2);  // 0.4 were left: two equal steps in place of 0.3 and 0.1
  EXPECT_DOUBLE_EQ(steps[3].dt, 0.2);
}

TEST(TimeControl, AFixedStepStaysTheSameBitsThroughTheEnd) {
  const auto steps = stepsOf(TimeControl(fixed(until(1.0), 0.001)), 1.0);
  ASSERT_EQ(steps.size(), 1000U);
  for (const Taken& step : steps) ASSERT_EQ(step.dt, 0.001);
  EXPECT_EQ(steps.back().time, 1.0);
}

TEST(TimeControl, AMillionStepsAddUpWithoutDrift) {
  const auto steps = stepsOf(TimeControl(fixed(until(0.1 * 1000003), 0.1)), 1.0);
  EXPECT_EQ(steps.size(), 1000003U);
}

TEST(TimeControl, StepsLandOnEveryOutputTime) {
  TimeSettings settings = until(1.0);
  settings.landEvery = 0.1;
  TimeControl clock(settings);
  std::vector<double> due;
  while (!clock.finished()) {
    clock.setStableDt(0.03);
    clock.take(clock.next());
    if (clock.dueEvery(0.1)) due.push_back(clock.time());
  }
  ASSERT_EQ(due.size(), 10U);
  for (std::size_t n = 0; n < due.size(); ++n) EXPECT_EQ(due[n], static_cast<double>(n + 1) * 0.1);
}

TEST(TimeControl, GrowthIsLimitedByTheStepBeforeTheOneThatWasCutToLand) {
  TimeSettings settings = until(10.0);
  settings.dtGrowth = 1.5;
  settings.landEvery = 1.0;
  TimeControl clock(settings);
  clock.setStableDt(1.0);
  clock.take(clock.next());
  EXPECT_EQ(clock.dt(), 1.0);
  clock.setStableDt(0.9);
  clock.take(clock.next());
  EXPECT_EQ(clock.dt(), 0.5);  // half of what is left to t = 2
  clock.setStableDt(100.0);
  clock.take(clock.next());
  EXPECT_EQ(clock.time(), 2.0);
  clock.setStableDt(100.0);
  EXPECT_DOUBLE_EQ(clock.next().freeDt, 0.9 * 1.5 * 1.5);
}

TEST(TimeControl, ARestoredClockTakesTheSameSteps) {
  TimeSettings settings = until(1.0);
  settings.cfl = 0.7;
  settings.dtMax = 0.02;
  settings.dtGrowth = 1.3;
  settings.landEvery = 0.05;
  const auto stable = [](double t) { return 0.001 + 0.05 * t * t; };
  TimeControl whole(settings);
  TimeControl broken(settings);
  while (!whole.finished()) {
    whole.setStableDt(stable(whole.time()));
    whole.take(whole.next());
    broken.setStableDt(stable(broken.time()));
    CheckpointState state;
    broken.save(state);
    TimeControl again(settings);
    again.restore(state);
    broken = again;
    broken.take(broken.next());
    ASSERT_EQ(broken.dt(), whole.dt());
    ASSERT_EQ(broken.time(), whole.time());
  }
}

TEST(TimeControl, MaxStepsEndsARunWithoutAnEnd) {
  EXPECT_EQ(stepsOf(TimeControl(fixed(withSteps(7), 0.1)), 1.0).size(), 7U);
  TimeControl none(fixed(withSteps(0), 0.1));
  EXPECT_TRUE(none.finished());
  EXPECT_EQ(none.finishedBecause(), "took time.max_steps = 0 steps");
}

TEST(TimeControl, WithoutAnyLimitOfTheStepItSaysWhatToGive) {
  TimeControl clock(withSteps(3));
  clock.setStableDt(std::numeric_limits<double>::quiet_NaN());
  try {
    clock.next();
    FAIL() << "a step of unknown length was taken";
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(), HasSubstr("give time.dt"));
  }
}

TEST(TimeControl, AStepThatIsNoneIsANumericalFailure) {
  TimeControl clock(until(1.0));
  clock.setStableDt(0.0);
  EXPECT_THROW(clock.next(), NumericalError);
  clock.setStableDt(-1.0);
  EXPECT_THROW(clock.next(), NumericalError);
  TimeControl late(until(1e300));
  late.setStableDt(1e299);
  late.take(late.next());
  late.setStableDt(1e-10);
  EXPECT_THROW(late.next(), NumericalError);
}

}  // namespace
}  // namespace tessera
