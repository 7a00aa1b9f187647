#include "scheduler/device/memory/pager_group.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera {
namespace {

/// A device with a pager, and pieces of one segment each.
struct PagedDevice {
  static constexpr int kPieces = 4;

  explicit PagedDevice(std::unique_ptr<DeviceBackend> theDevice)
      : device(std::move(theDevice)),
        swap(*device, DevicePoolOptions{DeviceSpace::PinnedHost, std::int64_t{1} << 30}) {}
  /// When peers are enabled.
  void makePager(std::int64_t segments) {
    device->bindThread();
    stream = device->makeStream();
    last = device->makeEvent();
    const std::int64_t page = device->makeAddresses(1, 1)->pieceBytes();
    pager = std::make_unique<DevicePager>(
        *device, swap,
        DevicePagerOptions{
            .limitBytes = segments * page, .neededBytes = kPieces * page, .segmentBytes = page});
    for (int n = 0; n < kPieces; ++n) {
      memory.push_back(static_cast<double*>(pager->allocate(page, "piece")));
    }
    pager->begin(nullptr, {&watch, watch.add("in", DeviceWork::Copy), watch.add("out", DeviceWork::Copy)});
  }
  LaunchSite site() { return {*device, std::span(&stream, 1)}; }

  const std::unique_ptr<DeviceBackend> device;
  DevicePool swap;
  DeviceStream stream;
  DeviceEvent last;  ///< behind its last launch
  LaunchWatch watch{nullptr, nullptr};
  std::unique_ptr<DevicePager> pager;
  std::vector<double*> memory;
};

/// Two devices that reach each other, with room for two of four pieces each. The first is slow: what does not
/// wait for it comes too early.
class PagerGroupClaims : public test::OnEachDevice {
 protected:
  static constexpr std::int64_t kRoom = 2;

  void SetUp() override {
    OnEachDevice::SetUp();
    if (IsSkipped()) return;
    for (std::size_t n = 0; n < devices_.size(); ++n) {
      devices_[n] = std::make_unique<PagedDevice>(isCuda() ? makeCudaDevice(0)
                                                           : makeEmulatedDevice(delayed(n == 0 ? 3 : 0)));
    }
    for (const auto& one : devices_) {
      for (const auto& other : devices_) {
        if (one == other) continue;
        one->device->bindThread();
        ASSERT_TRUE(one->device->enablePeer(*other->device));
      }
    }
    std::vector<DevicePager*> pagers;
    for (const auto& one : devices_) {
      one->makePager(kRoom);
      pagers.push_back(one->pager.get());
    }
    group_ = std::make_unique<PagerGroup>(pagers);
  }
  void TearDown() override {
    for (const auto& one : devices_) {
      if (one != nullptr) one->device->synchronize(one->stream);
    }
    for (const auto& one : devices_) {
      if (one != nullptr) one->pager.reset();
    }
  }
  static EmulatedOptions delayed(int milliseconds) {
    EmulatedOptions options;
    options.longestDelay = std::chrono::milliseconds(milliseconds);
    return options;
  }
  bool take(const std::vector<PieceUse>& first, const std::vector<PieceUse>& second) {
    return group_->take([&](std::size_t n) { return std::span<const PieceUse>(n == 0 ? first : second); });
  }
  /// The device `by` makes x of each value of a piece of device `on` scale * x + offset, after all that was
  /// launched before.
  void change(std::size_t by, std::size_t on, std::int32_t piece, double scale, double offset) {
    PagedDevice& launching = *devices_[by];
    launching.device->bindThread();
    launching.device->waitForPeer(launching.stream, *devices_[1 - by]->device, devices_[1 - by]->last);
    const std::vector<PieceUse> uses{{piece, PieceAccess::Change}};
    group_->open();
    ASSERT_TRUE(on == 0 ? take(uses, {}) : take({}, uses));
    group_->makeResident(launching.site());
    test::putAffine(*launching.device, launching.stream,
                    devices_[on]->memory[static_cast<std::size_t>(piece)], 4, scale, offset);
    group_->close(launching.site());
    launching.device->record(launching.last, launching.stream);
  }
  std::vector<double> valuesOf(std::size_t by, std::size_t on, std::int32_t piece) {
    change(by, on, piece, 1.0, 0.0);
    std::vector<double> got(4);
    PagedDevice& reading = *devices_[by];
    reading.device->copy(reading.stream, CopyDirection::DeviceToHost, got.data(),
                         devices_[on]->memory[static_cast<std::size_t>(piece)], 4 * sizeof(double));
    reading.device->synchronize(reading.stream);
    return got;
  }

  std::array<std::unique_ptr<PagedDevice>, 2> devices_;
  std::unique_ptr<PagerGroup> group_;
};

TEST_P(PagerGroupClaims, TakesWhatWorkTouchesOnAllDevicesOrNothing) {
  const PieceUse other{1, PieceAccess::Read};
  group_->open();

  EXPECT_TRUE(take({{0, PieceAccess::Read}}, {}));
  EXPECT_FALSE(take({{0, PieceAccess::Read}}, {other, {2, PieceAccess::Read}}))
      << "an eighth of the room, which is one piece, for what is not the first";
  EXPECT_FALSE(devices_[1]->pager->isTouched());
  EXPECT_FALSE(take({other}, {other}));
  EXPECT_TRUE(take({{0, PieceAccess::Read}}, {other}));

  group_->open();
  EXPECT_FALSE(take({other}, {{0, PieceAccess::Read}, {1, PieceAccess::Read}, {2, PieceAccess::Read}}));
  EXPECT_FALSE(devices_[0]->pager->isTouched()) << "what had room here is given back";
  EXPECT_TRUE(take({{2, PieceAccess::Read}, {3, PieceAccess::Read}}, {})) << "still the first";
}

TEST_P(PagerGroupClaims, ADeviceThatHasAllNeedsNoPager) {
  PagerGroup group({nullptr, devices_[1]->pager.get()});
  group.open();
  EXPECT_TRUE(group.take([](std::size_t) { return std::span<const PieceUse>(); }));
  group.makeResident(devices_[0]->site());
  group.close(devices_[0]->site());

  EXPECT_EQ(devices_[1]->pager->residentSegments(), 0);
}

TEST_P(PagerGroupClaims, ALaunchOfAPeerComesAfterTheCopyThatBroughtIt) {
  for (std::int32_t piece = 0; piece < PagedDevice::kPieces; ++piece) change(0, 0, piece, 0.0, 7.0 + piece);

  for (std::int32_t piece = 0; piece < PagedDevice::kPieces; ++piece) {
    EXPECT_EQ(valuesOf(1, 0, piece), std::vector<double>(4, 7.0 + piece)) << "piece " << piece;
  }
  EXPECT_GT(devices_[0]->pager->counts().bytesIn, 0);
  EXPECT_EQ(devices_[1]->pager->counts().evictions, 0);
}

TEST_P(PagerGroupClaims, WhatLeavesADeviceComesAfterTheLaunchesOfItsPeers) {
  for (std::int32_t piece = 0; piece < PagedDevice::kPieces; ++piece) change(0, 1, piece, 0.0, 7.0 + piece);

  for (std::int32_t piece = 0; piece < PagedDevice::kPieces; ++piece) {
    EXPECT_EQ(valuesOf(1, 1, piece), std::vector<double>(4, 7.0 + piece)) << "piece " << piece;
  }
  EXPECT_GT(devices_[1]->pager->counts().bytesOut, 0);
}

TEST_P(PagerGroupClaims, RandomLaunchesOfBothLeaveWhatAllMemoryWouldHold) {
  constexpr std::uint64_t kSeed = 1;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::array<std::array<double, PagedDevice::kPieces>, 2> right{};
  for (std::size_t on = 0; on < 2; ++on) {
    for (std::int32_t piece = 0; piece < PagedDevice::kPieces; ++piece) change(on, on, piece, 0.0, 0.0);
  }
  for (int n = 0; n < 200; ++n) {
    const std::size_t on = below(2);
    const std::uint64_t piece = below(PagedDevice::kPieces);
    right[on][piece] = 0.5 * right[on][piece] + n;
    change(below(2), on, static_cast<std::int32_t>(piece), 0.5, n);
  }
  for (std::size_t on = 0; on < 2; ++on) {
    for (std::int32_t piece = 0; piece < PagedDevice::kPieces; ++piece) {
      EXPECT_EQ(valuesOf(below(2), on, piece),
                std::vector<double>(4, right[on][static_cast<std::size_t>(piece)]));
    }
    EXPECT_GT(devices_[on]->pager->counts().evictions, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, PagerGroupClaims, ::testing::ValuesIn(test::deviceKinds()));

}  // namespace
}  // namespace tessera
