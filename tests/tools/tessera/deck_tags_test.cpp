#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "components/component.hpp"
#include "core/deck/deck.hpp"
#include "tools/simulation/model.hpp"

namespace tessera {
namespace {

/// Forty-one tags are few: a library that hands out no more would still run every deck.
TEST(DeckTags, EveryDeckOfTheRepositoryCompilesWithALargestTagOfForty) {
  int decks = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TESSERA_SOURCE_DIR "/inputs")) {
    const auto folder = entry.path().parent_path().filename();
    const bool isEnsemble = folder == "ensemble" || folder == "jobs";
    if (isEnsemble || entry.path().extension() != ".toml") continue;
    const Model model(Deck::fromFile(entry.path().string()), builtInComponents());
    for (const int ranks : {2, 64}) {
      const CompiledGraphs graphs = model.compile(model.meshOfDeck(ranks), ranks - 1, ranks, 40);
      for (const CompiledGraph& graph : graphs.plans) {
        std::set<std::pair<Rank, std::int64_t>> received;
        for (const MessagePlan& m : graph.receives) EXPECT_TRUE(received.insert({m.peer, m.tag}).second);
      }
    }
    ++decks;
  }
  EXPECT_GT(decks, 10);
}

}  // namespace
}  // namespace tessera
