#pragma once

#include <string>
#include <string_view>

#include "core/deck/deck.hpp"

namespace tessera::detail {

/// The first line of a deck that `resolvedText` has written, of a checkpoint for example.
inline constexpr std::string_view kResolvedHead =
    "# Every value of the run and where it came from. This is a deck: it gives the same values again.\n";

/// What stands after a value there: where it comes from, as a comment.
std::string originMark(const DeckLocation& where);

/// Gives the values that such a deck marks as defaults the place of a default again: nobody gave them. Does
/// nothing to another deck.
void recallDefaults(DeckNode& root, std::string_view text);

}  // namespace tessera::detail
