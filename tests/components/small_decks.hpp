#pragma once

#include <string>

#include "tests/components/simulate.hpp"
#include "tests/decks/repository_decks.hpp"

namespace tessera::test {

/// The deck with its mesh cut down to at most 24 cells along an axis: the borders count, not the size.
Simulate smallDeck(const std::string& deck);

/// As many patches as asked for, but not more along an axis than the deck has cells.
Extent alongResolvedAxes(const std::string& deck, Extent wanted);

}  // namespace tessera::test
