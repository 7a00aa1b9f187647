#pragma once

#include "datawarehouse/archive/field_writer.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {

/// Writes the present state of `labels` as a file for viewing. `deckSha256` goes into the file. All ranks
/// call it, between steps. Failures come back in the result.
FieldWriteResult writeFields(FieldWriter& writer, const Simulation& simulation,
                             const std::vector<LabelId>& labels, const std::string& deckSha256);

/// Writes the cells that a plane cuts, on each level that it meets.
FieldWriteResult writePlane(FieldWriter& writer, const Simulation& simulation, const PlaneOfFields& fields,
                            const std::string& deckSha256);

/// Takes away what an abandoned future of a run has left in a folder: files `name`_000120.hdf of steps after
/// `step`, that of `step` itself unless `keepStep`, and their lines in the series. For rank 0 of a restart
/// that goes back.
void dropFieldsAfter(const FolderHandle& folder, const std::string& name, std::int64_t step, bool keepStep);

}  // namespace tessera
