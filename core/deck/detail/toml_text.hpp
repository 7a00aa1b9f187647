#pragma once

#include <string>
#include <string_view>

namespace tessera::detail {

/// The shortest text that reads back to the same bits, always with a point or an exponent: "1.0", "1e+20",
/// "nan".
std::string tomlNumber(double value);

/// The same without the forced point: "1", "0.5"; for messages.
std::string plainNumber(double value);

/// A TOML basic string, quotes included; what is not printable is escaped.
std::string tomlString(std::string_view text);

/// The key bare where TOML allows it, otherwise quoted.
std::string tomlKey(std::string_view key);

}  // namespace tessera::detail
