#pragma once

#include <string>

#include "core/deck/parameter_values.hpp"

namespace tessera::detail {

/// The value as TOML on one line, so that equal texts mean equal bits; "unset" where there is none. Not for
/// lists of tables.
std::string valueText(const ParameterValues::Value& value);

}  // namespace tessera::detail
