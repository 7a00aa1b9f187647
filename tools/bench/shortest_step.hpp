#pragma once

#include "components/component.hpp"
#include "core/deck/deck.hpp"

namespace tessera::bench {

/// Seconds of the shortest step of a deck on one rank of one thread, of those that it takes in about so many
/// seconds.
double shortestStep(const Deck& deck, const ComponentRegistry& registry, double seconds);

}  // namespace tessera::bench
