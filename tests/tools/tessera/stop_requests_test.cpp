#include "tools/simulation/watch/stop_requests.hpp"

#include <csignal>

#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace tessera {
namespace {

TEST(Duration, IsReadInSecondsUnitsAndHours) {
  EXPECT_EQ(parseDuration("90"), 90.0);
  EXPECT_EQ(parseDuration("0.5"), 0.5);
  EXPECT_EQ(parseDuration("45s"), 45.0);
  EXPECT_EQ(parseDuration("15m"), 900.0);
  EXPECT_EQ(parseDuration("1h30m"), 5400.0);
  EXPECT_EQ(parseDuration("2d"), 172800.0);
  EXPECT_EQ(parseDuration("01:30:00"), 5400.0);
  EXPECT_EQ(parseDuration("02:30"), 150.0);
}

TEST(Duration, AnythingElseIsAUsageError) {
  for (const char* text :
       {"", "x", "1x", "-1", "1h-3m", "30m1h", "1h1h", "1:", ":1", "1h30", "nan", "inf", "1e3", "1 h"}) {
    EXPECT_THROW(parseDuration(text), UsageError) << text;
  }
}

TEST(StopRequests, ASignalIsSeenAndTheHandlerGoesWithTheObject) {
  {
    StopRequests stops(std::nullopt);
    EXPECT_EQ(stops.look(), StopReason::None);
    std::raise(SIGTERM);
    EXPECT_EQ(stops.look(), StopReason::Terminate);
  }
  struct sigaction action {};
  sigaction(SIGTERM, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(StopRequests, ASecondSignalAtOnceIsTheSameOneDeliveredTwice) {
  StopRequests stops(std::nullopt);
  std::raise(SIGINT);
  std::raise(SIGINT);
  EXPECT_EQ(stops.look(), StopReason::Interrupt);
}

TEST(StopRequests, WallTimeHasToSufficeForTwoMoreStepsAndACheckpoint) {
  StopRequests stops(1000.0);
  EXPECT_EQ(stops.look(), StopReason::None);
  stops.expect(400.0, 0.0);
  EXPECT_EQ(stops.look(), StopReason::None);
  stops.expect(400.0, 300.0);
  EXPECT_EQ(stops.look(), StopReason::WallTime);
}

}  // namespace
}  // namespace tessera
