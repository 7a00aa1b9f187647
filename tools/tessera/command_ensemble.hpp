#pragma once

#include "tools/ensemble/ensemble_run.hpp"

namespace tessera {

/// `tessera ensemble DECK` on this process, a rank of a job or alone. Returns the exit code; throws as
/// runEnsemble.
int ensembleCommand(const ensemble::EnsembleRequest& request);

}  // namespace tessera
