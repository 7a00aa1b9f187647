#include <cstdlib>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/components/small_decks.hpp"

namespace tessera::test {
namespace {

/// Parts of the seeds, so that the tests of a deck can run side by side.
constexpr std::uint64_t kParts = 2;
constexpr std::int64_t kSeedsSteps = 3;

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = 200;
};

/// TESSERA_SEEDS=100 in the environment asks for seeds 1 to 100, TESSERA_SEEDS=7-7 for that one alone.
Seeds wantedSeeds() {
  Seeds seeds;
  const char* const wanted = std::getenv("TESSERA_SEEDS");
  if (wanted == nullptr) return seeds;
  char* rest = nullptr;
  seeds.last = std::strtoull(wanted, &rest, 10);
  if (*rest != '-') return seeds;
  seeds.first = seeds.last;
  seeds.last = std::strtoull(rest + 1, nullptr, 10);
  return seeds;
}

class SeedsOfEveryDeck : public ::testing::TestWithParam<std::tuple<std::string, std::uint64_t>> {
 protected:
  std::string deck() const { return std::get<0>(GetParam()); }
  bool isMine(std::uint64_t seed) const { return seed % kParts == std::get<1>(GetParam()); }

  /// Ranks and layout follow from the seed as well.
  static int ranksOf(std::uint64_t seed) { return 1 + static_cast<int>(seed % 8); }
  Simulate run(std::uint64_t seed) const {
    const Extent layouts[] = {{3, 2, 2}, {2, 2, 2}, {4, 1, 2}, {5, 3, 1}};
    const Extent patches = alongResolvedAxes(deck(), layouts[seed / 8 % std::size(layouts)]);
    return smallDeck(deck()).patches(patches).ranks(ranksOf(seed)).seed(seed);
  }
  /// The first line does the very same again; the second, which writes output as well, draws another order.
  std::string replayLines(std::uint64_t seed) const {
    const std::string number = std::to_string(seed);
    return "replay: TESSERA_SEEDS=" + number + "-" + number +
           " tessera_components_tests --gtest_filter='*SeedsOfEveryDeck*/" + testName(deck()) +
           "_*'\nor:     tessera run inputs/" + deck() + ".toml" + run(seed).assignments() +
           " --set 'time.max_steps=" + std::to_string(kSeedsSteps) + "' --executor virtual --seed " + number +
           " --ranks " + std::to_string(ranksOf(seed));
  }
};

TEST_P(SeedsOfEveryDeck, GiveTheBitsOfTheInOrderRun) {
  const Outcome expected = smallDeck(deck()).run(kSeedsSteps);
  ASSERT_EQ(expected.steps, kSeedsSteps);

  const Seeds seeds = wantedSeeds();
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    if (!isMine(seed)) continue;
    SCOPED_TRACE(replayLines(seed));
    ASSERT_EQ(firstDifference(expected, run(seed).run(kSeedsSteps)), "");
  }
}

TEST(ReplayLine, NamesSeedRanksAndWhatDiffersFromTheDeck) {
  const Simulate run = simulate("advection/zalesak").cells({8, 8, 1}).patches({2, 1, 1});
  EXPECT_EQ(run.assignments(), " --set 'grid.cells=[8,8,1]' --set 'grid.patches=[2,1,1]'");
}

std::string nameOfPart(const testing::TestParamInfo<std::tuple<std::string, std::uint64_t>>& part) {
  return testName(std::get<0>(part.param)) + "_part" + std::to_string(std::get<1>(part.param));
}

INSTANTIATE_TEST_SUITE_P(Inputs, SeedsOfEveryDeck,
                         ::testing::Combine(::testing::ValuesIn(coveringDecks()),
                                            ::testing::Range(std::uint64_t{0}, kParts)),
                         nameOfPart);
INSTANTIATE_TEST_SUITE_P(Others, SeedsOfEveryDeck,
                         ::testing::Combine(::testing::ValuesIn(otherDecks()),
                                            ::testing::Range(std::uint64_t{0}, kParts)),
                         nameOfPart);

}  // namespace
}  // namespace tessera::test
