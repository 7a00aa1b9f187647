// Halos in scratch windows: the same bits as with halos in place, for every deck.
#include <gtest/gtest.h>

#include "tests/components/small_decks.hpp"

namespace tessera::test {
namespace {

constexpr std::int64_t kScratchHalosSteps = 3;

class ScratchHalosOfEveryDeck : public ::testing::TestWithParam<std::string> {
 protected:
  Simulate deck() const {
    return smallDeck(GetParam()).patches(alongResolvedAxes(GetParam(), {3, 2, 2})).scratch();
  }
};

TEST_P(ScratchHalosOfEveryDeck, GiveTheBitsOfHalosInPlace) {
  const Outcome expected = smallDeck(GetParam()).run(kScratchHalosSteps);
  EXPECT_EQ(firstDifference(expected, deck().run(kScratchHalosSteps)), "") << "in order";
  EXPECT_EQ(firstDifference(expected, deck().threads(3).run(kScratchHalosSteps)), "") << "threads";
  EXPECT_EQ(firstDifference(expected, deck().ranks(3).threads(2).run(kScratchHalosSteps)), "") << "ranks";
  EXPECT_EQ(firstDifference(expected, deck().ranks(2).checked().run(kScratchHalosSteps)), "") << "checked";
  EXPECT_EQ(firstDifference(expected, deck().ranks(4).seed(7).run(kScratchHalosSteps)), "") << "seed 7";
}

TESSERA_ON_COVERING_DECKS(ScratchHalosOfEveryDeck);

/// Two variables of one task in scratch, and conditions of every kind.
TEST(ScratchHalos, OfTwoVariablesOfOneTaskHaveTheBitsOfHalosInPlace) {
  const char* deck =
      "simulation.components = ['heat']\n"
      "[grid]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\ncells = [12, 8, 4]\npatch_size = [4, 3, 4]\n"
      "periodic = [true, false, false]\n"
      "[time]\nend = 1\n"
      "[heat]\nconductivity = '1 + x'\nsource = 'x*y'\ninitial = '1 + x*y*z'\n"
      "boundary.y_low = { type = 'dirichlet', value = 'sin(t)' }\n";
  const Outcome expected = simulateText(deck).run(4);
  for (int ranks = 1; ranks <= 5; ++ranks)
    EXPECT_EQ(firstDifference(expected, simulateText(deck).ranks(ranks).threads(2).scratch().run(4)), "")
        << ranks << " ranks";
}

/// Also where halos come from the coarser level and messages; the column says whether the values are right.
TEST(ScratchHalos, OfRefinedLevelsHaveTheBitsOfHalosInPlace) {
  const char* deck =
      "simulation.components = ['levels']\n"
      "[grid]\ncells = [12, 8, 4]\npatch_size = [4, 4, 4]\nperiodic = [true, false, false]\n"
      "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 1, 1]\npatch_size = [6, 5, 8]\n"
      "[time]\ndt = 1\n";
  const Outcome expected = simulateText(deck).run(kScratchHalosSteps);
  EXPECT_EQ(expected.end.at("levels.wrong"), 0.0);
  for (int ranks = 1; ranks <= 5; ++ranks)
    EXPECT_EQ(firstDifference(expected,
                              simulateText(deck).ranks(ranks).threads(2).scratch().run(kScratchHalosSteps)),
              "")
        << ranks << " ranks";
}

}  // namespace
}  // namespace tessera::test
