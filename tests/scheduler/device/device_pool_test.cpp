#include "scheduler/device/memory/device_pool.hpp"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera {
namespace {

using test::OnDevice;
using testing::HasSubstr;

constexpr std::int64_t kPiece = 4096;

class DevicePoolClaims : public test::OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (IsSkipped()) return;
    device_ = makeDevice();
    first_ = device_->makeStream();
    second_ = device_->makeStream();
    flag_ = std::make_unique<OnDevice<int>>(*device_, 1, DeviceSpace::PinnedHost);
    *flag_->data() = 0;
  }
  void TearDown() override { flag_.reset(); }
  void raise() { std::atomic_ref<int>(*flag_->data()).store(1); }
  /// Keeps the first stream busy until `raise`.
  void keepFirstBusy() { test::putSpin(*device_, first_, flag_->data()); }

  std::unique_ptr<DeviceBackend> device_;
  DeviceStream first_;
  DeviceStream second_;
  std::unique_ptr<OnDevice<int>> flag_;
};

TEST_P(DevicePoolClaims, TheSameStreamGetsFreedMemoryAtOnce) {
  DevicePool pool(*device_, {DeviceSpace::Device, 10 * kPiece, kPiece});
  keepFirstBusy();

  void* memory = pool.allocate(first_, kPiece, "temperature");
  pool.free(first_, memory);

  EXPECT_EQ(pool.allocate(first_, kPiece, "temperature"), memory);
  EXPECT_EQ(pool.use().reserved, kPiece);
  raise();
}

TEST_P(DevicePoolClaims, AnotherStreamGetsItOnlyWhenTheDeviceIsDoneWithIt) {
  DevicePool pool(*device_, {DeviceSpace::Device, 10 * kPiece, kPiece});
  keepFirstBusy();
  void* memory = pool.allocate(first_, kPiece, "temperature");
  pool.free(first_, memory);

  EXPECT_NE(pool.allocate(second_, kPiece, "temperature"), memory);
  raise();
  device_->synchronize(first_);
  EXPECT_EQ(pool.allocate(second_, kPiece, "temperature"), memory);
}

TEST_P(DevicePoolClaims, AtTheLimitTheOtherStreamIsMadeToWait) {
  DevicePool pool(*device_, {DeviceSpace::Device, kPiece, kPiece});
  auto* memory = static_cast<double*>(pool.allocate(first_, kPiece, "temperature"));
  test::putAffine(*device_, first_, memory, 4, 0.0, 5.0);
  device_->synchronize(first_);
  keepFirstBusy();
  test::putAffine(*device_, first_, memory, 4, 0.0, 1.0);
  pool.free(first_, memory);

  ASSERT_EQ(pool.allocate(second_, kPiece, "pressure"), memory);
  test::putAffine(*device_, second_, memory, 4, 2.0, 1.0);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  raise();

  std::vector<double> got(4);
  device_->copy(second_, CopyDirection::DeviceToHost, got.data(), memory, 4 * sizeof(double));
  device_->synchronize(second_);
  EXPECT_THAT(got, testing::Each(3.0)) << "the second stream did not wait for the first one's write";
}

TEST_P(DevicePoolClaims, WhatDoesNotFitNamesOwnerBytesAndLimit) {
  DevicePool pool(*device_, {DeviceSpace::Device, 3 * kPiece, kPiece});
  pool.allocate(first_, 2 * kPiece, "temperature");

  try {
    pool.allocate(first_, 2 * kPiece, "Heat::advance");
    FAIL() << "the limit was passed";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.fault, DeviceFault::OutOfMemory);
    EXPECT_EQ(
        error.message(),
        asText(device_->info()) +
            ": its memory is used up\n"
            "  wanted    8192 bytes for Heat::advance\n"
            "  in use    8192 of 12288 bytes\n"
            "  fix       use more GPUs, smaller patches or fewer of them, or a larger device.limit if the "
            "device has more");
  }
  EXPECT_LE(pool.use().reserved, 3 * kPiece);
}

TEST_P(DevicePoolClaims, MemoryOfOneSizeMakesRoomForAnother) {
  DevicePool pool(*device_, {DeviceSpace::Device, 4 * kPiece, kPiece});
  std::vector<void*> pieces;
  for (int n = 0; n < 4; ++n) pieces.push_back(pool.allocate(first_, kPiece, "coarse"));
  for (void* piece : pieces) pool.free(first_, piece);

  pool.allocate(second_, 4 * kPiece, "fine");

  EXPECT_EQ(pool.use().inUse, 4 * kPiece);
  EXPECT_EQ(pool.use().reserved, 4 * kPiece);
  EXPECT_EQ(pool.use().highWater, 4 * kPiece);
}

TEST_P(DevicePoolClaims, SmallPiecesShareASlab) {
  DevicePool pool(*device_, {DeviceSpace::Device, 100 * kPiece, 16 * kPiece});
  std::vector<char*> pieces;
  for (int n = 0; n < 16; ++n) {
    pieces.push_back(static_cast<char*>(pool.allocate(first_, kPiece - 3, "flux")));
  }

  EXPECT_EQ(pool.use().reserved, 16 * kPiece);
  std::sort(pieces.begin(), pieces.end());
  for (std::size_t n = 1; n < pieces.size(); ++n) EXPECT_EQ(pieces[n] - pieces[n - 1], kPiece);
}

TEST_P(DevicePoolClaims, PinnedMemoryIsNotWrittenAgainWhileACopyReadsIt) {
  DevicePool pool(*device_, {DeviceSpace::PinnedHost, kPiece, kPiece});
  OnDevice<double> data(*device_, 4);
  auto* staging = static_cast<double*>(pool.allocate(first_, kPiece, "staging"));
  std::fill_n(staging, 4, 1.0);
  keepFirstBusy();
  device_->copy(first_, CopyDirection::HostToDevice, data.data(), staging, data.bytes());
  pool.free(first_, staging);

  std::thread later([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    raise();
  });
  auto* again = static_cast<double*>(pool.allocate(first_, kPiece, "staging"));
  std::fill_n(again, 4, 2.0);
  later.join();

  EXPECT_EQ(again, staging);
  EXPECT_THAT(data.get(first_), testing::Each(1.0));
}

TEST_P(DevicePoolClaims, ItsEndWaitsForWorkThatUsesItsMemory) {
  OnDevice<double> result(*device_, 4, DeviceSpace::PinnedHost);
  {
    DevicePool pool(*device_, {DeviceSpace::Device, kPiece, kPiece});
    auto* memory = static_cast<double*>(pool.allocate(first_, kPiece, "temperature"));
    for (int n = 0; n < 20; ++n) test::putAffine(*device_, first_, memory, 4, 0.0, static_cast<double>(n));
    device_->copy(first_, CopyDirection::DeviceToHost, result.data(), memory, result.bytes());
    pool.free(first_, memory);
  }
  EXPECT_THAT(std::vector<double>(result.data(), result.data() + 4), testing::Each(19.0));
}

INSTANTIATE_TEST_SUITE_P(Kinds, DevicePoolClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tessera
