#pragma once

#include <string_view>

namespace tessera {

/// The text of a JSON file that anybody may have written, before it is parsed; nothing, which is no JSON,
/// where it is nested more deeply than anything that this program writes: that would cost the stack of
/// whoever walks through it.
std::string_view shallowJson(std::string_view text);

}  // namespace tessera
