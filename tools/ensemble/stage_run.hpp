#pragma once

#include <cstdint>
#include <functional>

#include "core/transport/transport.hpp"
#include "tools/ensemble/stage_results.hpp"

namespace tessera::ensemble {

/// How a stage went: the same on all ranks.
struct StageOutcome {
  std::int64_t done = 0;    ///< of this run and of those before
  std::int64_t failed = 0;  ///< after all retries
};

/// Runs the tasks of a stage that are missing, on all ranks: rank 0 deals them out in bundles that become
/// smaller towards the end, to whichever rank asks, itself among them, and writes the results. Collective;
/// `results` is rank 0's (nullptr on the others). `progress` is called on rank 0 once a second with the
/// numbers of tasks done and failed.
StageOutcome runStage(const Stage& stage, std::int64_t retries, StageResults* results, engine::Engine& engine,
                      Transport& transport, const std::function<void(const StageOutcome&)>& progress);

}  // namespace tessera::ensemble
