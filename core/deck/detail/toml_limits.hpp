#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tessera::detail {

/// Looks once over the text of a deck before a recursive parser sees it: nesting of brackets, length of
/// dotted keys, number of values, bytes that no text has. Throws DeckError with the place of the first
/// excess. Does not care whether the text is TOML; reads each byte once and allocates nothing.
void checkTomlLimits(std::string_view text, const std::shared_ptr<const std::string>& file);

}  // namespace tessera::detail
