#pragma once

#include <string>
#include <vector>

#include "core/deck/schema.hpp"

namespace tessera::detail {

/// True if some declared name goes on below it: "boundary" where "boundary.x_low.type" is declared.
bool isSubTable(const ParameterTable& table, const std::string& name);

/// The keys that may stand below a prefix ("" or one ending in a dot), each once, in the order of
/// declaration.
std::vector<std::string> keysBelow(const ParameterTable& table, const std::string& prefix);

/// What to say of a key that the table does not have: where it belongs, what was meant, or what there is.
std::string unknownKeyText(const Schema& schema, const ParameterTable& table, const std::string& prefix,
                           const DeckNode& node);

/// The same for something at the top of the deck that is no table of it.
std::string unknownTopText(const Schema& schema, const DeckNode& node);

}  // namespace tessera::detail
