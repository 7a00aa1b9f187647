#pragma once

#include <vector>

#include "components/component.hpp"
#include "components/rmcrt/radiometers/radiometer.hpp"

namespace tessera {

/// Declares `[[rmcrt.radiometer]]`.
void declareRadiometerTables(ParameterTable& table);

/// The radiometers of a deck, with a reduction each. Throws DeckError where one is outside of the domain.
std::vector<Radiometer> radiometersOf(const ParameterValues& values, ComponentSetup& setup);

}  // namespace tessera
