#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/components/small_decks.hpp"

namespace tessera::test {
namespace {

class EveryDeck : public ::testing::TestWithParam<std::string> {
 protected:
  Simulate small() const { return smallDeck(GetParam()); }
  Extent along(Extent wanted) const { return alongResolvedAxes(GetParam(), wanted); }
};

constexpr std::int64_t kLayoutSteps = 6;

TEST_P(EveryDeck, GivesTheSameBitsForEveryRankAndThreadCountAndEveryLayout) {
  const Outcome expected = small().patches({1, 1, 1}).run(kLayoutSteps);
  ASSERT_EQ(expected.steps, kLayoutSteps);

  for (const Extent layout : {Extent{2, 2, 2}, Extent{5, 1, 3}, Extent{12, 3, 1}}) {
    for (const int ranks : {1, 2, 3, 4, 8}) {
      for (const int threads : {1, 2}) {
        const Extent patches = along(layout);
        const Outcome o = small().patches(patches).ranks(ranks).threads(threads).run(kLayoutSteps);
        EXPECT_EQ(firstDifference(expected, o), "")
            << asText(patches) << " patches, " << ranks << " ranks, " << threads << " threads";
      }
    }
  }
}

TEST_P(EveryDeck, DeclaresAllThatItsTasksTouch) {
  const Outcome plain = small().patches(along({3, 2, 2})).run(3);

  const Outcome checked = small().patches(along({3, 2, 2})).ranks(2).checked().run(3);

  EXPECT_EQ(firstDifference(plain, checked), "");
}

TEST(AllDecks, AreFoundByListingTheFolder) {
  const std::vector<std::string> names = allDecks();
  for (const char* one : {"heat/cosine", "advection/swirl", "wave/pulse", "levels/two_level"})
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), one)) << one;
}

TEST(CoveringDecks, AreOfEveryComponentAndLeaveOthers) {
  const std::vector<std::string> covering = coveringDecks();
  const auto folderOf = [](const std::string& deck) { return deck.substr(0, deck.find('/')); };
  for (const std::string& deck : allDecks()) {
    EXPECT_TRUE(std::ranges::any_of(covering, [&](const std::string& one) {
      return folderOf(one) == folderOf(deck);
    })) << deck;
  }
  EXPECT_LT(covering.size(), allDecks().size());
  EXPECT_EQ(covering.size() + otherDecks().size(), allDecks().size());
}

INSTANTIATE_TEST_SUITE_P(Inputs, EveryDeck, ::testing::ValuesIn(allDecks()), nameOfDeck);

}  // namespace
}  // namespace tessera::test
