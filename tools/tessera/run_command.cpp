#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <thread>

#include "core/memory/grown_heap.hpp"
#include "core/profile/kokkos_annotations.hpp"
#include "core/profile/nvtx_annotations.hpp"
#include "core/sha256.hpp"
#include "core/transport/loopback_transport.hpp"
#include "core/transport/mpi_session.hpp"
#include "core/transport/mpi_transport.hpp"
#include "scheduler/cores.hpp"
#include "tools/simulation/agreement.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/deck/restart_deck.hpp"
#include "tools/simulation/deck/shared_deck.hpp"
#include "tools/simulation/device_report.hpp"
#include "tools/simulation/job_totals.hpp"
#include "tools/simulation/memory_need.hpp"
#include "tools/simulation/recorder.hpp"
#include "tools/simulation/run_folder/job_note.hpp"
#include "tools/simulation/run_folder/provenance.hpp"
#include "tools/simulation/run_folder/run_checkpoints.hpp"
#include "tools/simulation/run_folder/run_folder.hpp"
#include "tools/simulation/run_folder/run_trace.hpp"
#include "tools/simulation/watch/forced_end.hpp"
#include "tools/simulation/watch/rank_watch.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/job/mpi_needs.hpp"
#include "tools/tessera/job/ranks_of_host.hpp"

namespace tessera {
namespace {

/// For provenance.json; a virtual run with its seed.
std::string nameOf(const RunRequest& request) {
  switch (request.executor) {
    case ExecutorKind::Threads:
      return "threads";
    case ExecutorKind::InOrder:
      return "in-order";
    case ExecutorKind::Virtual:
      return "virtual, seed " + std::to_string(request.seed);
  }
  return "";
}

/// Who may want to hear of tasks, one a process.
struct Profilers {
  KokkosAnnotations kokkos;
  NvtxAnnotations nvtx;
};

/// One run from its deck to its result, on one rank of the job.
class Job {
 public:
  /// `schedule`: of the virtual executor, else null. All outlive the job.
  Job(const RunRequest& request, const ComponentRegistry& registry, Transport& transport, StopRequests& stops,
      Profilers& profilers, VirtualSchedule* schedule = nullptr)
      : request_(request),
        registry_(registry),
        transport_(transport),
        stops_(stops),
        schedule_(schedule),
        profilers_(profilers) {}

  int run() {
    const std::unique_ptr<RankWatch> watch = watchOverWaits();
    requireNewTraceFile();
    if (request_.restart) reopenFolder();
    const Deck deck = sharedDeck(transport_, [this] { return readDeck(); });
    makeSimulation(deck);
    if (!request_.restart) makeFolder(deck);
    if (root()) noteRunFolder(runFolder_);
    forcedEndIn(runFolder_);
    // A failure in here is one rank's alone, which the folder knows of.
    simulation_->connect();
    askForDevices();
    writeFacts(deck);
    if (trace_) trace_->open(tracePath(), *simulation_);
    Recorder recorder(*simulation_, stops_,
                      {runFolder_, folder_ ? &*folder_ : nullptr, request_.screen, facts_.deckSha256, trace(),
                       devices_, earlierSettings()});
    announce(recorder);
    simulation_->run(recorder);
    if (trace_) {
      if (const std::string why = trace_->finish(); !why.empty()) recorder.lost("the trace", why);
    }
    return recorder.close(*simulation_);
  }

  /// For the message about a failure on this rank.
  const std::filesystem::path& runFolder() const { return runFolder_; }
  const Simulation* simulation() const { return simulation_ ? &*simulation_ : nullptr; }

 private:
  bool root() const { return transport_.rank() == 0; }
  Trace* trace() { return trace_ ? &trace_->trace() : nullptr; }
  void reopenFolder();
  void makeFolder(const Deck& deck);
  Deck readDeck() const;
  std::optional<RunSettings> earlierSettings() const;
  void makeSimulation(const Deck& deck);
  SimulationOptions simulationOptions();
  void endStalled(const std::string& page);
  std::unique_ptr<RankWatch> watchOverWaits();
  std::filesystem::path tracePath() const;
  void requireNewTraceFile() const;
  void askForDevices();
  void writeFacts(const Deck& deck);
  void announce(Recorder& recorder) const;

  const RunRequest& request_;
  const ComponentRegistry& registry_;
  Transport& transport_;
  StopRequests& stops_;
  VirtualSchedule* schedule_;
  Profilers& profilers_;
  std::optional<RunFolder> folder_;  ///< rank 0
  std::filesystem::path runFolder_;
  std::filesystem::path checkpoint_;
  std::optional<RunTrace> trace_;
  std::optional<Simulation> simulation_;
  RunFacts facts_;
  std::vector<std::string> devices_;  ///< of all ranks, as JSON
  WorkerPlan workers_;
  PlaceOnHost place_;
};

/// Takes the folder of the run to go on with, and chooses the checkpoint.
void Job::reopenFolder() {
  std::string path;
  std::string chosen;
  together(transport_, [&] {
    if (!root()) return;
    folder_.emplace(RunFolder::reopen(request_.target));
    path = folder_->path().string();
    chosen = chooseCheckpoint(path, request_.fromStep).path.string();
  });
  transport_.broadcast(path, 0);
  transport_.broadcast(chosen, 0);
  checkpoint_ = chosen;
  runFolder_ = path;
}

/// Of the process that wrote the checkpoint.
std::optional<RunSettings> Job::earlierSettings() const {
  if (!request_.restart) return std::nullopt;
  const CheckpointReader checkpoint = CheckpointReader::open(checkpoint_);
  const Deck before = Deck::fromText(checkpoint.identity().deckText, checkpoint_.string() + "/deck");
  return settingsOf(before, schemaFor(before, registry_));
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
    Deck deck =
        restartDeck(folder_->files(), CheckpointReader::open(checkpoint_), request_.overrides, registry_);
    Model::check(deck, registry_);
    return deck;
  }
  Deck deck = Deck::fromFile(request_.target);
  for (const std::string& assignment : request_.overrides) deck.set(assignment);
  const DeckDiagnostics findings = checkDeck(deck, registry_);
  findings.throwIfErrors();
  if (!findings.empty()) std::cerr << findings.text() << std::endl;
  Model::check(deck, registry_);
  return deck;
}

void Job::makeSimulation(const Deck& deck) {
  facts_.processes = linesOfAllRanks(transport_, processName());
  workers_ = workersOfThisRank(transport_, request_);
  if (request_.devices.kind == DeviceKind::Cuda) place_ = placeOnHost(transport_, request_, workers_.cores);
  if (request_.trace) trace_.emplace(transport_, workers_.threads, request_.traceEdges);
  RanksHere ranks{transport_.size(), 0};
  for (const std::string& process : facts_.processes) {
    ranks.here += process.substr(0, process.rfind(' ')) == hostName() ? 1 : 0;
  }
  // What may fail on one rank alone comes first, without a message to the others, and all hear how it went.
  together(transport_, [&] {
    requireFewThreads(workers_.threads);
    const Model model = Model(deck, registry_);
    requireMemory(model, ranks, MemoryHere());
    growHeap(bytesForPatches(model, ranks));
    SimulationOptions options = simulationOptions();
    options.connectLater = true;
    options.beforeMemory = [ranks](const CompiledGraphs& graphs) {
      requireMemory(graphs, ranks, MemoryHere());
    };
    options.beforeMesh = [this, ranks](const Hierarchy& mesh) {
      requireMemory(simulation_->model(), mesh, ranks, MemoryHere());
    };
    if (request_.restart) {
      simulation_.emplace(deck, registry_, transport_, options, CheckpointReader::open(checkpoint_));
    } else {
      simulation_.emplace(deck, registry_, transport_, options);
    }
    simulation_->model().outputLabels();
  });
}

SimulationOptions Job::simulationOptions() {
  SimulationOptions options;
  options.threads = workers_.threads;
  options.executor = request_.executor;
  options.checked = request_.checked;
  options.halos = request_.halos;
  options.caches = workers_.caches;
  options.schedule = schedule_;
  options.trace = trace();
  options.regions = profilers_.kokkos.active() ? &profilers_.kokkos : nullptr;
  options.nvtx = profilers_.nvtx.active() ? &profilers_.nvtx : nullptr;
  options.devices = devicesOf(request_.devices, place_.before, place_.distances);
  options.devices.emulated = request_.emulated;
  options.devices.standbyThread = request_.executor == ExecutorKind::Threads;
  if (schedule_ != nullptr) {
    options.devices.emulated.progress = EmulatedProgress::Stepped;
    options.devices.emulated.seed = request_.seed;
  }
  options.execution.cores = workers_.cores;
  options.execution.stallSeconds = request_.stallSeconds;
  options.sends = request_.sends;
  options.execution.onHopelessStall = [this](const std::string& page) { endStalled(page); };
  return options;
}

/// On the watchdog's thread, while the one that steps is inside a task that does not end: nobody can unwind
/// that.
void Job::endStalled(const std::string& page) {
  const InternalError error(page);
  std::optional<RunState> state;
  if (simulation_) state = RunState{simulation_->clock().step(), simulation_->clock().time()};
  const bool first = runFolder_.empty() || claimFailure(runFolder_, error, state);
  if (first) printError(error);
  std::cout.flush();
  noteExitCode(error.exitCode());  // without a return to runTessera
  if (transport_.size() == 1) std::_Exit(error.exitCode());
  std::this_thread::sleep_for(first ? std::chrono::milliseconds(500) : std::chrono::seconds(5));
  transport_.abort(error.exitCode());
}

/// In the run folder a name that is free: a restart leaves the traces before it.
std::filesystem::path Job::tracePath() const {
  if (!request_.traceFile.empty()) return request_.traceFile;
  std::string path;
  if (root()) path = freeTraceName(runFolder_).string();
  transport_.broadcast(path, 0);
  return path;
}

/// Before anything is done. All ranks call it.
void Job::requireNewTraceFile() const {
  if (!request_.trace || request_.traceFile.empty()) return;
  together(transport_, [&] {
    if (!root()) return;
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::symlink_status(request_.traceFile, error);
    if (status.type() == std::filesystem::file_type::not_found) return;
    if (!std::filesystem::exists(status)) {
      throw OutputError(
          Message("--trace=" + request_.traceFile.string() + " cannot be written: " + error.message())
              .line("fix  choose another name, or leave it out: the trace is in the run folder then")
              .text());
    }
    throw OutputError(
        Message("--trace=" + request_.traceFile.string() + " is there already, and nothing is overwritten")
            .line("fix  choose another name, or leave it out: the trace is in the run folder then")
            .text());
  });
}

/// Other ranks may write for long, so the patience is a multiple of that inside a step.
std::unique_ptr<RankWatch> Job::watchOverWaits() {
  constexpr double kPatience = 4.0;
  if (transport_.size() == 1 || request_.stallSeconds <= 0.0 || schedule_ != nullptr) return nullptr;
  return std::make_unique<RankWatch>(transport_, kPatience * request_.stallSeconds,
                                     [this](const std::string& page) { endStalled(page); });
}

/// All ranks call it.
void Job::askForDevices() {
  if (request_.devices.kind == DeviceKind::None) return;
  std::string mine;
  for (const UsedDevice& device : usedDevices(transport_.rank(), simulation_->devices(), workers_.cores)) {
    mine += (mine.empty() ? "" : "\n") + jsonOf(device);
  }
  devices_ = linesOfAllRanks(transport_, mine);
}

/// Writes down what is run, before the first step.
void Job::writeFacts(const Deck& deck) {
  facts_.devices = devices_;
  facts_.commandLine = request_.commandLine;
  facts_.deckName = deck.name();
  facts_.deckSha256 = sha256(deck.text());
  facts_.runId = simulation_->model().runId();
  facts_.overrides = deck.overrides();
  facts_.threads = simulation_->threads();
  facts_.executor = nameOf(request_);
  facts_.checked = request_.checked;
  together(transport_, [&] {
    if (!root()) return;
    const FolderHandle& files = folder_->files();
    if (request_.restart) {
      std::string before = "{}";
      try {
        if (files.has("provenance.json")) before = files.read("provenance.json");
        overridesIn(before);
      } catch (const InputError&) {
        before = "{}";  // damaged, as has been said
      }
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
  const Hierarchy& hierarchy = simulation_->hierarchy();
  const JobTotals totals = totalsOf(*simulation_);
  const PlannedMemory planned = plannedMemoryOf(*simulation_);
  std::ostringstream out;
  out << "run folder " << runFolder_.string() << ": " << hierarchy.cellCount() << " cells in "
      << hierarchy.patchCount() << " patches, " << transport_.size() << " rank(s) of "
      << simulation_->threads() << " thread(s)"
      << (workers_.cores.empty() ? "" : " bound to core(s) " + asText(workers_.cores))
      << (workers_.cores.empty() || transport_.size() == 1 ? "" : " on rank 0") << ", "
      << megabytes(totals.fieldBytes) << " MB of fields";
  if (planned.bytes != planned.withoutReuse)
    out << " (" << megabytes(planned.withoutReuse) << " without reuse)";
  if (request_.restart) out << ", from step " << simulation_->clock().step();
  std::vector<UsedDevice> devices;
  for (const std::string& line : devices_) devices.push_back(usedDeviceOf(line));
  if (!devices.empty()) {
    out << "\n"
        << asTable(devices) << "\n"
        << placesText(simulation_->graphs(), simulation_->deviceOptions());
  } else if (model.settings().devices.given) {
    out << "\n[device] of the deck has no effect without --device";
  }
  const std::vector<DeviceMemoryUse> uses = simulation_->deviceMemory();
  for (std::size_t n = 0; n < uses.size(); ++n) {
    out << "\n  device " << n << ": " << megabytes(uses[n].bytes) << " MB of fields, " << std::fixed
        << std::setprecision(2) << uses[n].overDistinct() << " of distinct bytes";
  }
  for (const std::string& notice : {profilers_.kokkos.notice(), profilers_.nvtx.notice()}) {
    if (!notice.empty()) recorder.warn(notice);
  }
  for (const std::string& notice : simulation_->deviceNotices()) recorder.warn(notice);
  recorder.announce(out.str(), {{"folder", runFolder_.string()},
                                {"restart", request_.restart},
                                {"step", simulation_->clock().step()},
                                {"cells", hierarchy.cellCount()},
                                {"patches", hierarchy.patchCount()},
                                {"ranks", transport_.size()},
                                {"threads", simulation_->threads()},
                                {"cores", asText(workers_.cores)}});
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

/// All ranks inside this process, one at a time, in an order that the seed gives.
int runVirtual(const RunRequest& request, const ComponentRegistry& registry) {
  prepareForcedEnd(0, 1);
  StopRequests stops(request.wallSeconds);
  const int ranks = request.ranks.value_or(1);
  Profilers profilers;
  VirtualSchedule schedule(ranks, request.seed);
  LoopbackOptions options;
  options.delaySeed = request.seed;
  options.whenBlocked = [&schedule] { schedule.pass(); };
  LoopbackWorld world(ranks, options);
  std::vector<std::optional<Job>> jobs(static_cast<std::size_t>(ranks));
  std::vector<int> codes(jobs.size(), 0);
  try {
    runRanks(world, schedule, [&](Transport& transport) {
      const auto rank = static_cast<std::size_t>(transport.rank());
      codes[rank] = jobs[rank].emplace(request, registry, transport, stops, profilers, &schedule).run();
    });
    stops.end();
    return codes.front();
  } catch (...) {
    const Error error = currentError();
    if (jobs.front() && !jobs.front()->runFolder().empty()) claimFailure(*jobs.front(), error);
    printError(error);
    stops.end();
    return error.exitCode();
  }
}

/// Ends every rank of the job that `transport` belongs to where this one fails.
int runOn(Transport& transport, StopRequests& stops, const RunRequest& request,
          const ComponentRegistry& registry) {
  Profilers profilers;
  Job job(request, registry, transport, stops, profilers);
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

int runWithMpi(const RunRequest& request, const ComponentRegistry& registry) {
  prepareForcedEnd(rankOfLauncher(), 1);
  // Before MPI starts, which takes a while, so that no wish to stop is lost; and again after it, because it
  // has handlers of its own.
  StopRequests stops(request.wallSeconds);
  requireFileSizeForMpi();
  const MpiSession mpi;
  stops.listen();
  MpiTransport transport;
  prepareForcedEnd(transport.rank(), transport.size());
  noteReady();
  const int exitCode = runOn(transport, stops, request, registry);
  stops.end();
  // The end of MPI may fail where the launcher has gone; that does not change how the run ended.
  noteExitCode(exitCode);
  return exitCode;
}

/// One process that no launcher has started needs no MPI, and nothing of what MPI needs.
int runAlone(const RunRequest& request, const ComponentRegistry& registry) {
  prepareForcedEnd(0, 1);
  StopRequests stops(request.wallSeconds);
  LoopbackWorld world(1);
  const int exitCode = runOn(world.transport(0), stops, request, registry);
  stops.end();
  return exitCode;
}

}  // namespace

void printError(const Error& error) {
  const std::string firstLine = error.message().substr(0, error.message().find('\n'));
  const bool hasPlace = firstLine.find(": error: ") != std::string::npos;
  std::cerr << (hasPlace ? "" : "tessera: error: ") << error.message() << std::endl;
}

int runCommand(const RunRequest& request, const ComponentRegistry& registry) {
  // A reader of the screen that has gone, or a limit on file sizes, is an error of the write and no death of
  // the run.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  if (request.executor == ExecutorKind::Virtual) return runVirtual(request, registry);
  return startedByLauncher() ? runWithMpi(request, registry) : runAlone(request, registry);
}

}  // namespace tessera
