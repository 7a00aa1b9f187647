#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/device/backend/cuda_device.hpp"
#include "tests/components/several_devices.hpp"

namespace tessera::test {
namespace {

constexpr std::int64_t kDevicesSteps = 5;

DeviceOptions emulated() { return firstDevices(DeviceKind::Emulated, 1); }

class DevicesOfEveryDeck : public DeckOnDevices {
 protected:
  DevicesOfEveryDeck() : DeckOnDevices(kDevicesSteps) {}
};

TEST_P(DevicesOfEveryDeck, GiveTheBitsOfTheHost) {
  const Outcome right = expected();
  for (const int threads : {0, 1, 2}) {
    for (const int ranks : {1, 3}) {
      const Outcome o = small({3, 2, 2}).ranks(ranks).threads(threads).devices(emulated()).run(kDevicesSteps);
      EXPECT_EQ(firstDifference(right, o), "") << threads << " threads, " << ranks << " ranks";
    }
  }
}

TEST_P(DevicesOfEveryDeck, GiveThemWithEachPartOfALaneSwitchedOff) {
  const Outcome right = expected();
  const LaneOptions lanes[] = {{.streams = 1}, {.largestBatch = 1}};
  for (const LaneOptions& lane : lanes) {
    DeviceOptions devices = emulated();
    devices.lane = lane;
    const Outcome o = small({2, 2, 2}).threads(2).devices(devices).run(kDevicesSteps);
    EXPECT_EQ(firstDifference(right, o), "") << lane.streams << " streams, batches of " << lane.largestBatch;
  }
}

TEST_P(DevicesOfEveryDeck, GiveThemUnderEverySeed) {
  const Outcome right = expected();
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 3);
    const Outcome o = small({3, 2, 1}).ranks(ranks).seed(seed).devices(emulated()).run(kDevicesSteps);
    EXPECT_EQ(firstDifference(right, o), "") << "seed " << seed << ", " << ranks << " ranks";
  }
}

TEST_P(DevicesOfEveryDeck, GiveThemInCheckedModeWithoutAComplaint) {
  const Outcome right = expected();
  for (const int ranks : {1, 2}) {
    const Outcome o =
        small({3, 2, 2}).ranks(ranks).threads(1).checked().devices(emulated()).run(kDevicesSteps);
    EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks";
  }
}

TEST_P(DevicesOfEveryDeck, GiveThemOnAGpu) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
  const Outcome right = expected();
  DeviceOptions devices = emulated();
  devices.kind = DeviceKind::Cuda;
  for (const int ranks : {1, 2}) {
    const Outcome o = small({3, 2, 2}).ranks(ranks).threads(2).devices(devices).run(kDevicesSteps);
    EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks";
  }
  const Outcome o = small({3, 2, 2}).threads(2).checked().devices(devices).run(kDevicesSteps);
  EXPECT_EQ(firstDifference(right, o), "") << "checked";
}

TEST_P(DevicesOfEveryDeck, SeveralOfARankGiveTheBitsOfTheHost) { expectBitsOnSeveral(firstDevices); }

TEST_P(DevicesOfEveryDeck, SeveralOfARankGiveThemUnderEverySeed) {
  expectBitsOnSeveralUnderEverySeed(firstDevices);
}

TEST_P(DevicesOfEveryDeck, GiveThemOnAGpuTakenForSeveral) { expectBitsOnAGpuTakenForSeveral(firstDevices); }

TEST_P(DevicesOfEveryDeck, GiveThemOnSeveralGpusOfARank) { expectBitsOnSeveralGpus(firstDevices); }

TESSERA_ON_COVERING_DECKS(DevicesOfEveryDeck);

}  // namespace
}  // namespace tessera::test
