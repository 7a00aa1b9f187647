#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "scheduler/jobs/job_device.hpp"

namespace tessera::jobs {

/// What `tessera job` was asked for.
struct JobRequest {
  std::string deck{};
  std::vector<std::string> overrides{};  ///< "table.key=value"
  std::string out{};   ///< the folder of the results; empty: the deck's name in the current folder
  std::string form{};  ///< of the kernels; empty: the deck's
  bool quiet = false;
  bool json = false;  ///< result.json on `screen` as well, progress on standard error
  /// File that records what devices do; "true": trace.json.gz in the folder of the results; empty: none.
  std::string trace{};
};

/// The forms that a deck or the command line may ask for: "auto", the one that a short calibration finds to
/// be the fastest on each device, and each by its name.
std::vector<std::string> formChoices();

/// Throws DeckError with everything that is wrong with the deck; InputError where it cannot be read.
void checkJobDeck(const JobRequest& request);

/// Runs the program of a deck on these devices, compares its numbers with those that the deck expects, and
/// writes deck.toml, result.json and the program's own files. Returns the exit code: 0, or 4 where a number
/// is not as expected. Throws DeckError, InputError, OutputError, JobError.
int runJobDeck(const JobRequest& request, std::vector<std::unique_ptr<JobDevice>> devices,
               std::ostream& screen);

}  // namespace tessera::jobs
