#pragma once

#include <filesystem>

#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/checkpoint_writer.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {

/// Writes the state of a simulation as a checkpoint: every variable that lives from step to step, and the
/// clock. All ranks call it, between steps. Failures come back in the result.
CheckpointResult writeCheckpoint(CheckpointWriter& writer, const Simulation& simulation);

/// The checkpoint to go on from: the newest, or that of `step` where given (>= 0). Throws InputError where
/// there is none, where the newest is damaged (it names the one to use in its place), or where that of `step`
/// is damaged.
CheckpointListing chooseCheckpoint(const std::filesystem::path& runFolder, std::int64_t step);

/// The order of writing decides: that of the manifests, or of the folders' times where one cannot be read.
bool isNewer(const CheckpointListing& a, const CheckpointListing& b);

}  // namespace tessera
