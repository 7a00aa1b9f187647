#pragma once

#include "core/deck/parameters.hpp"

namespace tessera {

/// Declares all keys of `[rmcrt]` and the rules across them.
void declareRmcrtParameters(ParameterTable& table);

}  // namespace tessera
