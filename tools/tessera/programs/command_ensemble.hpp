#pragma once

#include <filesystem>

#include "tools/ensemble/ensemble_run.hpp"

namespace tessera {

/// Throws as runEnsemble where the deck is wrong: once, before there are ranks that would all say it.
void checkEnsembleDeck(const std::filesystem::path& deck);

/// `tessera ensemble DECK` on this process, a rank of a job or alone. Returns the exit code; throws as
/// runEnsemble.
int ensembleCommand(const ensemble::EnsembleRequest& request);

}  // namespace tessera
