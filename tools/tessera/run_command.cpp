#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <thread>

#include "core/profile/kokkos_regions.hpp"
#include "core/profile/nvtx_ranges.hpp"
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
#include "tools/simulation/forced_end.hpp"
#include "tools/simulation/job_totals.hpp"
#include "tools/simulation/recorder.hpp"
#include "tools/simulation/run_folder/job_note.hpp"
#include "tools/simulation/run_folder/provenance.hpp"
#include "tools/simulation/run_folder/run_checkpoints.hpp"
#include "tools/simulation/run_folder/run_folder.hpp"
#include "tools/simulation/run_folder/run_trace.hpp"
#include "tools/tessera/commands.hpp"

namespace tessera {
namespace {

/// One line of every rank, in rank order, on all ranks.
std::vector<std::string> linesOfAllRanks(Transport& transport, const std::string& line) {
  std::string joined;
  for (const std::string& other : transport.gather(line, 0)) joined += other + "\n";
  transport.broadcast(joined, 0);
  std::vector<std::string> lines;
  std::istringstream in(joined);
  for (std::string one; std::getline(in, one);) lines.push_back(one);
  return lines;
}

/// Shares the cores with those ranks that may use the same ones: a launcher may have given each its own.
WorkerPlan workersOfThisRank(Transport& transport, const RunRequest& request) {
  if (request.executor != ExecutorKind::Threads) return {};
  const AllowedCores allowed = allowedCores();
  const std::string mine = hostName() + " " + asText(allowed.cores);
  const std::vector<std::string> all = linesOfAllRanks(transport, mine);
  const auto before = std::count(all.begin(), all.begin() + transport.rank(), mine);
  const auto sharers = std::count(all.begin(), all.end(), mine);
  return planWorkers(allowed, static_cast<int>(before), static_cast<int>(sharers), request.threads,
                     request.bind);
}

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
  KernelRegions kokkos;
  NvtxRanges nvtx;
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
    if (request_.restart) reopenFolder();
    const Deck deck = sharedDeck(transport_, [this] { return readDeck(); });
    makeSimulation(deck);
    if (!request_.restart) makeFolder(deck);
    if (root()) noteRunFolder(runFolder_);
    forcedEndIn(runFolder_);
    askForDevices();
    writeFacts(deck);
    if (trace_)
      trace_->open(request_.traceFile.empty() ? runFolder_ / "trace.json.gz" : request_.traceFile,
                   *simulation_);
    Recorder recorder(
        *simulation_, stops_,
        {runFolder_, folder_ ? &*folder_ : nullptr, request_.screen, facts_.deckSha256, trace(), devices_});
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
  void makeSimulation(const Deck& deck);
  void findPlaceOnHost();
  SimulationOptions simulationOptions();
  void endStalled(const std::string& page);
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
  std::int32_t placeOnHost_ = 0;             ///< ranks before this one on its host
  std::vector<std::vector<int>> distances_;  ///< of all ranks of its host, from its GPUs
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
  facts_.processes = linesOfAllRanks(transport_, processName());
  workers_ = workersOfThisRank(transport_, request_);
  if (request_.devices.kind == DeviceKind::Cuda) findPlaceOnHost();
  if (request_.trace) trace_.emplace(transport_, workers_.threads, request_.traceEdges);
  together(transport_, [&] {
    simulation_.emplace(deck, registry_, transport_, simulationOptions());
    simulation_->model().outputLabels();
    if (request_.restart) simulation_->restore(CheckpointReader::open(checkpoint_));
  });
}

/// Which ranks share the GPUs of this host, and how far they are from each.
void Job::findPlaceOnHost() {
  const std::string host = hostName();
  std::string mine = host;
  together(transport_, [&] {
    for (const int distance : distancesTo(request_.devices, workers_.cores)) {
      mine += " " + std::to_string(distance);
    }
  });
  const std::vector<std::string> all = linesOfAllRanks(transport_, mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::istringstream line(all[rank]);
    std::string name;
    line >> name;
    if (name != host) continue;
    if (static_cast<int>(rank) < transport_.rank()) ++placeOnHost_;
    std::vector<int>& distances = distances_.emplace_back();
    for (int distance = 0; line >> distance;) distances.push_back(distance);
  }
  const std::vector<int> own = distances_[static_cast<std::size_t>(placeOnHost_)];
  const bool alike = std::all_of(distances_.begin(), distances_.end(),
                                 [&](const auto& row) { return row.size() == own.size(); });
  if (alike) return;
  // The launcher has shown each rank other GPUs: what a rank sees is its own.
  distances_ = {own};
  placeOnHost_ = 0;
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
  options.devices = devicesOf(request_.devices, placeOnHost_, distances_);
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
  const bool first =
      runFolder_.empty() ||
      claimFailure(runFolder_, error, RunState{simulation_->clock().step(), simulation_->clock().time()});
  if (first) printError(error);
  std::cout.flush();
  noteExitCode(error.exitCode());  // without a return to runTessera
  if (transport_.size() == 1) std::_Exit(error.exitCode());
  std::this_thread::sleep_for(first ? std::chrono::milliseconds(500) : std::chrono::seconds(5));
  transport_.abort(error.exitCode());
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
    return codes.front();
  } catch (...) {
    const Error error = currentError();
    if (jobs.front() && !jobs.front()->runFolder().empty()) claimFailure(*jobs.front(), error);
    printError(error);
    return error.exitCode();
  }
}

int runWithMpi(const RunRequest& request, const ComponentRegistry& registry) {
  const MpiSession mpi;
  StopRequests stops(request.wallSeconds);
  MpiTransport transport;
  prepareForcedEnd(transport.rank(), transport.size());
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

}  // namespace

int runCommand(const RunRequest& request, const ComponentRegistry& registry) {
  // A reader of the screen that has gone, or a limit on file sizes, is an error of the write and no death of
  // the run.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return request.executor == ExecutorKind::Virtual ? runVirtual(request, registry)
                                                   : runWithMpi(request, registry);
}

}  // namespace tessera
