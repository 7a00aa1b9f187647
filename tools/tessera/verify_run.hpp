#pragma once

#include <filesystem>

#include "tools/tessera/commands.hpp"

namespace tessera {

/// `tessera info --verify`: reads all that a run has left and prints what is not as it was written. Throws
/// InputError where something is damaged or missing.
void verifyRun(const std::filesystem::path& run, TableFormat format);

}  // namespace tessera
