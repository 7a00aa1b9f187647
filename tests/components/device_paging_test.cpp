#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/device/cuda_device.hpp"
#include "tests/components/small_decks.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSteps = 5;

DeviceOptions emulated(std::int64_t limit) {
  DeviceOptions options;
  options.kind = DeviceKind::Emulated;
  options.limitBytes = limit;
  options.emulated.pageBytes = 256;  // windows of these decks are a few hundred bytes
  options.emulated.longestDelay = std::chrono::microseconds(5);
  return options;
}

/// Each deck with a device that has memory for a part of its variables.
class DevicePagingOfEveryDeck : public ::testing::TestWithParam<std::string> {
 protected:
  Simulate small(Extent patches) const {
    return smallDeck(GetParam()).patches(alongResolvedAxes(GetParam(), patches));
  }
  Outcome expected() const { return smallDeck(GetParam()).run(kSteps); }
  /// What one rank of so many needs; they have about the same.
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

INSTANTIATE_TEST_SUITE_P(Inputs, DevicePagingOfEveryDeck, ::testing::ValuesIn(allDecks()),
                         [](const auto& info) { return testName(info.param); });

}  // namespace
}  // namespace tessera::testing
