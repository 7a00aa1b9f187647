#pragma once

#include <string_view>

#include "core/deck/expression.hpp"

namespace tessera {

/// Whether an expression uses a variable: x, y, z or t.
bool usesVariable(const Expression& expression, std::string_view variable);

}  // namespace tessera
