#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::test {

/// Every deck of a simulation below inputs/ ("heat/cosine"), by name, so that a new one is tested by being
/// there.
std::vector<std::string> allDecks();

/// Those of `allDecks` that together have whatever asks something else of the runtime: every set of
/// components, on one level and on several, with levels that take steps of their own, every kind of table and
/// scheme, each number of levels and of axes. A deck with something new is among them by being there.
std::vector<std::string> coveringDecks();

/// `allDecks` without `coveringDecks`.
std::vector<std::string> otherDecks();

/// The file of a deck, in the repository or in the bundle that TESSERA_TEST_BUNDLE names.
std::string pathOfDeck(const std::string& deck);

/// Whether the deck has finer levels, or may come to have some.
bool hasLevels(const std::string& deck);

/// Whether its mesh follows the solution.
bool followsMesh(const std::string& deck);

/// How many components it has.
std::size_t componentsOf(const std::string& deck);

/// The deck as a part of a test's name: "heat_cosine".
std::string testName(std::string deck);

inline std::string nameOfDeck(const testing::TestParamInfo<std::string>& deck) {
  return testName(deck.param);
}

}  // namespace tessera::test

/// A suite on decks of which another one with the same features shows nothing new: the tests of the others
/// are called Others/... and are left to `./tessera test --all`.
#define TESSERA_ON_COVERING_DECKS(Suite)                                                         \
  INSTANTIATE_TEST_SUITE_P(Inputs, Suite, ::testing::ValuesIn(::tessera::test::coveringDecks()), \
                           ::tessera::test::nameOfDeck);                                         \
  INSTANTIATE_TEST_SUITE_P(Others, Suite, ::testing::ValuesIn(::tessera::test::otherDecks()),    \
                           ::tessera::test::nameOfDeck)
