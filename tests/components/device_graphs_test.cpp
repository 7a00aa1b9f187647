// Steps that are replayed as graphs of a device have the bits of the host.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/device/backend/cuda_device.hpp"
#include "tests/components/several_devices.hpp"

namespace tessera::test {
namespace {

/// Each way in which generations lie is launched once, captured once, then replayed.
constexpr std::int64_t kDeviceGraphsSteps = 8;

DeviceOptions withGraphs(DeviceKind kind = DeviceKind::Emulated, int count = 1) {
  DeviceOptions options = firstDevices(kind, count);
  options.graphs = true;
  return options;
}

class GraphsOfEveryDeck : public DeckOnDevices {
 protected:
  GraphsOfEveryDeck() : DeckOnDevices(kDeviceGraphsSteps) {}
};

TEST_P(GraphsOfEveryDeck, GiveTheBitsOfTheHost) {
  const Outcome right = expected();
  for (const int threads : {0, 1, 2}) {
    for (const int ranks : {1, 2, 3}) {
      const Outcome o =
          small({3, 2, 2}).ranks(ranks).threads(threads).devices(withGraphs()).run(kDeviceGraphsSteps);
      EXPECT_EQ(firstDifference(right, o), "") << threads << " threads, " << ranks << " ranks";
    }
  }
}

TEST_P(GraphsOfEveryDeck, GiveThemInOneStreamAndInSmallBatches) {
  const Outcome right = expected();
  for (const LaneOptions& lane : {LaneOptions{.streams = 1}, LaneOptions{.largestBatch = 3}}) {
    DeviceOptions devices = withGraphs();
    devices.lane = lane;
    const Outcome o = small({2, 2, 2}).threads(2).devices(devices).run(kDeviceGraphsSteps);
    EXPECT_EQ(firstDifference(right, o), "") << lane.streams << " streams, batches of " << lane.largestBatch;
  }
}

TEST_P(GraphsOfEveryDeck, GiveThemUnderEverySeed) {
  const Outcome right = expected();
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 3);
    const Outcome o = small({3, 2, 1}).ranks(ranks).seed(seed).devices(withGraphs()).run(kDeviceGraphsSteps);
    EXPECT_EQ(firstDifference(right, o), "") << "seed " << seed << ", " << ranks << " ranks";
  }
}

TEST_P(GraphsOfEveryDeck, GiveThemOnSeveralDevicesOfARank) { expectBitsOnSeveral(withGraphs); }

TEST_P(GraphsOfEveryDeck, GiveThemOnSeveralDevicesOfARankUnderEverySeed) {
  expectBitsOnSeveralUnderEverySeed(withGraphs);
}

TEST_P(GraphsOfEveryDeck, GiveThemOnAGpu) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
  const Outcome right = expected();
  const Outcome o = small({3, 2, 2}).threads(2).devices(withGraphs(DeviceKind::Cuda)).run(kDeviceGraphsSteps);
  EXPECT_EQ(firstDifference(right, o), "");
}

TEST_P(GraphsOfEveryDeck, GiveThemOnAGpuTakenForSeveral) { expectBitsOnAGpuTakenForSeveral(withGraphs); }

TEST_P(GraphsOfEveryDeck, GiveThemOnSeveralGpusOfARank) { expectBitsOnSeveralGpus(withGraphs); }

TESSERA_ON_COVERING_DECKS(GraphsOfEveryDeck);

/// So that the totals, which are found before the first step and after the last, find the generations the
/// other way round, and are not captured.
constexpr std::int64_t kOddSteps = 9;

/// Eight patches of the heat equation, whose steps are all of one length.
Simulate evenHeat() {
  return simulateText(R"([simulation]
components = ["heat"]
[grid]
lower = [0, 0, 0]
upper = [1, 1, 1]
cells = [8, 8, 8]
patches = [2, 2, 2]
periodic = [true, true, false]
[time]
end = 1e9
dt = 1e-4
[heat]
conductivity = 1
initial = "1 + x*y*z"
boundary.z_low = { type = "dirichlet", value = 1 }
boundary.z_high = { type = "neumann", value = 0 }
)");
}

TEST(DeviceGraphs, EachWayInWhichGenerationsLieIsCapturedOnceAndThenReplayed) {
  const StepStatistics s = evenHeat().devices(withGraphs()).run(kOddSteps).statistics;

  // Old and New take turns: steps 1 and 2 make tables, 3 and 4 are captured.
  EXPECT_EQ(s.graphCaptures, 2);
  EXPECT_EQ(s.graphReplays, kOddSteps - 2);
}

TEST(DeviceGraphs, BodiesAreCalledAgainOnlyWhereANumberOfTheStepHasChanged) {
  const StepStatistics same = evenHeat().devices(withGraphs()).run(kOddSteps).statistics;
  // The last step is a shorter one.
  const Simulate shorter = evenHeat().set("time.end=8.5e-4");
  const Outcome right = Simulate(shorter).run();
  const Outcome other = Simulate(shorter).devices(withGraphs()).run();

  EXPECT_EQ(same.graphBodies, 2 * 8) << "of eight patches, in two captures";
  EXPECT_GT(other.statistics.graphBodies, 2 * 8);
  EXPECT_EQ(other.statistics.graphCaptures, 2) << "other numbers are no other loops";
  EXPECT_EQ(firstDifference(right, other), "");
}

TEST(DeviceGraphs, WithoutThemNothingIsCaptured) {
  DeviceOptions devices = withGraphs();
  devices.graphs = false;
  EXPECT_EQ(evenHeat().devices(devices).run(5).statistics.graphReplays, 0);
}

TEST(DeviceGraphs, WhatWaitsForMessagesIsAGraphOfItsOwn) {
  // Of the two slabs of a rank one lies at the end of the domain.
  const Simulate slabs = evenHeat().set("grid.patches=[1,1,4]");
  const Outcome one = Simulate(slabs).run(kOddSteps);
  const Outcome two = Simulate(slabs).ranks(2).devices(withGraphs()).run(kOddSteps);

  // Packing, what needs no message, and what does: three graphs for each of two ways.
  EXPECT_EQ(two.statistics.graphCaptures, 6);
  EXPECT_EQ(two.statistics.graphReplays, 3 * (kOddSteps - 2));
  EXPECT_EQ(firstDifference(one, two), "");
}

TEST(DeviceGraphs, SeveralDevicesOfARankHaveTheirOwn) {
  const Outcome one = evenHeat().run(kOddSteps);
  const Outcome two = evenHeat().devices(withGraphs(DeviceKind::Emulated, 2)).run(kOddSteps);

  // What a step of heat takes from others is Old, so no device waits for the other within a step.
  EXPECT_EQ(two.statistics.graphCaptures, 2 * 2);
  EXPECT_EQ(two.statistics.graphReplays, 2 * (kOddSteps - 2));
  EXPECT_EQ(two.statistics.graphBodies, 2 * 8);
  EXPECT_EQ(firstDifference(one, two), "");
}

TEST(DeviceGraphs, OfSeveralDevicesTakeAnotherLengthOfTheStepAllTogether) {
  // The last step is a shorter one.
  const Simulate shorter = evenHeat().set("time.end=8.5e-4");
  const Outcome right = Simulate(shorter).run();
  const Outcome o = Simulate(shorter).threads(3).devices(withGraphs(DeviceKind::Emulated, 3)).run();

  EXPECT_EQ(o.statistics.graphCaptures, 3 * 2);
  EXPECT_GT(o.statistics.graphBodies, 2 * 8);
  EXPECT_EQ(firstDifference(right, o), "");
}

TEST(DeviceGraphs, FindWhatIsNotFiniteOnWhateverDevice) {
  for (const int count : {1, 2, 3}) {
    // Too long a step: values grow until they are no numbers, long after the steps have been captured.
    Simulate unstable = evenHeat().set("time.dt=1");
    try {
      unstable.threads(2).devices(withGraphs(DeviceKind::Emulated, count)).run(1000);
      ADD_FAILURE() << count << " devices: nothing was found";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Numerical);
      EXPECT_NE(error.message().find("Heat::advance"), std::string::npos) << error.message();
    }
  }
}

TEST(DeviceGraphs, WhatWaitsForAnotherDeviceIsAGraphOfItsOwn) {
  // Two stages, of which the second reads halos of what the first wrote.
  const Simulate line = simulateText(R"([simulation]
components = ["advection"]
[grid]
cells = [16, 1, 1]
patches = [4, 1, 1]
[time]
end = 1e9
dt = 1e-2
[advection]
scheme = "plm"
velocity.x = "1"
initial = "1 + x"
)");
  const Outcome right = Simulate(line).run(kOddSteps);
  const Outcome o = Simulate(line).devices(withGraphs(DeviceKind::Emulated, 2)).run(kOddSteps);

  // What the other device waits for, what needs it not, and what waits for it: on each, in each of two ways.
  EXPECT_EQ(o.statistics.graphCaptures, 2 * 3 * 2);
  EXPECT_EQ(o.statistics.graphReplays, 2 * 3 * (kOddSteps - 2));
  EXPECT_EQ(firstDifference(right, o), "");
}

}  // namespace
}  // namespace tessera::test
