#pragma once

#include "components/component.hpp"
#include "components/rmcrt/rmcrt_kernels.hpp"
#include "core/deck/parameters.hpp"

namespace tessera {

/// Declares all keys of `[rmcrt]` and the rules across them.
void declareRmcrtParameters(ParameterTable& table);

/// The intensity of a black body.
double intensityOf(double temperature, double stefanBoltzmann);

/// Walls as `[rmcrt]` says it, in a constant table: each face of level 0 of a wall that varies. Throws
/// DeckError where a wall has a temperature below 0 or an emissivity beyond 0 and 1.
WallTable wallsOf(const ParameterValues& values, double stefanBoltzmann, ComponentSetup& setup);

}  // namespace tessera
