#include <algorithm>
#include <csignal>
#include <iostream>
#include <sched.h>
#include <sstream>
#include <thread>

#include "core/mpi_session.hpp"
#include "core/mpi_transport.hpp"
#include "core/sha256.hpp"
#include "taskgraph/memory_plan.hpp"
#include "tools/tessera/agreement.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/core_schema.hpp"
#include "tools/tessera/forced_end.hpp"
#include "tools/tessera/job_note.hpp"
#include "tools/tessera/provenance.hpp"
#include "tools/tessera/recorder.hpp"
#include "tools/tessera/restart_deck.hpp"
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
      : request_(request), registry_(registry), transport_(transport), stops_(request.wallSeconds) {
    prepareForcedEnd(transport.rank(), transport.size());
  }

  int run() {
    if (request_.restart) reopenFolder();
    const Deck deck = sharedDeck(transport_, [this] { return readDeck(); });
    makeSimulation(deck);
    if (!request_.restart) makeFolder(deck);
    if (root()) noteRunFolder(runFolder_);
    forcedEndIn(runFolder_);
    writeFacts(deck);
    Recorder recorder(*simulation_, stops_,
                      {runFolder_, folder_ ? &*folder_ : nullptr, request_.screen, facts_.deckSha256});
    announce(recorder);
    simulation_->run(recorder);
    return recorder.close(*simulation_);
  }

  /// For the message about a failure on this rank.
  const std::filesystem::path& runFolder() const { return runFolder_; }
  const Simulation* simulation() const { return simulation_ ? &*simulation_ : nullptr; }

 private:
  bool root() const { return transport_.rank() == 0; }
  void reopenFolder();
  void makeFolder(const Deck& deck);
  Deck readDeck() const;
  void makeSimulation(const Deck& deck);
  void writeFacts(const Deck& deck);
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

/// Takes the folder of the run to go on with, and chooses the checkpoint.
void Job::reopenFolder() {
  std::string chosen;
  together(transport_, [&] {
    if (!root()) return;
    folder_.emplace(RunFolder::reopen(request_.target));
    chosen = chooseCheckpoint(request_.target, request_.fromStep).path.string();
  });
  transport_.broadcast(chosen, 0);
  checkpoint_ = chosen;
  runFolder_ = request_.target;
}

void Job::makeFolder(const Deck& deck) {
  std::string path;
  together(transport_, [&] {
    if (!root()) return;
    folder_.emplace(RunFolder::create(deck.name(), request_.out));
    path = folder_->path().string();
  });
  transport_.broadcast(path, 0);
  runFolder_ = path;
}

Deck Job::readDeck() const {
  if (request_.restart) {
    return restartDeck(folder_->files(), CheckpointReader::open(checkpoint_), request_.overrides, registry_);
  }
  Deck deck = Deck::fromFile(request_.target);
  for (const std::string& assignment : request_.overrides) deck.set(assignment);
  const Findings findings = checkDeck(deck, registry_);
  findings.throwIfErrors();
  if (!findings.empty()) std::cerr << findings.text() << std::endl;
  return deck;
}

void Job::makeSimulation(const Deck& deck) {
  facts_.processes = gatherProcesses(transport_);
  facts_.threads = request_.threads > 0 ? request_.threads : usualThreads(facts_.processes);
  together(transport_, [&] {
    simulation_.emplace(deck, registry_, transport_,
                        SimulationOptions{facts_.threads, request_.executor, request_.checked});
    simulation_->model().outputLabels();
    if (request_.restart) simulation_->restore(CheckpointReader::open(checkpoint_));
  });
}

/// Writes down what is run, before the first step.
void Job::writeFacts(const Deck& deck) {
  facts_.commandLine = request_.commandLine;
  facts_.deckName = deck.name();
  facts_.deckSha256 = sha256(deck.text());
  facts_.runId = simulation_->model().runId();
  facts_.overrides = deck.overrides();
  facts_.threads = simulation_->threads();
  facts_.executor = request_.executor == ExecutorKind::Threads ? "threads" : "in-order";
  facts_.checked = request_.checked;
  together(transport_, [&] {
    if (!root()) return;
    const FolderHandle& files = folder_->files();
    if (request_.restart) {
      const std::string before = files.has("provenance.json") ? files.read("provenance.json") : "{}";
      files.write("provenance.json", provenanceText(facts_, before, simulation_->clock().step()));
    } else {
      files.write("deck.toml", deck.text());
      files.write("provenance.json", provenanceText(facts_));
    }
    files.write("resolved.toml", simulation_->model().identity().deckText);
    files.remove("result.json");
  });
}

/// Rounded up: "0" would be read as none.
std::int64_t megabytes(std::int64_t bytes) { return (bytes + 999'999) / 1'000'000; }

void Job::announce(Recorder& recorder) const {
  const Model& model = simulation_->model();
  const Hierarchy& hierarchy = *model.hierarchy();
  const MemoryPlan planned = memoryPlanOf(simulation_->graphs());
  std::ostringstream out;
  out << "run folder " << runFolder_.string() << ": " << hierarchy.cellCount() << " cells in "
      << hierarchy.patchCount() << " patches, " << transport_.size() << " rank(s) of "
      << simulation_->threads() << " thread(s), " << megabytes(simulation_->data().allocatedBytes())
      << " MB of fields";
  if (planned.total() != planned.totalWithoutReuse())
    out << " (" << megabytes(planned.totalWithoutReuse()) << " without reuse)";
  out << (transport_.size() > 1 ? " on rank 0" : "");
  if (request_.restart) out << ", from step " << simulation_->clock().step();
  recorder.announce(out.str(), {{"folder", runFolder_.string()},
                                {"restart", request_.restart},
                                {"step", simulation_->clock().step()},
                                {"cells", hierarchy.cellCount()},
                                {"patches", hierarchy.patchCount()},
                                {"ranks", transport_.size()},
                                {"threads", simulation_->threads()}});
}

bool claimFailure(const Job& job, const Error& error) {
  const Simulation* simulation = job.simulation();
  RunState state;
  if (simulation != nullptr) state = {simulation->clock().step(), simulation->clock().time()};
  return claimFailure(job.runFolder(), error, state);
}

/// What a rank does whose step failed, while the others may wait for it: says why, once a job, and ends the
/// job.
int endJob(const Job& job, Transport& transport) {
  const Error error = currentError();
  const bool first = job.runFolder().empty() || claimFailure(job, error);
  if (first) printError(error);
  if (transport.size() > 1) noteExitCode(error.exitCode());  // without a return to runTessera
  if (transport.size() > 1) {
    // Who speaks ends the job, but not before the launcher has passed on what was said: it drops that when it
    // kills.
    std::this_thread::sleep_for(first ? std::chrono::milliseconds(500) : std::chrono::seconds(5));
    transport.abort(error.exitCode());
  }
  return error.exitCode();
}

}  // namespace

int runCommand(const RunRequest& request, const ComponentRegistry& registry) {
  // A reader of the screen that has gone, or a limit on file sizes, is an error of the write and no death of
  // the run.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const MpiSession mpi;
  MpiTransport transport;
  Job job(request, registry, transport);
  try {
    return job.run();
  } catch (const AgreedError& error) {
    if (transport.rank() == 0) {
      if (job.simulation() != nullptr && !job.runFolder().empty()) claimFailure(job, error);
      printError(error);
    }
    return error.exitCode();
  } catch (...) {
    return endJob(job, transport);
  }
}

}  // namespace tessera
