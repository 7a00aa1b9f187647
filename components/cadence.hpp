#pragma once

#include <string>

#include "components/step_at.hpp"
#include "core/deck/parameter_values.hpp"
#include "core/deck/parameters.hpp"

namespace tessera {

/// Declares the keys of a cadence, of which a deck gives one at most: `every` in steps and `every_time` in
/// units of time. `what` completes "how often ...": "radiation is computed".
void declareCadence(ParameterTable& table, const std::string& what);

/// What the deck says; every step where it says nothing.
Cadence cadenceOf(const ParameterValues& values);

}  // namespace tessera
