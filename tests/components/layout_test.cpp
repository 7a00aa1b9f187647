#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/components/simulate.hpp"

namespace tessera::testing {
namespace {

/// Every deck below inputs/ ("heat/cosine"), so that a new one is tested by being there.
std::vector<std::string> allDecks() {
  std::vector<std::string> names;
  const std::filesystem::path inputs = std::filesystem::path(TESSERA_SOURCE_DIR) / "inputs";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(inputs)) {
    if (entry.path().extension() == ".toml")
      names.push_back(std::filesystem::relative(entry.path(), inputs).replace_extension().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class EveryDeck : public ::testing::TestWithParam<std::string> {
 protected:
  /// The deck's own mesh cut down to at most 24 cells along an axis: the borders count, not the size.
  Simulate small() const {
    const Deck deck = Deck::fromFile(std::string(TESSERA_SOURCE_DIR) + "/inputs/" + GetParam() + ".toml");
    const DeckNode& cells = *deck.find("grid.cells");
    Extent n;
    for (int d = 0; d < kAxes; ++d) {
      n[d] = std::min<std::int64_t>(cells.children[static_cast<std::size_t>(d)].integer(), 24);
    }
    return simulate(GetParam()).cells(n);
  }
  /// As many patches as asked for along the axes that the deck resolves.
  Extent along(Extent wanted) const {
    const Deck deck = Deck::fromFile(std::string(TESSERA_SOURCE_DIR) + "/inputs/" + GetParam() + ".toml");
    const DeckNode& cells = *deck.find("grid.cells");
    for (int d = 0; d < kAxes; ++d) {
      if (cells.children[static_cast<std::size_t>(d)].integer() == 1) wanted[d] = 1;
    }
    return wanted;
  }
};

constexpr std::int64_t kSteps = 6;

TEST_P(EveryDeck, GivesTheSameBitsForEveryRankAndThreadCountAndEveryLayout) {
  const Outcome expected = small().patches({1, 1, 1}).run(kSteps);
  ASSERT_EQ(expected.steps, kSteps);

  for (const Extent layout : {Extent{2, 2, 2}, Extent{5, 1, 3}, Extent{12, 3, 1}}) {
    for (const int ranks : {1, 2, 3, 4, 8}) {
      for (const int threads : {1, 2}) {
        const Extent patches = along(layout);
        const Outcome o = small().patches(patches).ranks(ranks).threads(threads).run(kSteps);
        EXPECT_EQ(firstDifference(expected, o), "")
            << asText(patches) << " patches, " << ranks << " ranks, " << threads << " threads";
      }
    }
  }
}

/// As many seeds as a commit can afford; the rest by hand, with TESSERA_SEEDS=500 in the environment.
std::uint64_t seeds() {
  const char* wanted = std::getenv("TESSERA_SEEDS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 12;
}

TEST_P(EveryDeck, GivesTheSameBitsForEverySeedOfTheSchedule) {
  const Outcome expected = small().patches(along({3, 2, 2})).run(2);

  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 8);
    SCOPED_TRACE("replay: tessera run inputs/" + GetParam() + ".toml --executor virtual --ranks " +
                 std::to_string(ranks) + " --seed " + std::to_string(seed));
    const Outcome o = small().patches(along({3, 2, 2})).ranks(ranks).seed(seed).run(2);
    ASSERT_EQ(firstDifference(expected, o), "");
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

INSTANTIATE_TEST_SUITE_P(Inputs, EveryDeck, ::testing::ValuesIn(allDecks()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

}  // namespace
}  // namespace tessera::testing
