#include "tests/components/small_decks.hpp"

#include <algorithm>

namespace tessera::test {
namespace {

Extent cellsOf(const std::string& deck) {
  const Deck tree = Deck::fromFile(pathOfDeck(deck));
  const DeckNode& cells = *tree.find("grid.cells");
  Extent n;
  for (int d = 0; d < kAxes; ++d) n[d] = cells.children[static_cast<std::size_t>(d)].integer();
  return n;
}

}  // namespace

Simulate smallDeck(const std::string& deck) {
  Extent n = cellsOf(deck);
  const bool isOfRays = deck.starts_with("rmcrt/");  // each cell of which takes long
  for (int d = 0; d < kAxes; ++d) {
    if (n[d] > 1) n[d] = std::min<std::int64_t>(n[d], isOfRays ? 12 : 24);
  }
  Simulate small = simulate(deck).cells(n);
  if (isOfRays) small.set("rmcrt.rays=2");
  return small;
}

Extent alongResolvedAxes(const std::string& deck, Extent wanted) {
  const Extent n = cellsOf(deck);
  for (int d = 0; d < kAxes; ++d) wanted[d] = std::min(wanted[d], n[d]);
  return wanted;
}

}  // namespace tessera::test
