#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/error.hpp"
#include "scheduler/step_runner.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {

/// How a run ended, in the words of result.json.
struct RunOutcome {
  std::string status = "failed";  ///< "done", "stopped" (go on with `tessera restart`) or "failed"
  int exitCode = 6;
  std::string reason;  ///< a sentence
};

/// The contents of RUN/result.json.
struct RunResult {
  RunOutcome outcome;
  std::int64_t step = 0;
  double time = 0.0;
  std::int64_t stepsTaken = 0;  ///< by this process, without those before a restart
  double wallSeconds = 0.0;
  double cellsPerSecond = 0.0;
  double waitPart = 0.0;  ///< of the time of all threads, 0 to 1
  std::string
      checkpoint;  ///< the newest that this process knows of, relative to the run folder; may be empty
  std::vector<std::pair<std::string, double>> diagnostics;  ///< of the last state
  std::vector<std::pair<std::string, double>> statistics;   ///< of all ranks, see run_folder.md
  std::vector<PlanTime> plans;                              ///< of the rank that took longest for each
  std::vector<std::string> warnings;                        ///< what could not be written, and the like
  std::vector<std::string> devices;                         ///< of all ranks, each as a JSON object
  std::string placement;                                    ///< of tasks; empty without devices
  CostReport cost;                                          ///< of rank 0
};

/// Writes result.json as a whole. Throws OutputError.
void writeResult(const FolderHandle& folder, const RunResult& result);

/// Where a run stood.
struct RunState {
  std::int64_t step = 0;
  double time = 0.0;
};

/// What the rank does that a step failed on: the first one to come makes RUN/error.txt and result.json and
/// returns true, so that the message is printed once. True also where nothing can be written. No `state`:
/// nobody is left who knows it.
bool claimFailure(const std::filesystem::path& runFolder, const Error& error, std::optional<RunState> state);

}  // namespace tessera
