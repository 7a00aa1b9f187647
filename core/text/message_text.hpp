#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::detail {

/// The text as it may stand in a message or a log: control characters, characters that turn the direction of
/// writing, and bytes that are not UTF-8 become escapes ("\n", "\u001b", "\xff"); all others stay as they
/// are.
std::string printable(std::string_view text);

/// The printable form of a text, cut after 60 characters with "..." so that no message gets long.
std::string shortened(std::string_view text);

/// The text in double quotes, printable and shortened.
std::string quotedText(std::string_view text);

/// The same in single quotes: the form of keys.
std::string quotedKey(std::string_view key);

/// "a, b, c"; after `limit` names "... (12 more)".
std::string listText(const std::vector<std::string>& names, std::size_t limit = 16);

}  // namespace tessera::detail
