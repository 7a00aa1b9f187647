// What euler does where a cell runs out of gas: floors that are counted, steps that are taken again.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/device/device_options.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Gas that is torn apart in the middle of 64 cells. Stable steps are about 0.004.
Simulate torn(const std::string& time, const std::string& more = "") {
  return simulateText(
      "simulation.components = ['euler']\n[grid]\ncells = [64, 1, 1]\npatches = [4, 1, 1]\n"
      "[time]\nmax_steps = 3\n" +
      time +
      "\n[euler]\ninitial.density = '1'\ninitial.velocity.x = 'x < 0.5 ? -2 : 2'\ninitial.pressure = "
      "'0.4'\n" +
      more);
}

std::string errorOf(Simulate run) {
  try {
    run.run();
  } catch (const Error& error) {
    return error.message();
  }
  return "it ran";
}

TEST(EulerFailures, ACellWithoutPressureIsNamedWithItsPatchAndStep) {
  EXPECT_THAT(errorOf(torn("dt = 0.012")),
              AllOf(HasSubstr("the gas has a density or a pressure that is not above 0"),
                    HasSubstr("of level 0, patch "), HasSubstr("step   1"), HasSubstr("time.retries")));
}

TEST(EulerFailures, AStepIsTakenAgainHalfAsLongUntilAllCellsHavePressure) {
  const Outcome o = torn("dt = 0.012\nretries = 5").run();

  EXPECT_EQ(o.steps, 3);
  EXPECT_GT(o.end.at("euler.min_pressure"), 0.0);
  EXPECT_LT(o.time, 3 * 0.012);
  EXPECT_GT(o.time, 3 * 0.012 / 32.0);
  // A step that was refused leaves nothing: those that were accepted compute the same from the start.
  EXPECT_NEAR(o.end.at("euler.mass"), o.start.at("euler.mass") - 2.0 * 2.0 * o.time, 1e-12);
}

TEST(EulerFailures, StepsThatAreTakenAgainHaveTheSameBitsEverywhere) {
  const Outcome expected = torn("dt = 0.012\nretries = 5").patches({1, 1, 1}).run();

  for (const int ranks : {1, 2, 3}) {
    for (const int threads : {0, 2}) {
      const Outcome o = torn("dt = 0.012\nretries = 5").ranks(ranks).threads(threads).run();
      EXPECT_EQ(firstDifference(expected, o), "") << ranks << " ranks, " << threads << " threads";
      EXPECT_EQ(o.time, expected.time);
    }
  }
  const Outcome device = torn("dt = 0.012\nretries = 5").devices(firstDevices(DeviceKind::Emulated, 1)).run();
  EXPECT_EQ(firstDifference(expected, device), "");
  const Outcome seeded = torn("dt = 0.012\nretries = 5").ranks(3).seed(7).run();
  EXPECT_EQ(firstDifference(expected, seeded), "");
}

TEST(EulerFailures, TheCellIsNamedWhereNoStepIsShortEnough) {
  EXPECT_THAT(errorOf(torn("dt = 0.012\nretries = 1", "slopes = 'none'\n")
                          .set("euler.initial.velocity.x='x < 0.5 ? -20 : 20'")),
              AllOf(HasSubstr("the step is refused: the gas has a density or a pressure that is not above 0, "
                              "in cell ("),
                    HasSubstr("of level 0, patch ")));
}

TEST(EulerFailures, RetriesChangeNoBitOfStepsThatAreNotRefused) {
  const Outcome plain = torn("cfl = 0.4").run();
  const Outcome watched = torn("cfl = 0.4\nretries = 3").ranks(2).run();

  EXPECT_EQ(firstDifference(plain, watched), "");
}

TEST(EulerFailures, FloorsAreCounted) {
  const auto run = [](const char* floor) {
    return torn("cfl = 0.4", std::string("floor.pressure = ") + floor + "\n").ranks(2).run(20);
  };

  const Outcome low = run("1e-9");
  EXPECT_EQ(low.end.at("euler.floored"), 0.0);
  EXPECT_EQ(low.fields.at("gas.density").values, torn("cfl = 0.4").run(20).fields.at("gas.density").values);

  // Two cells in the middle, and in later steps more of them, in each of two stages.
  const Outcome high = run("0.1");
  EXPECT_EQ(high.start.at("euler.floored"), 0.0);
  EXPECT_GE(high.end.at("euler.floored"), 2.0);
  double sum = 0.0;
  for (const double count : high.fields.at("euler.floored").values) sum += count;
  EXPECT_EQ(high.end.at("euler.floored"), sum);
}

}  // namespace
}  // namespace tessera::test
