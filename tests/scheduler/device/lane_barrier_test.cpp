// Between steps the lanes of a rank's devices come together, on the devices.
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "tests/scheduler/device/affine_step.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera {
namespace {

using test::AffineStep;
using test::launchStep;
using test::OnDevice;
using testing::ElementsAre;
using Barrier = DeviceLane::Barrier;

/// Two lanes, of which the first is held until `letGo`, and a value of each in memory that the host sees.
class LaneMeetingClaims : public test::OnEachDevice {
 protected:
  struct Side {
    explicit Side(const LaneOptions& options)
        : device(makeDevice()), lane(*device, options), value(*device, 1, DeviceSpace::PinnedHost) {
      value.set(device->makeStream(), {1.0});
    }
    std::unique_ptr<DeviceBackend> device;
    DeviceLane lane;
    OnDevice<double> value;
  };

  void make(const LaneOptions& options = {}) {
    flag_.reset();
    held_ = std::make_unique<Side>(options);
    free_ = std::make_unique<Side>(options);
    flag_ = std::make_unique<OnDevice<int>>(*held_->device, 1, DeviceSpace::PinnedHost);
    *flag_->data() = 0;
    lanes_ = {&held_->lane, &free_->lane};
    DeviceLane::connect(lanes_);
    held_->lane.putBeside([this](DeviceStream s) { test::putSpin(*held_->device, s, flag_->data()); });
  }
  void letGo() { std::atomic_ref<int>(*flag_->data()).store(1); }
  /// Gives what would not wait some time, lets go and looks at the value of the held device.
  std::vector<double> valueAfterAll() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    letGo();
    for (DeviceLane* lane : lanes_) lane->synchronize();
    return held_->value.get(held_->device->makeStream());
  }

  std::unique_ptr<Side> held_;
  std::unique_ptr<Side> free_;
  std::unique_ptr<OnDevice<int>> flag_;
  std::array<DeviceLane*, 2> lanes_{};
};

/// Two tasks, of which the first is apart: data = data + 1 in the memory of its own device, then
/// data = data + 3 in that of another. `isChain`: the second waits for the first.
class ApartThenShared : public LaneClient {
 public:
  ApartThenShared(DeviceBackend& device, double* own, double* shared)
      : device_(device), own_(own), shared_(shared), isApartDone_(device.makeEvent()) {}
  static LanePlan plan(bool isChain) {
    LanePlan plan{{{0, 1, true}, {1, 1, true}}, {}};
    plan.tasks[0].independentOfPeers = true;
    if (isChain) plan.edges = {{0, 1}};
    return plan;
  }
  void launch(std::int32_t kind, std::span<const std::int32_t>,
              std::span<const DeviceStream> streams) override {
    const bool isOwn = kind == 0;
    test::putAffine(device_, streams[0], isOwn ? own_ : shared_, 1, 1.0, isOwn ? 1.0 : 3.0);
    if (isOwn) device_.record(isApartDone_, streams[0]);
  }
  /// When both are launched. The lane sees its end with that of what stands behind it in its stream.
  bool isIndependentDone() const { return device_.isDone(isApartDone_); }

 private:
  DeviceBackend& device_;
  double* own_;
  double* shared_;
  DeviceEvent isApartDone_;
};

TEST_P(LaneMeetingClaims, WhatALaneIsGivenComesAfterAllThatTheOtherHas) {
  for (const Barrier barrier : {Barrier::All, Barrier::DependentOnly}) {
    for (const std::int32_t streams : {1, 4}) {
      make({.streams = streams});
      AffineStep doubles(*held_->device, held_->value.data(), 2.0, 0.0);
      AffineStep adds(*free_->device, held_->value.data(), 1.0, 3.0);
      const auto doubling = held_->lane.prepare(AffineStep::plan());
      const auto adding = free_->lane.prepare(AffineStep::plan());

      launchStep(held_->lane, *doubling, doubles);
      DeviceLane::crossDeviceBarrier(lanes_, barrier);
      launchStep(free_->lane, *adding, adds);
      launchStep(free_->lane, *adding, adds);  // without another meeting

      EXPECT_THAT(valueAfterAll(), ElementsAre(1.0 * 2.0 + 3.0 + 3.0)) << streams << " streams";
    }
  }
}

TEST_P(LaneMeetingClaims, WhatIsApartStartsBesideTheEndOfTheOthersStepAndNothingElseDoes) {
  for (const bool isChain : {false, true}) {
    make();
    AffineStep doubles(*held_->device, held_->value.data(), 2.0, 0.0);
    ApartThenShared both(*free_->device, free_->value.data(), held_->value.data());
    const auto doubling = held_->lane.prepare(AffineStep::plan());
    const auto work = free_->lane.prepare(ApartThenShared::plan(isChain));

    launchStep(held_->lane, *doubling, doubles);
    DeviceLane::crossDeviceBarrier(lanes_, Barrier::DependentOnly);
    free_->lane.begin(*work, both);
    free_->lane.submit(0, 2);
    std::vector<std::int32_t> ended;
    const auto end = [&](std::int32_t task) { ended.push_back(task); };
    while (!free_->lane.allLaunched()) free_->lane.serve(end);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!both.isIndependentDone() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    EXPECT_TRUE(both.isIndependentDone()) << "what is apart waits for a device that is held";
    for (int n = 0; n < 20; ++n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      free_->lane.serve(end);
    }

    EXPECT_THAT(ended, testing::Not(testing::Contains(1))) << "it waits for a device that is held";
    EXPECT_THAT(valueAfterAll(), ElementsAre(1.0 * 2.0 + 3.0));
    EXPECT_THAT(free_->value.get(free_->device->makeStream()), ElementsAre(1.0 + 1.0));
    while (ended.size() < 2) free_->lane.serve(end);
  }
}

TEST_P(LaneMeetingClaims, NothingIsApartWhereAllMeet) {
  make();
  ApartThenShared both(*free_->device, free_->value.data(), held_->value.data());
  const auto work = free_->lane.prepare(ApartThenShared::plan(/*isChain=*/false));

  DeviceLane::crossDeviceBarrier(lanes_, Barrier::All);
  free_->lane.begin(*work, both);
  free_->lane.submit(0, 2);
  for (int n = 0; n < 20; ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    free_->lane.serve([](std::int32_t task) { ADD_FAILURE() << task << " waits for a device that is held"; });
  }
  EXPECT_THAT(valueAfterAll(), ElementsAre(1.0 + 3.0));
}

/// Four tasks of which the last doubles a value once it is let go; the others have one each.
class LastDoubles : public LaneClient {
 public:
  LastDoubles(DeviceBackend& device, double* value, double* rest, int* flag)
      : device_(device), value_(value), rest_(rest), flag_(flag) {}
  static LanePlan plan() { return {{{0, 1, false}, {1, 1, false}, {2, 1, false}, {3, 1, false}}, {}}; }
  void launch(std::int32_t kind, std::span<const std::int32_t>,
              std::span<const DeviceStream> streams) override {
    if (kind == 3) test::putSpin(device_, streams[0], flag_);
    test::putAffine(device_, streams[0], kind == 3 ? value_ : rest_ + kind, 1, kind == 3 ? 2.0 : 1.0, 0.0);
  }

 private:
  DeviceBackend& device_;
  double* value_;
  double* rest_;
  int* flag_;
};

TEST_P(LaneMeetingClaims, TheNextStepComesAfterWhatStandsBehindAMeeting) {
  make();
  OnDevice<double> rest(*free_->device, 3, DeviceSpace::PinnedHost);
  rest.set(free_->device->makeStream(), {0.0, 0.0, 0.0});
  OnDevice<int> later(*free_->device, 1, DeviceSpace::PinnedHost);
  *later.data() = 0;
  LastDoubles doubles(*free_->device, free_->value.data(), rest.data(), later.data());
  AffineStep adds(*free_->device, free_->value.data(), 1.0, 3.0);
  const auto four = free_->lane.prepare(LastDoubles::plan());
  const auto adding = free_->lane.prepare(AffineStep::plan());

  DeviceLane::crossDeviceBarrier(lanes_, Barrier::DependentOnly);
  free_->lane.begin(*four, doubles);
  free_->lane.submit(0, 4);
  while (!free_->lane.allLaunched()) free_->lane.serve([](std::int32_t) {});
  launchStep(free_->lane, *adding, adds);

  letGo();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for what would not wait
  std::atomic_ref<int>(*later.data()).store(1);
  free_->lane.synchronize();
  EXPECT_THAT(free_->value.get(free_->device->makeStream()), ElementsAre(1.0 * 2.0 + 3.0));
}

TEST_P(LaneMeetingClaims, EachWaitsForEachOtherOnce) {
  make();
  free_->lane.putBeside([](DeviceStream) {});
  const auto third = makeDevice();
  DeviceLane last(*third, LaneOptions{});
  const std::array lanes{&held_->lane, &free_->lane, &last};
  DeviceLane::connect(lanes);
  last.putBeside([](DeviceStream) {});

  DeviceLane::crossDeviceBarrier(lanes);
  DeviceLane::crossDeviceBarrier(lanes);  // nothing new but the waits themselves

  for (DeviceLane* lane : lanes) EXPECT_LE(lane->counts().records, 2);
  EXPECT_EQ(free_->lane.counts().peerWaits, 4)
      << "two, each time: what each has been given since is its waits";
  letGo();
  for (DeviceLane* lane : lanes) lane->synchronize();
}

INSTANTIATE_TEST_SUITE_P(Kinds, LaneMeetingClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tessera
