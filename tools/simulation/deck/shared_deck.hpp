#pragma once

#include <functional>

#include "core/deck/deck.hpp"
#include "core/transport/transport.hpp"

namespace tessera {

/// Rank 0 loads the deck, every rank gets it: text, name and overrides. What goes wrong on rank 0 is an
/// AgreedError on every rank. All ranks call it.
Deck sharedDeck(Transport& transport, const std::function<Deck()>& load);

}  // namespace tessera
