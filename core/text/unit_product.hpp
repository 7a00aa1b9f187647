#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// A product of units with each word once: "kg/m^3 * m^3" is "kg", "K * m^3" is "K m^3", "m/m" is "1". Words
/// are letters, with whole powers, joined by blanks, * and /, in brackets or not. A text that is anything
/// else comes back as it is.
std::string unitProduct(std::string_view text);

}  // namespace tessera
