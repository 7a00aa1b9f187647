#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/device/backend/cuda_device.hpp"
#include "tests/components/several_devices.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSteps = 5;

DeviceOptions emulated(std::int64_t limit, int count = 1) {
  DeviceOptions options = firstDevices(DeviceKind::Emulated, count);
  options.limitBytes = limit;
  options.emulated.pageBytes = 256;  // windows of these decks are a few hundred bytes
  return options;
}

/// Each deck with a device that has memory for a part of its variables.
class DevicePagingOfEveryDeck : public DeckOnDevices {
 protected:
  DevicePagingOfEveryDeck() : DeckOnDevices(kSteps) {}

  /// What one of so many devices of one of so many ranks needs; they have about the same.
  std::int64_t neededBytes(Extent patches, int ranks, int count = 1) const {
    const Outcome all = small(patches).ranks(ranks).devices(emulated(0, count)).run(1);
    return all.paging.neededBytes / ranks / count;
  }
};

TEST_P(DevicePagingOfEveryDeck, SixtyPerCentOfItsNeedGiveTheBitsOfTheHost) {
  const Outcome right = expected();
  const Extent patches{6, 5, 2};
  for (const int threads : {0, 2}) {
    for (const int ranks : {1, 2}) {
      const std::int64_t limit = neededBytes(patches, ranks) * 6 / 10;
      const Outcome o = small(patches).ranks(ranks).threads(threads).devices(emulated(limit)).run(kSteps);
      EXPECT_EQ(firstDifference(right, o), "") << threads << " threads, " << ranks << " ranks";
      EXPECT_EQ(o.paging.evictions > 0, limit > 0) << ranks << " ranks";
    }
  }
}

TEST_P(DevicePagingOfEveryDeck, SoDoesItUnderEverySeed) {
  const Outcome right = expected();
  const Extent patches{6, 5, 2};
  const std::int64_t limit = neededBytes(patches, 1) * 6 / 10;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Outcome o = small(patches).seed(seed).devices(emulated(limit)).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << "seed " << seed;
  }
}

TEST_P(DevicePagingOfEveryDeck, SoDoSixtyPerCentOnSeveralDevicesOfARank) {
  const Outcome right = expected();
  const Extent patches{12, 5, 1};  // two for each device also where there is one axis
  for (const int count : {2, 3}) {
    for (const int ranks : {1, 2}) {
      const std::int64_t limit = neededBytes(patches, ranks, count) * 6 / 10;
      for (const int threads : {0, 1, 3}) {
        SCOPED_TRACE(std::to_string(count) + " devices, " + std::to_string(ranks) + " ranks, " +
                     std::to_string(threads) + " threads");
        const Outcome o =
            small(patches).ranks(ranks).threads(threads).devices(emulated(limit, count)).run(kSteps);
        EXPECT_EQ(firstDifference(right, o), "");
        EXPECT_EQ(o.paging.evictions > 0, limit > 0);
      }
    }
  }
}

TEST_P(DevicePagingOfEveryDeck, SoDoTheyUnderEverySeed) {
  const Outcome right = expected();
  const Extent patches{12, 5, 1};  // two for each device also where there is one axis
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 2);
    const int count = 2 + static_cast<int>(seed / 2 % 2);
    const std::int64_t limit = neededBytes(patches, ranks, count) * 6 / 10;
    const Outcome o = small(patches).ranks(ranks).seed(seed).devices(emulated(limit, count)).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "")
        << "seed " << seed << ", " << ranks << " ranks, " << count << " devices";
  }
}

TEST_P(DevicePagingOfEveryDeck, SoDoTheyWherePatchesMoveToTheHostAndBackAndInCheckedMode) {
  const Outcome right = expected();
  const Extent patches{6, 5, 2};
  for (const int count : {1, 2}) {
    DeviceOptions devices = emulated(neededBytes(patches, 1, count) * 6 / 10, count);
    const Outcome checked = small(patches).checked().devices(devices).run(kSteps);
    EXPECT_EQ(firstDifference(right, checked), "") << count << " devices, checked";
    devices.placement = DevicePlacement::Cost;
    devices.hostParts = {0.5, 0.2, 1.0, 0.7, 0.0};
    devices.limitBytes = 0;  // no two patches share a window there, so more is needed
    devices.limitBytes = small(patches).devices(devices).run(1).paging.neededBytes / count * 6 / 10;
    const Outcome moved = small(patches).threads(2).devices(devices).run(kSteps);
    EXPECT_EQ(firstDifference(right, moved), "") << count << " devices, moved";
  }
}

/// 64 patches of 8 x 8 cells in pages that the host's own protection watches.
Simulate pulse() { return simulate("wave/pulse").set("grid.cells=[64,64,1]").set("grid.patch_size=[8,8,1]"); }

DeviceOptions watched(std::int64_t limit) {
  DeviceOptions options = emulated(limit);
  options.emulated.pageBytes = 0;
  return options;
}

TEST(DevicePaging, TouchesNoPageThatIsNotThere) {
  const Outcome right = pulse().run(kSteps);
  const std::int64_t needed = pulse().devices(watched(0)).run(1).paging.neededBytes;

  const Outcome o = pulse().threads(2).devices(watched(needed * 4 / 10)).run(kSteps);

  EXPECT_EQ(firstDifference(right, o), "");
  EXPECT_GT(o.paging.bytesIn, 0);
}

TEST(DevicePaging, WithRoomForAllNothingIsMoved) {
  const std::int64_t needed = pulse().devices(watched(0)).run(1).paging.neededBytes;

  const Outcome o = pulse().devices(watched(needed)).run(kSteps);

  EXPECT_EQ(o.paging.neededBytes, needed);
  EXPECT_EQ(o.paging.rounds, 0);
}

TEST(DevicePaging, OldValuesThatNoOneReadsAgainAndNewOnesOfBeforeAreNotCarried) {
  const std::int64_t needed = pulse().devices(emulated(0)).run(1).paging.neededBytes;

  const DevicePagingCounts few = pulse().devices(emulated(needed * 6 / 10)).run(4).paging;
  const DevicePagingCounts many = pulse().devices(emulated(needed * 6 / 10)).run(12).paging;

  // Half of all memory is New, whose values of two steps ago nobody reads. What leaves and comes back in a
  // step is part of the other half, for each of the two tasks and their halos.
  EXPECT_LT((many.bytesIn - few.bytesIn) / 8, needed * 6 / 10);
  EXPECT_LT((many.bytesOut - few.bytesOut) / 8, needed * 6 / 10);
  EXPECT_GT(many.dropped, few.dropped);
}

TEST(DevicePaging, ATaskThatDoesNotFitIsNamedWithBytesAndLimit) {
  const std::int64_t needed = pulse().devices(emulated(0)).run(1).paging.neededBytes;
  try {
    pulse().devices(emulated(needed / 64)).run(1);
    FAIL() << "a patch and its neighbours do not fit into what one of 64 patches needs";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Old displacement around L0/P0000"));
    EXPECT_THAT(error.what(), HasSubstr("does not fit on the device"));
    EXPECT_THAT(error.what(), HasSubstr("bytes at once"));
    EXPECT_THAT(error.what(),
                HasSubstr(std::to_string(needed / 64) + " bytes, of " + std::to_string(needed)));
    EXPECT_THAT(error.what(), HasSubstr("raise device.limit"));
  }
}

TEST(DevicePaging, SeveralDevicesTouchNoPageOfAnotherThatIsNotThere) {
  const Outcome right = pulse().run(kSteps);
  DeviceOptions three = watched(0);
  three.numbers = {0, 1, 2};
  three.limitBytes = pulse().devices(three).run(1).paging.neededBytes / 3 * 5 / 10;

  const Outcome o = pulse().threads(2).devices(three).run(kSteps);

  EXPECT_EQ(firstDifference(right, o), "");
  EXPECT_GT(o.paging.bytesIn, 0);
}

/// Five patches for two devices.
TEST(DevicePaging, ADeviceThatFitsGoesWithOneThatDoesNot) {
  const auto row = [] {
    return simulate("wave/pulse").set("grid.cells=[40,8,1]").set("grid.patch_size=[8,8,1]");
  };
  const std::int64_t needed = row().devices(emulated(0, 2)).run(1).paging.neededBytes;

  const Outcome o = row().threads(2).devices(emulated(needed * 55 / 100, 2)).run(kSteps);

  EXPECT_EQ(firstDifference(row().run(kSteps), o), "");
  EXPECT_EQ(o.paging.neededBytes, needed) << "so one fits at least";
  EXPECT_GT(o.paging.evictions, 0) << "and the other does not";
  DeviceOptions graphs = emulated(needed * 55 / 100, 2);
  graphs.graphs = true;  // which are for all devices of a rank or for none
  EXPECT_EQ(firstDifference(row().run(kSteps), row().threads(2).devices(graphs).run(kSteps)), "");
}

/// Of 3 x 3 patches the middle one takes from all: from four on its own device, from five on the other.
TEST(DevicePaging, WhatATaskTouchesOnAnotherDeviceHasToFitThere) {
  const auto square = [] {
    return simulate("wave/pulse").set("grid.cells=[24,24,1]").set("grid.patch_size=[8,8,1]");
  };
  const std::int64_t needed = square().devices(emulated(0, 2)).run(1).paging.neededBytes;
  try {
    // The value before the step of four patches and a half, of which each has two and a velocity.
    square().devices(emulated(needed / 6, 2)).run(1);
    FAIL() << "five patches do not fit into the memory of four and a half";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("around L0/P0004 [8,8,0]..[15,15,0] on device 0 does not fit"));
    EXPECT_THAT(error.what(), HasSubstr("device    device 1 (emulated device)"));
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(needed / 27 * 5) + " bytes at once"));
    EXPECT_THAT(error.what(), HasSubstr("limit     " + std::to_string(needed / 6) + " bytes"));
  }
}

TEST(DevicePaging, ManagedMemoryHasNoLimitOfItsOwnAndTheBitsOfTheHost) {
  DeviceOptions managed = watched(1);
  managed.memory = DeviceMemoryKind::Managed;

  const Outcome o = pulse().threads(2).devices(managed).run(kSteps);

  EXPECT_EQ(firstDifference(pulse().run(kSteps), o), "");
  EXPECT_EQ(o.paging.evictions, 0);
}

/// Pages of a GPU are 2 MiB; a patch of 32^3 cells has a third of one.
Simulate cube() {
  return simulate("heat/hot_spot").set("grid.cells=[160,160,96]").set("grid.patch_size=[32,32,32]");
}

/// The same with so many that a third of them are some twenty pages.
Simulate largeCube() { return cube().set("grid.cells=[256,256,128]"); }

/// One rank with GPUs of these numbers, each of which has room for 60 % of its variables.
void expectBitsAtSixtyPerCent(const std::vector<std::int32_t>& numbers) {
  DeviceOptions gpus;
  gpus.kind = DeviceKind::Cuda;
  gpus.numbers = numbers;
  const std::int64_t needed = largeCube().devices(gpus).run(1).paging.neededBytes;
  gpus.limitBytes = needed / std::ssize(numbers) * 6 / 10;
  const Outcome right = largeCube().run(kSteps);
  for (const int threads : {0, 2}) {
    const Outcome o = largeCube().threads(threads).devices(gpus).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << numbers.size() << " devices";
    EXPECT_GT(o.paging.evictions, 0);
  }
}

TEST(DevicePaging, SixtyPerCentOfItsNeedOnAGpuGiveTheBitsOfTheHost) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
  const Outcome right = cube().run(kSteps);
  DeviceOptions gpu;
  gpu.kind = DeviceKind::Cuda;
  gpu.limitBytes = cube().devices(gpu).run(1).paging.neededBytes * 6 / 10;
  const Outcome o = cube().threads(2).devices(gpu).run(kSteps);
  EXPECT_EQ(firstDifference(right, o), "");
  EXPECT_GT(o.paging.evictions, 0);

  gpu.memory = DeviceMemoryKind::Managed;
  EXPECT_EQ(firstDifference(right, cube().devices(gpu).run(kSteps)), "");
}

TEST(DevicePaging, SoDoTheyOnAGpuTakenForSeveral) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
  for (const std::size_t count : {2, 3}) expectBitsAtSixtyPerCent(std::vector<std::int32_t>(count, 0));
}

TEST(DevicePaging, SoDoTheyOnSeveralGpus) {
  if (cudaDeviceCount() < 2) GTEST_SKIP() << "this case needs a GPU and another one";
  expectBitsAtSixtyPerCent({0, 1});
}

INSTANTIATE_TEST_SUITE_P(Inputs, DevicePagingOfEveryDeck, ::testing::ValuesIn(allDecks()),
                         [](const auto& info) { return testName(info.param); });

}  // namespace
}  // namespace tessera::testing
