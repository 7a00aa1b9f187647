#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "datawarehouse/status.hpp"
#include "scheduler/device/cuda_device.hpp"
#include "tests/components/small_decks.hpp"

namespace tessera::testing {
namespace {

constexpr std::int64_t kSteps = 5;

DeviceOptions emulated(int count = 1) {
  DeviceOptions options;
  options.kind = DeviceKind::Emulated;
  options.numbers.resize(static_cast<std::size_t>(count));
  for (int n = 0; n < count; ++n) options.numbers[static_cast<std::size_t>(n)] = n;
  options.emulated.longestDelay = std::chrono::microseconds(5);
  return options;
}

class DevicesOfEveryDeck : public ::testing::TestWithParam<std::string> {
 protected:
  Simulate small(Extent patches) const {
    return smallDeck(GetParam()).patches(alongResolvedAxes(GetParam(), patches));
  }
  /// What the host alone computes.
  Outcome expected() const { return smallDeck(GetParam()).run(kSteps); }
};

TEST_P(DevicesOfEveryDeck, GiveTheBitsOfTheHost) {
  const Outcome right = expected();
  for (const int threads : {0, 1, 2}) {
    for (const int ranks : {1, 3}) {
      const Outcome o = small({3, 2, 2}).ranks(ranks).threads(threads).devices(emulated()).run(kSteps);
      EXPECT_EQ(firstDifference(right, o), "") << threads << " threads, " << ranks << " ranks";
    }
  }
}

TEST_P(DevicesOfEveryDeck, GiveThemWithEachPartOfALaneSwitchedOff) {
  const Outcome right = expected();
  const LaneOptions lanes[] = {{.streams = 1}, {.largestBatch = 1}, {.chainsOnDevice = false}};
  for (const LaneOptions& lane : lanes) {
    DeviceOptions devices = emulated();
    devices.lane = lane;
    const Outcome o = small({2, 2, 2}).threads(2).devices(devices).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "")
        << lane.streams << " streams, batches of " << lane.largestBatch << ", chains " << lane.chainsOnDevice;
  }
}

TEST_P(DevicesOfEveryDeck, GiveThemUnderEverySeed) {
  const Outcome right = expected();
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 3);
    const Outcome o = small({3, 2, 1}).ranks(ranks).seed(seed).devices(emulated()).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << "seed " << seed << ", " << ranks << " ranks";
  }
}

TEST_P(DevicesOfEveryDeck, GiveThemInCheckedModeWithoutAComplaint) {
  const Outcome right = expected();
  for (const int ranks : {1, 2}) {
    const Outcome o = small({3, 2, 2}).ranks(ranks).threads(1).checked().devices(emulated()).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks";
  }
}

TEST_P(DevicesOfEveryDeck, GiveThemOnAGpu) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
  const Outcome right = expected();
  DeviceOptions devices = emulated();
  devices.kind = DeviceKind::Cuda;
  for (const int ranks : {1, 2}) {
    const Outcome o = small({3, 2, 2}).ranks(ranks).threads(2).devices(devices).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks";
  }
  const Outcome o = small({3, 2, 2}).threads(2).checked().devices(devices).run(kSteps);
  EXPECT_EQ(firstDifference(right, o), "") << "checked";
}

TEST_P(DevicesOfEveryDeck, SeveralOfARankGiveTheBitsOfTheHost) {
  const Outcome right = expected();
  for (const int count : {2, 3}) {
    for (const int threads : {0, 1, 3}) {
      for (const int ranks : {1, 2}) {
        const Outcome o = small({3, 2, 2}).ranks(ranks).threads(threads).devices(emulated(count)).run(kSteps);
        EXPECT_EQ(firstDifference(right, o), "")
            << count << " devices, " << threads << " threads, " << ranks << " ranks";
      }
    }
  }
}

TEST_P(DevicesOfEveryDeck, SeveralOfARankGiveThemUnderEverySeed) {
  const Outcome right = expected();
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 2);
    const int count = 2 + static_cast<int>(seed % 3);
    const Outcome o = small({3, 2, 2}).ranks(ranks).seed(seed).devices(emulated(count)).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "")
        << "seed " << seed << ", " << ranks << " ranks, " << count << " devices";
  }
}

TEST_P(DevicesOfEveryDeck, GiveThemOnSeveralGpusOfARank) {
  const int gpus = std::min(cudaDeviceCount(), kDeviceSlots);
  if (gpus < 2) GTEST_SKIP() << "this case needs a GPU and another one, and has " << gpus;
  const Outcome right = expected();
  DeviceOptions devices = emulated(gpus);
  devices.kind = DeviceKind::Cuda;
  for (const int ranks : {1, 2}) {
    const Outcome o = small({3, 2, 2}).ranks(ranks).threads(2).devices(devices).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << gpus << " GPUs, " << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, DevicesOfEveryDeck, ::testing::ValuesIn(allDecks()),
                         [](const auto& info) { return testName(info.param); });

}  // namespace
}  // namespace tessera::testing
