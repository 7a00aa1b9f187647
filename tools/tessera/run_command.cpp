#include <sched.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "core/mpi_session.hpp"
#include "core/mpi_transport.hpp"
#include "tools/tessera/agreement.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/core_schema.hpp"
#include "tools/tessera/provenance.hpp"
#include "tools/tessera/recorder.hpp"
#include "tools/tessera/run_checkpoints.hpp"
#include "tools/tessera/run_folder.hpp"
#include "tools/tessera/shared_deck.hpp"

namespace tessera {
namespace {

/// Cores that this process may use, shared by the ranks on this machine.
int usualThreads(const std::vector<std::string>& processes) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  const int available = sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;
  const std::string here = hostName() + " ";
  const auto ranks = std::count_if(processes.begin(), processes.end(),
                                   [&](const std::string& process) { return process.rfind(here, 0) == 0; });
  return std::max(1, available / std::max(1, static_cast<int>(ranks)));
}

std::vector<std::string> gatherProcesses(Transport& transport) {
  std::string joined;
  for (const std::string& process : transport.gather(processName(), 0)) joined += process + "\n";
  transport.broadcast(joined, 0);
  std::vector<std::string> processes;
  std::istringstream in(joined);
  for (std::string line; std::getline(in, line);) processes.push_back(line);
  return processes;
}

/// One run from its deck to its result, on one rank of the job.
class Job {
 public:
  Job(const RunRequest& request, const ComponentRegistry& registry, Transport& transport)
      : request_(request), registry_(registry), transport_(transport), stops_(request.wallSeconds) {}

  int run() {
    findCheckpoint();
    const Deck deck = sharedDeck(transport_, [this] { return readDeck(); });
    makeSimulation(deck);
    openFolder(deck);
    Recorder recorder(*simulation_, stops_, {runFolder_, folder_ ? &*folder_ : nullptr, request_.screen, facts_.deckHash});
    announce(recorder);
    simulation_->run(recorder);
    return recorder.close(*simulation_);
  }

  /// For the message about a failure on this rank.
  const std::filesystem::path& runFolder() const { return runFolder_; }
  const Simulation* simulation() const { return simulation_ ? &*simulation_ : nullptr; }

 private:
  bool root() const { return transport_.rank() == 0; }
  void findCheckpoint();
  Deck readDeck() const;
  Deck readRestartDeck() const;
  void makeSimulation(const Deck& deck);
  void openFolder(const Deck& deck);
  void writeFacts(const Deck& deck) const;
  void announce(Recorder& recorder) const;

  const RunRequest& request_;
  const ComponentRegistry& registry_;
  Transport& transport_;
  StopRequests stops_;
  std::optional<RunFolder> folder_;  ///< rank 0
  std::filesystem::path runFolder_;
  std::filesystem::path checkpoint_;
  std::optional<Simulation> simulation_;
  RunFacts facts_;
};

}  // namespace
}  // namespace tessera
