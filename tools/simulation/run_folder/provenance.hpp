#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// What was run, with what, where and how: the contents of RUN/provenance.json.
struct RunFacts {
  std::vector<std::string> commandLine;
  std::string deckName;
  std::string deckSha256;
  std::string runId;                   ///< Model::runId
  std::vector<std::string> overrides;  ///< of --set, since the first start
  std::vector<std::string> processes;  ///< "host pid" of each rank
  int threads = 1;                     ///< of each rank
  std::string executor;
  bool checked = false;
  std::vector<std::string> devices;  ///< of all ranks, each as a JSON object
};

/// The file of a new run.
std::string provenanceText(const RunFacts& facts);
/// The file after a restart from `step`: everything that it had, and one more entry in "restarts".
std::string provenanceText(const RunFacts& facts, const std::string& before, std::int64_t step);
/// The overrides that a file names. Throws InputError where it is no provenance file.
std::vector<std::string> overridesIn(const std::string& provenance);

}  // namespace tessera
