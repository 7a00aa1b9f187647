#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::test {

/// The paths of all decks below inputs/, so that a new one is tested by being there.
std::vector<std::string> allDecks();

/// "heat_cosine" for inputs/heat/cosine.toml.
std::string nameOfDeck(const testing::TestParamInfo<std::string>& deck);

}  // namespace tessera::test
