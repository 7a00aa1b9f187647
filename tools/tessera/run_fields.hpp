#pragma once

#include "datawarehouse/archive/field_writer.hpp"
#include "tools/tessera/simulation.hpp"

namespace tessera {

/// Writes the present state of `labels` as a file for viewing. `deckHash` goes into the file. All ranks call
/// it, between steps. Failures come back in the result.
FieldWriteResult writeFields(FieldWriter& writer, const Simulation& simulation,
                             const std::vector<LabelId>& labels, const std::string& deckHash);

}  // namespace tessera
