#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// The SHA-256 of the bytes as 64 hexadecimal digits, the same as `sha256sum` prints: what decks and runs are
/// known by in the files that a run leaves. Pure, any thread.
std::string sha256(std::string_view bytes);

}  // namespace tessera
