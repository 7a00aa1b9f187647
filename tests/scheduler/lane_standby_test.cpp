#include "scheduler/device_step/lane_standby.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace tessera::detail {
namespace {

using std::chrono::milliseconds;

void waitFor(const std::atomic<int>& served, int count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (served.load() < count && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(1));
  }
}

TEST(LaneStandby, ServesWhileAStepRunsAndNobodyElseDoes) {
  std::atomic<int> served{0};
  LaneStandby standby([&] { ++served; });
  standby.begin();
  waitFor(served, 3);
  standby.end();
  EXPECT_GE(served.load(), 3);
}

TEST(LaneStandby, DoesNothingBetweenSteps) {
  std::atomic<int> served{0};
  LaneStandby standby([&] { ++served; });
  for (int step = 0; step < 20; ++step) {
    standby.begin();
    if (step % 4 == 0) waitFor(served, served.load() + 1);
    standby.end();
    const int atEnd = served.load();
    std::this_thread::sleep_for(milliseconds(2));
    EXPECT_EQ(served.load(), atEnd) << "step " << step;
  }
}

TEST(LaneStandby, IsNotInsideServeWhenEndReturns) {
  std::atomic<bool> inside{false};
  std::atomic<int> served{0};
  LaneStandby standby([&] {
    inside = true;
    std::this_thread::sleep_for(milliseconds(3));
    inside = false;
    ++served;
  });
  for (int step = 0; step < 10; ++step) {
    standby.begin();
    waitFor(served, step + 1);
    standby.end();
    EXPECT_FALSE(inside.load());
  }
}

}  // namespace
}  // namespace tessera::detail
