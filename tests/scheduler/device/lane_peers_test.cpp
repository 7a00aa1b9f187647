#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include "core/text/contracts.hpp"
#include "scheduler/device/lane/device_lane.hpp"
#include "tests/scheduler/device/peer_lanes_rig.hpp"

namespace tessera {
namespace {

using test::PeerLanesRig;
using test::RandomLaneCase;

/// A rig and its devices.
class LanePeersClaims : public test::OnEachDevice {
 protected:
  PeerLanesRig& make(std::size_t devices, const RandomLaneCase& drawn,
                     const std::vector<std::int32_t>& laneOf) {
    rig_.reset();
    while (devices_.size() < devices) devices_.push_back(makeDevice());
    std::vector<DeviceBackend*> used;
    for (std::size_t n = 0; n < devices; ++n) used.push_back(devices_[n].get());
    rig_ = std::make_unique<PeerLanesRig>(used, drawn, laneOf);
    return *rig_;
  }

 private:
  std::vector<std::unique_ptr<DeviceBackend>> devices_;
  std::unique_ptr<PeerLanesRig> rig_;
};

RandomLaneCase caseOf(std::vector<LaneTask> tasks, std::vector<std::pair<std::int32_t, std::int32_t>> edges) {
  RandomLaneCase drawn;
  drawn.hostSuccessors.resize(tasks.size());
  drawn.hostPredecessors.resize(tasks.size());
  drawn.plan.tasks = std::move(tasks);
  drawn.plan.edges = std::move(edges);
  return drawn;
}

TEST_P(LanePeersClaims, AChainOverTwoDevicesIsLaunchedBeforeItsFirstTaskHasEnded) {
  constexpr std::int32_t kLength = 20;
  std::vector<LaneTask> tasks;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  std::vector<std::int32_t> laneOf;
  for (std::int32_t n = 0; n < kLength; ++n) {
    tasks.push_back({0, 1, n + 1 == kLength});
    laneOf.push_back(n % 2);
    if (n > 0) edges.emplace_back(n - 1, n);
  }
  PeerLanesRig& rig = make(2, caseOf(tasks, edges), laneOf);
  rig.holdTask(0);
  rig.begin();
  for (std::int32_t n = kLength - 1; n >= 0; --n) rig.submit(n);

  for (std::int32_t n = 0; n < kLength; ++n) {
    EXPECT_EQ(rig.serve(static_cast<std::size_t>(n % 2)), 0U) << "nothing can have ended";
  }
  EXPECT_TRUE(rig.lane(0).allLaunched());
  EXPECT_TRUE(rig.lane(1).allLaunched());
  EXPECT_EQ(rig.lane(0).counts().peerWaits, kLength / 2 - 1);
  EXPECT_EQ(rig.lane(1).counts().peerWaits, kLength / 2);
  rig.letGo();
  rig.expectRightDigests();
}

TEST_P(LanePeersClaims, OneEventAndOneWaitServeAllTasksOfALaunch) {
  constexpr std::int32_t kWide = 50;
  std::vector<LaneTask> tasks;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  std::vector<std::int32_t> laneOf;
  for (std::int32_t n = 0; n < 2 * kWide; ++n) {
    tasks.push_back({0, 1, n >= kWide});
    laneOf.push_back(n / kWide);
    for (std::int32_t before = std::max(0, n - kWide - 1); n >= kWide && before <= n - kWide; ++before)
      edges.emplace_back(before, n);
  }
  PeerLanesRig& rig = make(2, caseOf(tasks, edges), laneOf);
  rig.begin();
  const std::int64_t before = rig.lane(0).counts().records;
  for (std::int32_t n = 0; n < 2 * kWide; ++n) rig.submit(n);
  rig.serve(1);
  EXPECT_EQ(rig.lane(1).counts().launches, 0) << "nothing that they wait for is launched";
  rig.serve(0);
  rig.serve(1);

  EXPECT_EQ(rig.lane(0).counts().launches, 1);
  EXPECT_EQ(rig.lane(0).counts().records - before, 1);
  EXPECT_EQ(rig.lane(1).counts().launches, 1);
  EXPECT_EQ(rig.lane(1).counts().peerWaits, 1);
  rig.expectRightDigests();
}

TEST_P(LanePeersClaims, ATaskOfTwoStreamsIsWaitedForInBoth) {
  PeerLanesRig& rig = make(2, caseOf({{0, 2, false}, {0, 1, true}}, {{0, 1}}), {0, 1});
  rig.holdTask(0);
  rig.begin();
  rig.submit(0);
  rig.submit(1);
  rig.serve(0);
  rig.serve(1);

  EXPECT_EQ(rig.lane(1).counts().peerWaits, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));  // for what would not wait
  rig.letGo();
  rig.expectRightDigests();
}

TEST_P(LanePeersClaims, WhatIsHandedToALaneThatHasNotBegunWaitsThere) {
  PeerLanesRig& rig = make(2, caseOf({{0, 1, true}, {0, 1, true}}, {{0, 1}}), {0, 1});
  rig.runStep(1);
  rig.expectRightDigests();

  rig.arm();
  rig.begin(0);
  rig.submit(0);
  rig.serve(0);
  rig.serve(1);
  EXPECT_EQ(rig.lane(0).counts().tasks, 2);
  EXPECT_EQ(rig.lane(1).counts().tasks, 1);
  rig.begin(1);
  rig.submit(1);
  rig.serve(1);
  EXPECT_EQ(rig.lane(1).counts().tasks, 2);
  rig.expectRightDigests();
}

/// Deals a case out to two to four devices.
std::vector<std::int32_t> drawLanes(std::size_t tasks, std::uint32_t seed, std::int32_t lanes) {
  std::mt19937 random(seed);
  std::vector<std::int32_t> laneOf;
  for (std::size_t n = 0; n < tasks; ++n)
    laneOf.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(lanes)));
  return laneOf;
}

TEST_P(LanePeersClaims, AnyGraphOnAnyDevicesAndThreadsGivesTheSameDigests) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto lanes = static_cast<std::int32_t>(2 + seed % 3);
    const RandomLaneCase drawn = test::drawLaneCase(seed);
    PeerLanesRig& rig =
        make(static_cast<std::size_t>(lanes), drawn, drawLanes(drawn.plan.tasks.size(), seed, lanes));
    for (int step = 0; step < 3; ++step) {
      rig.runStep(/*threads=*/3);
      rig.expectRightDigests();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LanePeersClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

TEST(LanePeers, EverySeedOfSteppedDevicesGivesTheSameDigests) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<std::unique_ptr<DeviceBackend>> owned;
    std::vector<DeviceBackend*> devices;
    for (std::uint32_t n = 0; n < 2 + seed % 3; ++n) {
      EmulatedOptions options;
      options.progress = EmulatedProgress::Stepped;
      options.seed = 10 * seed + n;
      owned.push_back(makeEmulatedDevice(options));
      devices.push_back(owned.back().get());
    }
    const RandomLaneCase drawn = test::drawLaneCase(seed);
    const auto lanes = static_cast<std::int32_t>(devices.size());
    PeerLanesRig rig(devices, drawn, drawLanes(drawn.plan.tasks.size(), seed, lanes));
    for (int step = 0; step < 3; ++step) {
      rig.runStep(/*threads=*/1);
      rig.expectRightDigests();
    }
  }
}

TEST(LanePeers, ATaskKnowsHowManyItWaitsForInOtherLanes) {
  const LanePlan first{{{0, 1, false}}, {}, {{0, 1, 0}}, {}};
  const LanePlan second{{{0, 1, true}}, {}, {}, {2}};
  LaneWork a(first, {});
  LaneWork b(second, {});
  const std::array<LaneWork*, 2> works{&a, &b};

  EXPECT_THROW(LaneWork::join(works), InternalError);
}

}  // namespace
}  // namespace tessera
