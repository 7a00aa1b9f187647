#pragma once

#include <string>
#include <vector>

#include "core/deck/schema.hpp"

namespace tessera::detail {

/// The tables as JSON Schema, draft 2020-12, for editors that complete and check TOML. A table is required
/// there if this run reads it (it is in schema.tables()) and has a required key.
std::string jsonSchemaText(const Schema& schema, const std::vector<const ParameterTable*>& tables);

}  // namespace tessera::detail
