// Steps that are replayed as graphs of a device have the bits of the host.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/device/cuda_device.hpp"
#include "tests/components/small_decks.hpp"

namespace tessera::testing {
namespace {

/// Each way in which generations lie is launched once, captured once, then replayed.
constexpr std::int64_t kSteps = 8;

DeviceOptions withGraphs(DeviceKind kind = DeviceKind::Emulated) {
  DeviceOptions options;
  options.kind = kind;
  options.numbers = {0};
  options.emulated.longestDelay = std::chrono::microseconds(5);
  options.graphs = true;
  return options;
}

class GraphsOfEveryDeck : public ::testing::TestWithParam<std::string> {
 protected:
  Simulate small(Extent patches) const {
    return smallDeck(GetParam()).patches(alongResolvedAxes(GetParam(), patches));
  }
  /// What the host alone computes.
  Outcome expected() const { return smallDeck(GetParam()).run(kSteps); }
};

TEST_P(GraphsOfEveryDeck, GiveTheBitsOfTheHost) {
  const Outcome right = expected();
  for (const int threads : {0, 1, 2}) {
    for (const int ranks : {1, 2}) {
      const Outcome o = small({3, 2, 2}).ranks(ranks).threads(threads).devices(withGraphs()).run(kSteps);
      EXPECT_EQ(firstDifference(right, o), "") << threads << " threads, " << ranks << " ranks";
    }
  }
}

TEST_P(GraphsOfEveryDeck, GiveThemInOneStreamAndInSmallBatches) {
  const Outcome right = expected();
  for (const LaneOptions& lane : {LaneOptions{.streams = 1}, LaneOptions{.largestBatch = 3}}) {
    DeviceOptions devices = withGraphs();
    devices.lane = lane;
    const Outcome o = small({2, 2, 2}).threads(2).devices(devices).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << lane.streams << " streams, batches of " << lane.largestBatch;
  }
}

TEST_P(GraphsOfEveryDeck, GiveThemUnderEverySeed) {
  const Outcome right = expected();
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Outcome o = small({3, 2, 1}).seed(seed).devices(withGraphs()).run(kSteps);
    EXPECT_EQ(firstDifference(right, o), "") << "seed " << seed;
  }
}

TEST_P(GraphsOfEveryDeck, GiveThemOnAGpu) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
  const Outcome right = expected();
  const Outcome o = small({3, 2, 2}).threads(2).devices(withGraphs(DeviceKind::Cuda)).run(kSteps);
  EXPECT_EQ(firstDifference(right, o), "");
}

INSTANTIATE_TEST_SUITE_P(Inputs, GraphsOfEveryDeck, ::testing::ValuesIn(allDecks()),
                         [](const auto& info) { return testName(info.param); });

}  // namespace
}  // namespace tessera::testing
