#include "scheduler/device/device_lane.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"
#include "tests/scheduler/device/lane_rig.hpp"

namespace tessera {
namespace {

using test::LaneRig;
using test::OnDevice;
using testing::ElementsAre;

class DeviceLaneClaims : public test::OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (!IsSkipped()) device_ = makeDevice();
  }

  std::unique_ptr<DeviceBackend> device_;
};

/// Tasks 0 -> 1 -> ... of kinds that alternate, of which only the last reports.
LanePlan chainOf(std::int32_t length) {
  LanePlan plan;
  for (std::int32_t n = 0; n < length; ++n) {
    plan.tasks.push_back({n % 2, 1, n + 1 == length});
    if (n > 0) plan.edges.push_back({n - 1, n});
  }
  return plan;
}

TEST_P(DeviceLaneClaims, AWholeChainIsLaunchedBeforeItsFirstTaskHasEnded) {
  LaneRig rig(*device_, chainOf(20));
  rig.holdTask(0);
  DeviceLane lane(*device_, rig.plan(), rig, {});

  for (std::int32_t n = 19; n >= 0; --n) lane.submit(n);
  const bool worked = lane.serve([](std::int32_t) { FAIL() << "nothing can have ended"; });

  EXPECT_TRUE(worked);
  EXPECT_EQ(lane.counts().tasks, 20);
  EXPECT_EQ(lane.counts().records, 1) << "in one stream, one event for the end is enough";
  rig.letGo();
  EXPECT_THAT(rig.serveUntil(lane, 1), ElementsAre(19));
  rig.expectRightDigests();
}

TEST_P(DeviceLaneClaims, WithoutChainingTheHostSeesEachTaskEndFirst) {
  LaneRig rig(*device_, chainOf(5));
  LaneOptions options;
  options.chainsOnDevice = false;
  DeviceLane lane(*device_, rig.plan(), rig, options);

  for (std::int32_t n = 0; n < 5; ++n) lane.submit(n);
  lane.serve([](std::int32_t) {});
  EXPECT_EQ(lane.counts().launches, 1);

  EXPECT_THAT(rig.serveUntil(lane, 1), ElementsAre(4));
  EXPECT_EQ(lane.counts().launches, 5);
  EXPECT_EQ(lane.counts().waits, 0);
  rig.expectRightDigests();
}

TEST_P(DeviceLaneClaims, ReadyTasksOfOneKindAreOneLaunch) {
  LanePlan plan;
  for (std::int32_t n = 0; n < 300; ++n) plan.tasks.push_back({n % 2, 1, true});
  LaneRig rig(*device_, plan);
  DeviceLane lane(*device_, plan, rig, {});

  for (std::int32_t n = 0; n < 300; ++n) lane.submit(n);
  const std::vector<std::int32_t> ended = rig.serveUntil(lane, 300);

  EXPECT_EQ(lane.counts().launches, 2);
  EXPECT_EQ(lane.counts().records, 2);
  EXPECT_EQ(ended.size(), 300U);
  rig.expectRightDigests();
}

TEST_P(DeviceLaneClaims, ATaskOfTwoStreamsEndsWithItsLastPart) {
  LanePlan plan;
  plan.tasks.push_back({0, 2, true});
  LaneRig rig(*device_, plan);
  rig.holdPart(1);
  DeviceLane lane(*device_, plan, rig, {});

  lane.submit(0);
  for (int n = 0; n < 200; ++n) {
    lane.serve([](std::int32_t) { FAIL() << "its second part has not ended"; });
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  EXPECT_THAT(lane.begun(), ElementsAre(0));
  rig.letGo();
  EXPECT_THAT(rig.serveUntil(lane, 1), ElementsAre(0));
  EXPECT_TRUE(lane.begun().empty());
  rig.expectRightDigests();
}

TEST_P(DeviceLaneClaims, ATaskWaitsForTheHostAndForTheDevice) {
  LanePlan plan;
  plan.tasks = {{0, 1, true}, {1, 1, true}};
  plan.edges = {{0, 1}};
  LaneRig rig(*device_, plan);
  DeviceLane lane(*device_, plan, rig, {});

  lane.submit(1);
  lane.serve([](std::int32_t) {});
  EXPECT_EQ(lane.counts().launches, 0) << "its predecessor was not submitted";
  lane.submit(0);
  rig.serveUntil(lane, 2);
  rig.expectRightDigests();
}

TEST_P(DeviceLaneClaims, AnyGraphOnAnyThreadsGivesTheSameDigests) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const test::RandomLaneCase drawn = test::drawLaneCase(seed);
    LaneRig rig(*device_, drawn.plan);
    DeviceLane lane(*device_, drawn.plan, rig, drawn.options);
    for (int step = 0; step < 2; ++step) {
      rig.clear();
      test::runStep(lane, drawn, /*threads=*/3);
      rig.expectRightDigests();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceLaneClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

TEST(DeviceLane, EverySeedOfASteppedDeviceGivesTheSameDigests) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EmulatedOptions options;
    options.progress = EmulatedProgress::Stepped;
    options.seed = seed;
    const auto device = makeEmulatedDevice(options);
    const test::RandomLaneCase drawn = test::drawLaneCase(seed);
    LaneRig rig(*device, drawn.plan);
    DeviceLane lane(*device, drawn.plan, rig, drawn.options);
    for (int step = 0; step < 2; ++step) {
      rig.clear();
      test::runStep(lane, drawn, /*threads=*/1);
      rig.expectRightDigests();
    }
  }
}

TEST(DeviceLane, ALostDeviceIsSaidByWhoServesTheLane) {
  EmulatedOptions options;
  options.failsAfter = 4;
  const auto device = makeEmulatedDevice(options);
  LaneRig rig(*device, chainOf(50));
  DeviceLane lane(*device, rig.plan(), rig, {});
  for (std::int32_t n = 0; n < 50; ++n) lane.submit(n);

  EXPECT_THROW(rig.serveUntil(lane, 1), DeviceError);
}

}  // namespace
}  // namespace tessera
