#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/deck/deck.hpp"

namespace tessera::detail {

/// Turns TOML into our tree, all keys in the order of the text. With an empty `file` the places are the
/// command line. Throws DeckError: limits, syntax (with our words for the usual slips), keys given twice,
/// dates.
DeckNode readToml(std::string_view text, const std::shared_ptr<const std::string>& file);

}  // namespace tessera::detail
