#pragma once

#include <vector>

#include "components/lowmach/flow_labels.hpp"
#include "components/lowmach/state_table.hpp"
#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/parameter_values.hpp"
#include "core/deck/parameters.hpp"

namespace tessera {

/// The state relation of a deck.
struct StateSettings {
  StateColumns has;           ///< of what the relation gives, and no equation carries
  std::vector<double> table;  ///< the numbers of a table
};

/// Declares what says how the density follows from the mixture fraction and from heat: `state`, `state_file`,
/// `mixing.density`, `flame.stoichiometric` ...
void declareState(ParameterTable& table);
/// Rule of `[lowmach]`: notes what contradicts itself.
void checkState(const ParameterValues& values, DeckDiagnostics& findings);
/// Sets the relation of `params`. Throws InputError where the table's file is not one.
StateSettings readState(const ParameterValues& values, FlowParams& params);

/// Whether heat is carried as enthalpy, and not as temperature.
bool carriesEnthalpy(const ParameterValues& values);

}  // namespace tessera
