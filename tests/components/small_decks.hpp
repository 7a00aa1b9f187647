#pragma once

#include <string>
#include <vector>

#include "tests/components/simulate.hpp"

namespace tessera::test {

/// Every deck below inputs/ ("heat/cosine"), so that a new one is tested by being there.
std::vector<std::string> allDecks();

/// The deck as a part of a test's name.
std::string testName(std::string deck);

/// The deck with its mesh cut down to at most 24 cells along an axis: the borders count, not the size.
Simulate smallDeck(const std::string& deck);

/// As many patches as asked for, along the axes that the deck resolves.
Extent alongResolvedAxes(const std::string& deck, Extent wanted);

}  // namespace tessera::test
