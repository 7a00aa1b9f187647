#include "tests/components/small_decks.hpp"

#include <algorithm>
#include <filesystem>

namespace tessera::test {
namespace {

const std::filesystem::path kInputs = std::filesystem::path(TESSERA_SOURCE_DIR) / "inputs";

Extent cellsOf(const std::string& deck) {
  const Deck tree = Deck::fromFile((kInputs / deck).string() + ".toml");
  const DeckNode& cells = *tree.find("grid.cells");
  Extent n;
  for (int d = 0; d < kAxes; ++d) n[d] = cells.children[static_cast<std::size_t>(d)].integer();
  return n;
}

}  // namespace

std::vector<std::string> allDecks() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kInputs)) {
    // Those of `tessera ensemble` and `tessera job` are no simulations; tests/tools/ runs them.
    if (entry.path().parent_path().filename() == "ensemble" ||
        entry.path().parent_path().filename() == "jobs")
      continue;
    if (entry.path().extension() == ".toml")
      names.push_back(std::filesystem::relative(entry.path(), kInputs).replace_extension().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string testName(std::string deck) {
  std::replace(deck.begin(), deck.end(), '/', '_');
  return deck;
}

Simulate smallDeck(const std::string& deck) {
  Extent n = cellsOf(deck);
  const bool isOfRays = deck.starts_with("rmcrt/");  // each cell of which takes long
  for (int d = 0; d < kAxes; ++d) {
    if (n[d] > 1) n[d] = isOfRays ? 12 : std::min<std::int64_t>(n[d], 24);
  }
  Simulate small = simulate(deck).cells(n);
  if (isOfRays) small.set("rmcrt.rays=2");
  return small;
}

Extent alongResolvedAxes(const std::string& deck, Extent wanted) {
  const Extent n = cellsOf(deck);
  for (int d = 0; d < kAxes; ++d) {
    if (n[d] == 1) wanted[d] = 1;
  }
  return wanted;
}

}  // namespace tessera::test
