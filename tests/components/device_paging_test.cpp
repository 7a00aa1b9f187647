#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/device/backend/cuda_device.hpp"
#include "tests/components/several_devices.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kDevicePagingSteps = 5;

DeviceOptions emulated(std::int64_t limit, int count = 1) {
  DeviceOptions options = firstDevices(DeviceKind::Emulated, count);
  options.limitBytes = limit;
  options.emulated.pageBytes = 256;  // windows of these decks are a few hundred bytes
  return options;
}

/// Each deck with a device that has memory for a part of its variables.
class DevicePagingOfEveryDeck : public DeckOnDevices {
 protected:
  DevicePagingOfEveryDeck() : DeckOnDevices(kDevicePagingSteps) {}

  /// What the device of one of so many ranks needs; they have about the same.
  std::int64_t neededBytes(Extent patches, int ranks) const {
    return small(patches).ranks(ranks).devices(emulated(0)).run(1).paging.neededBytes / ranks;
  }
};

TEST_P(DevicePagingOfEveryDeck, SixtyPerCentOfItsNeedGiveTheBitsOfTheHost) {
  const Outcome right = expected();
  const Extent patches{6, 5, 2};
  for (const int threads : {0, 2}) {
    for (const int ranks : {1, 2}) {
      const std::int64_t limit = neededBytes(patches, ranks) * 6 / 10;
      const Outcome o =
          small(patches).ranks(ranks).threads(threads).devices(emulated(limit)).run(kDevicePagingSteps);
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
    const Outcome o = small(patches).seed(seed).devices(emulated(limit)).run(kDevicePagingSteps);
    EXPECT_EQ(firstDifference(right, o), "") << "seed " << seed;
  }
}

TEST_P(DevicePagingOfEveryDeck, SoDoesItWherePatchesMoveToTheHostAndBackAndInCheckedMode) {
  const Outcome right = expected();
  const Extent patches{6, 5, 2};
  DeviceOptions devices = emulated(neededBytes(patches, 1) * 6 / 10);
  EXPECT_EQ(firstDifference(right, small(patches).checked().devices(devices).run(kDevicePagingSteps)), "");
  devices.placement = DevicePlacement::Cost;
  devices.limitBytes = 0;  // no two patches share a window there, so more is needed
  devices.limitBytes = small(patches).devices(devices).run(1).paging.neededBytes * 6 / 10;
  Simulate moving = small(patches).hostParts({0.5, 0.2, 1.0, 0.7, 0.0}).threads(2).devices(devices);
  EXPECT_EQ(firstDifference(right, moving.run(kDevicePagingSteps)), "");
}

/// 64 patches of 8 x 8 cells in pages that the host's own protection watches.
Simulate pulse() { return simulate("wave/pulse").set("grid.cells=[64,64,1]").set("grid.patch_size=[8,8,1]"); }

DeviceOptions watched(std::int64_t limit) {
  DeviceOptions options = emulated(limit);
  options.emulated.pageBytes = 0;
  return options;
}

TEST(DevicePaging, TouchesNoPageThatIsNotThere) {
  const Outcome right = pulse().run(kDevicePagingSteps);
  const std::int64_t needed = pulse().devices(watched(0)).run(1).paging.neededBytes;

  const Outcome o = pulse().threads(2).devices(watched(needed * 4 / 10)).run(kDevicePagingSteps);

  EXPECT_EQ(firstDifference(right, o), "");
  EXPECT_GT(o.paging.bytesIn, 0);
}

TEST(DevicePaging, WithRoomForAllNothingIsMoved) {
  const std::int64_t needed = pulse().devices(watched(0)).run(1).paging.neededBytes;

  const Outcome o = pulse().devices(watched(needed)).run(kDevicePagingSteps);

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
    // The patch in the corner has two neighbours across its faces and fits; the next one has three.
    EXPECT_THAT(error.what(), HasSubstr("Old displacement around L0/P0001"));
    EXPECT_THAT(error.what(), HasSubstr("does not fit on the device"));
    EXPECT_THAT(error.what(), HasSubstr("bytes at once"));
    EXPECT_THAT(error.what(),
                HasSubstr(std::to_string(needed / 64) + " bytes, of " + std::to_string(needed)));
    EXPECT_THAT(error.what(), HasSubstr("raise device.limit"));
  }
}

TEST(DevicePaging, SeveralDevicesOfARankThatDoNotFitAreAnErrorThatAsksForARankEach) {
  const std::int64_t needed = pulse().devices(emulated(0, 2)).run(1).paging.neededBytes;
  try {
    pulse().devices(emulated(needed / 2 * 9 / 10, 2)).run(1);
    FAIL() << "half of the variables do not fit into nine tenths of that";
  } catch (const Error& error) {
    EXPECT_EQ(error.exitCode(), 6);
    EXPECT_THAT(error.what(), HasSubstr("the variables of a rank do not fit on its devices"));
    EXPECT_THAT(error.what(), HasSubstr("device 0 (emulated device)"));
    EXPECT_THAT(error.what(), HasSubstr("limit     " + std::to_string(needed / 2 * 9 / 10) + " bytes"));
    EXPECT_THAT(error.what(), HasSubstr("start a rank for each device (-n)"));
  }
}

TEST(DevicePaging, ManagedMemoryHasNoLimitOfItsOwnAndTheBitsOfTheHost) {
  DeviceOptions managed = watched(1);
  managed.memory = DeviceMemoryKind::Managed;

  const Outcome o = pulse().threads(2).devices(managed).run(kDevicePagingSteps);

  EXPECT_EQ(firstDifference(pulse().run(kDevicePagingSteps), o), "");
  EXPECT_EQ(o.paging.evictions, 0);
}

/// Pages of a GPU are 2 MiB; a patch of 32^3 cells has a third of one.
Simulate cube() {
  return simulate("heat/hot_spot").set("grid.cells=[160,160,96]").set("grid.patch_size=[32,32,32]");
}

TEST(DevicePaging, SixtyPerCentOfItsNeedOnAGpuGiveTheBitsOfTheHost) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
  const Outcome right = cube().run(kDevicePagingSteps);
  DeviceOptions gpu;
  gpu.kind = DeviceKind::Cuda;
  gpu.limitBytes = cube().devices(gpu).run(1).paging.neededBytes * 6 / 10;
  const Outcome o = cube().threads(2).devices(gpu).run(kDevicePagingSteps);
  EXPECT_EQ(firstDifference(right, o), "");
  EXPECT_GT(o.paging.evictions, 0);

  gpu.memory = DeviceMemoryKind::Managed;
  EXPECT_EQ(firstDifference(right, cube().devices(gpu).run(kDevicePagingSteps)), "");
}

TESSERA_ON_COVERING_DECKS(DevicePagingOfEveryDeck);

}  // namespace
}  // namespace tessera::test
