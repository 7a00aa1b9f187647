#include "scheduler/device/lane/device_lane.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "tests/scheduler/device/affine_step.hpp"
#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"
#include "tests/scheduler/device/lane_rig.hpp"

namespace tessera {
namespace {

using test::AffineStep;
using test::LaneRig;
using test::launchStep;
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

TEST_P(DeviceLaneClaims, AnUrgentTaskDoesNotStandBehindAnother) {
  LanePlan plan;
  plan.tasks = {{0, 1, true}, {1, 1, true, true}};
  LaneRig rig(*device_, plan);
  rig.holdTask(0);
  LaneOptions options;
  options.streams = 1;
  DeviceLane lane(*device_, plan, rig, options);

  lane.submit(0);
  lane.submit(1);
  EXPECT_THAT(rig.serveUntil(lane, 1), ElementsAre(1));
  rig.letGo();
  EXPECT_THAT(rig.serveUntil(lane, 1), ElementsAre(0));
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
    DeviceLane lane(*device_, drawn.options);
    const auto work = lane.prepare(drawn.plan);
    for (int step = 0; step < 2; ++step) {
      rig.clear();
      lane.begin(*work, rig);
      test::runStep(lane, drawn, /*threads=*/3);
      rig.expectRightDigests();
    }
  }
}

TEST_P(DeviceLaneClaims, StepsOfSeveralPlansFollowOneAnotherOnTheDevice) {
  OnDevice<double> value(*device_, 1);
  OnDevice<int> flag(*device_, 1, DeviceSpace::PinnedHost);
  value.set(device_->makeStream(), {1.0});
  *flag.data() = 0;
  LaneOptions options;
  options.stepsAhead = 8;
  DeviceLane lane(*device_, options);
  AffineStep doubles(*device_, value.data(), 2.0, 0.0);
  AffineStep adds(*device_, value.data(), 1.0, 3.0);
  const auto doubling = lane.prepare(AffineStep::plan());
  const auto adding = lane.prepare(AffineStep::plan());

  lane.putBeside([&](DeviceStream stream) { test::putSpin(*device_, stream, flag.data()); });
  launchStep(lane, *doubling, doubles);
  launchStep(lane, *adding, adds);
  launchStep(lane, *doubling, doubles);
  EXPECT_EQ(lane.counts().launches, 3) << "no step waits on the host for the one before";
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for what would not wait on the device
  std::atomic_ref<int>(*flag.data()).store(1);
  lane.synchronize();

  EXPECT_THAT(value.get(device_->makeStream()), ElementsAre((1.0 * 2.0 + 3.0) * 2.0));
}

/// Tasks of so many kinds, each of which does the same to a number of its own: kind k to `data[k * stride]`.
class AffineTasks : public LaneClient {
 public:
  AffineTasks(DeviceBackend& device, double* data, std::ptrdiff_t stride, double factor, double shift)
      : device_(device), data_(data), stride_(stride), factor_(factor), shift_(shift) {}
  static LanePlan plan(std::int32_t kinds) {
    LanePlan plan;
    for (std::int32_t n = 0; n < kinds; ++n) plan.tasks.push_back({n, 1, false});
    return plan;
  }
  void launch(std::int32_t kind, std::span<const std::int32_t>,
              std::span<const DeviceStream> streams) override {
    used_.push_back(streams[0].number);
    test::putAffine(device_, streams[0], data_ + kind * stride_, 1, factor_, shift_);
  }
  /// Streams, by launch.
  const std::vector<std::int32_t>& used() const { return used_; }

 private:
  DeviceBackend& device_;
  double* data_;
  std::ptrdiff_t stride_;
  double factor_;
  double shift_;
  std::vector<std::int32_t> used_;
};

TEST_P(DeviceLaneClaims, EachStreamThatAStepUsesComesAfterAllOfTheStepBefore) {
  OnDevice<double> values(*device_, 3);
  OnDevice<int> flag(*device_, 1, DeviceSpace::PinnedHost);
  values.set(device_->makeStream(), {1.0, 1.0, 1.0});
  *flag.data() = 0;
  DeviceLane lane(*device_, LaneOptions{});
  AffineTasks doubles(*device_, values.data(), 1, 2.0, 0.0);
  AffineTasks adds(*device_, values.data() + 2, -1, 1.0, 3.0);  // in other streams than before
  const auto doubling = lane.prepare(AffineTasks::plan(3));
  const auto adding = lane.prepare(AffineTasks::plan(3));
  const auto launch = [&](LaneWork& work, LaneClient& client) {
    lane.begin(work, client);
    lane.submit(0, 3);
    lane.serve([](std::int32_t) {});
  };

  lane.putBeside([&](DeviceStream stream) { test::putSpin(*device_, stream, flag.data()); });
  launch(*doubling, doubles);
  launch(*adding, adds);
  EXPECT_NE(adds.used()[0], adds.used()[1]);
  EXPECT_NE(adds.used()[1], adds.used()[2]);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for what would not wait on the device
  std::atomic_ref<int>(*flag.data()).store(1);
  lane.synchronize();

  EXPECT_THAT(values.get(device_->makeStream()), ElementsAre(5.0, 5.0, 5.0));
}

TEST_P(DeviceLaneClaims, StepsThatNeedOneStreamWaitForNone) {
  OnDevice<double> value(*device_, 1);
  value.set(device_->makeStream(), {0.0});
  DeviceLane lane(*device_, LaneOptions{});
  AffineStep adds(*device_, value.data(), 1.0, 1.0);
  const auto work = lane.prepare(AffineStep::plan());

  for (int step = 0; step < 10; ++step) launchStep(lane, *work, adds);
  lane.synchronize();

  EXPECT_EQ(lane.counts().waits, 0);
  EXPECT_LE(lane.counts().records, 10) << "one a step, for who counts how far the device is behind";
  EXPECT_THAT(value.get(device_->makeStream()), ElementsAre(10.0));
}

TEST_P(DeviceLaneClaims, WhatAWaitTakesAlongIsNotWaitedForAgain) {
  // 0 and 1 in streams of their own, 2 behind 1, 3 behind 2, 4 behind 0; 5 waits for 0 and 2 in a third.
  LanePlan plan;
  for (std::int32_t n = 0; n < 6; ++n) plan.tasks.push_back({n, 1, true});
  plan.edges = {{0, 2}, {1, 2}, {2, 3}, {0, 4}, {0, 5}, {2, 5}};
  LaneRig rig(*device_, plan);
  rig.holdTask(0);
  DeviceLane lane(*device_, plan, rig, {});

  lane.submit(0, 6);
  lane.serve([](std::int32_t) {});
  EXPECT_EQ(lane.counts().launches, 6);
  EXPECT_EQ(lane.counts().waits, 2) << "2 waits for 0; 5 for 2, and with it for 0";
  rig.letGo();
  EXPECT_EQ(rig.serveUntil(lane, 6).size(), 6U);
  rig.expectRightDigests();
}

TEST_P(DeviceLaneClaims, RowsThatWaitForAllOfTheRowBeforeHaveRightDigests) {
  constexpr std::int32_t kWide = 9;
  constexpr std::int32_t kRows = 6;
  LanePlan plan;
  for (std::int32_t n = 0; n < kRows * kWide; ++n) {
    plan.tasks.push_back({n / kWide % 2, 1, n / kWide + 1 == kRows});
    for (std::int32_t m = 0; n >= kWide && m < kWide; ++m)
      plan.edges.emplace_back((n / kWide - 1) * kWide + m, n);
  }
  for (const std::int32_t largest : {1, 4, 4096}) {
    SCOPED_TRACE(largest);
    LaneRig rig(*device_, plan);
    rig.holdTask(3);
    LaneOptions options;
    options.largestBatch = largest;
    DeviceLane lane(*device_, plan, rig, options);
    lane.submit(0, kRows * kWide);
    lane.serve([](std::int32_t) {});
    EXPECT_TRUE(lane.allLaunched());
    rig.letGo();
    EXPECT_EQ(rig.serveUntil(lane, kWide).size(), kWide);
    rig.expectRightDigests();
  }
}

/// As where placement by cost has given all to the host.
TEST_P(DeviceLaneClaims, APlanWithoutTasksHasNothingToDoWithTheDevice) {
  OnDevice<int> flag(*device_, 1, DeviceSpace::PinnedHost);
  *flag.data() = 0;
  DeviceLane lane(*device_, LaneOptions{});
  OnDevice<double> value(*device_, 1);
  AffineStep nothing(*device_, value.data(), 1.0, 0.0);
  const auto work = lane.prepare(LanePlan{});
  std::atomic<int> begun{0};
  lane.putBeside([&](DeviceStream stream) { test::putSpin(*device_, stream, flag.data()); });

  std::thread host([&] {
    for (; begun < 10; ++begun) lane.begin(*work, nothing);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(begun.load(), 10) << "no step waits for what the device has begun";
  std::atomic_ref<int>(*flag.data()).store(1);
  host.join();
  lane.synchronize();
}

TEST_P(DeviceLaneClaims, TheHostIsNoMoreThanSomeStepsAhead) {
  OnDevice<double> value(*device_, 1);
  OnDevice<int> flag(*device_, 1, DeviceSpace::PinnedHost);
  value.set(device_->makeStream(), {0.0});
  *flag.data() = 0;
  DeviceLane lane(*device_, LaneOptions{});
  AffineStep adds(*device_, value.data(), 1.0, 1.0);
  const auto work = lane.prepare(AffineStep::plan());
  std::atomic<int> launched{0};
  lane.putBeside([&](DeviceStream stream) { test::putSpin(*device_, stream, flag.data()); });

  std::thread host([&] {
    for (int step = 0; step < 6; ++step) {
      launchStep(lane, *work, adds);
      ++launched;
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(launched.load(), LaneOptions{}.stepsAhead);
  std::atomic_ref<int>(*flag.data()).store(1);
  host.join();
  lane.synchronize();

  EXPECT_THAT(value.get(device_->makeStream()), ElementsAre(6.0));
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
    DeviceLane lane(*device, drawn.options);
    const auto work = lane.prepare(drawn.plan);
    for (int step = 0; step < 2; ++step) {
      rig.clear();
      lane.begin(*work, rig);
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
