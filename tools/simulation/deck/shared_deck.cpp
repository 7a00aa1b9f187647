#include "tools/simulation/deck/shared_deck.hpp"

#include <optional>
#include <string>

#include "tools/simulation/agreement.hpp"

namespace tessera {

Deck sharedDeck(Transport& transport, const std::function<Deck()>& load) {
  std::optional<Deck> deck;
  together(transport, [&] {
    if (transport.rank() == 0) deck = load();
  });
  std::string text = deck ? deck->text() : std::string();
  std::string name = deck ? deck->name() : std::string();
  std::string count = deck ? std::to_string(deck->overrides().size()) : std::string();
  transport.broadcast(text, 0);
  transport.broadcast(name, 0);
  transport.broadcast(count, 0);
  if (!deck) deck = Deck::fromText(text, name);
  for (std::size_t n = 0; n < std::stoull(count); ++n) {
    std::string assignment = transport.rank() == 0 ? deck->overrides()[n] : std::string();
    transport.broadcast(assignment, 0);
    if (transport.rank() != 0) deck->set(assignment);
  }
  return std::move(*deck);
}

}  // namespace tessera
