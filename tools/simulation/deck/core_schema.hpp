#pragma once

#include "components/component.hpp"
#include "core/deck/deck.hpp"
#include "core/deck/schema.hpp"

namespace tessera {

/// All tables of a deck: those of the time loop ([simulation], [grid], [time], [output], [checkpoint],
/// [history], [analysis], [device]), then those of the components. A component that `deck` does not select
/// may not have a table in it.
Schema schemaFor(const Deck& deck, const ComponentRegistry& registry);

/// The same for no deck in particular, so that no component has to be in it: what `tessera describe` shows.
Schema schemaOfEverything(const ComponentRegistry& registry);

/// Everything that is wrong with the deck, names in simulation.components included.
DeckDiagnostics checkDeck(const Deck& deck, const ComponentRegistry& registry);

/// More patches than this are refused: a mistake in the deck, not a mesh.
inline constexpr std::int64_t kMaxPatches = std::int64_t{1} << 26;
/// And more cells than this: the bytes of all variables and halos then fit into 64 bits.
inline constexpr double kMaxCells = 0x1p50;

}  // namespace tessera
