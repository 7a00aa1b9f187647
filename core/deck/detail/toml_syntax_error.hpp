#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tessera::detail {

/// What the TOML parser said about the first fault.
struct TomlFault {
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::string description;
};

/// Throws DeckError in our words. The parser's place lies behind the token it could not use, and it does not
/// say where a doubled key stood first; both are put right here from the text.
[[noreturn]] void throwSyntaxError(std::string_view text, const std::shared_ptr<const std::string>& file,
                                   TomlFault fault);

}  // namespace tessera::detail
