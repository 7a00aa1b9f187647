#include "scheduler/step_runner.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "core/text/contracts.hpp"
#include "scheduler/assignment/cost_balance.hpp"
#include "scheduler/device_step/lane_standby.hpp"
#include "scheduler/step/graph_run.hpp"

namespace tessera {

namespace {

using Clock = std::chrono::steady_clock;

/// Adds the time of a scope to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  ~Stopwatch() { sum_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  const Clock::time_point begin_ = Clock::now();
};

/// One patch among all.
double smallestPart(const CompiledGraphs& graphs) {
  return 1.0 / static_cast<double>(std::max<std::int64_t>(graphs.ownPatchCount(), 1));
}

}  // namespace

struct StepRunner::State {
  const CompiledGraphs& graphs;
  DataWarehouse& data;
  Transport& transport;
  Executor& executor;
  const RunnerOptions options;
  std::unique_ptr<detail::RankDevices> devices;  ///< null where none is in use
  std::optional<DeviceAccess> access{};          ///< to the first of them
  std::unique_ptr<detail::DeadlockDetector> talk = nullptr;
  std::vector<std::unique_ptr<detail::GraphRun>> runs{};
  std::vector<std::unique_ptr<Replay>> replays{};  ///< of `runs`
  StepStatistics statistics{};
  std::unique_ptr<detail::LaneStandby> standby = nullptr;
  std::size_t running = 0;                                 ///< plan, for the standby thread
  std::unique_ptr<detail::CostBalance> balance = nullptr;  ///< where cost decides on places
  double runSeconds = 0.0;                                 ///< in runs since the last call of `balance`
  double hostSeconds = 0.0;                                ///< of workers, up to that call

  void replace(double hostPart);
  void replay(std::size_t plan, const StepInputs& inputs, bool ahead);
  void count(const detail::GraphRun& run);
};

StepRunner::StepRunner(const CompiledGraphs& graphs, DataWarehouse& data, Transport& transport,
                       Executor& executor, RunnerOptions options)
    : state_(new State{graphs, data, transport, executor, std::move(options), nullptr}) {
  const RunnerOptions& wanted = state_->options;
  if (wanted.devices.kind != DeviceKind::None) {
    TESSERA_EXPECT(!wanted.stepsOverlap, "use devices without overlap of steps");
    state_->devices = std::make_unique<detail::RankDevices>(graphs, data, wanted.devices, wanted.trace);
    if (const auto access = state_->devices->access()) state_->access.emplace(*access);
  }
  if (!wanted.connectLater) connect();
}

void StepRunner::connect() {
  State& state = *state_;
  TESSERA_EXPECT(state.runs.empty(), "connect a runner once");
  state.talk = detail::DeadlockDetector::between(state.transport);
  const DeviceOptions& devices = state.options.devices;
  for (std::size_t plan = 0; plan < state.graphs.plans.size(); ++plan) {
    state.runs.push_back(std::make_unique<detail::GraphRun>(state.graphs, plan, state.data, state.transport,
                                                            state.options, state.executor.threads(),
                                                            state.devices.get()));
    state.runs.back()->setTalk(state.talk.get());
    state.replays.push_back(state.executor.prepare(*state.runs.back()));
  }
  if (!state.devices) return;
  state.devices->pin(state.data.memory());
  if (devices.placement == DevicePlacement::Cost) {
    state.balance =
        std::make_unique<detail::CostBalance>(state.executor.threads(), smallestPart(state.graphs));
  }
  if (devices.standbyThread) {
    state.standby =
        std::make_unique<detail::LaneStandby>([&state] { state.runs[state.running]->devices().serve(); });
  }
}

StepRunner::~StepRunner() {
  state_->standby.reset();
  if (state_->devices) state_->devices->unpin();
}

const StepResult& StepRunner::run(std::size_t plan, const StepInputs& inputs) {
  state_->replay(plan, inputs, false);
  return result(plan);
}

void StepRunner::runAhead(std::size_t plan, const StepInputs& inputs) {
  state_->replay(plan, inputs, state_->options.stepsOverlap);
}

const StepResult& StepRunner::result(std::size_t plan) {
  const Stopwatch watch(state_->runSeconds);
  return state_->runs.at(plan)->waitForResult();
}

void StepRunner::balance() {
  State& state = *state_;
  if (!state.balance) return;
  if (state.balance->endsWindow()) {
    const Stopwatch watch(state.runSeconds);
    waitForDevices();
  }
  const double host = state.statistics.taskSeconds + state.statistics.messageSeconds;
  const double seconds = std::exchange(state.runSeconds, 0.0);
  const double before = std::exchange(state.hostSeconds, host);
  if (state.balance->stepped(seconds, host - before, state.devices->hostPart())) {
    state.replace(state.balance->part());
  }
}

void StepRunner::placeOnHost(double part) {
  TESSERA_EXPECT(state_->balance, "move patches between host and devices where placement is by cost");
  waitForDevices();
  state_->replace(part);
}

CostReport StepRunner::costReport() const {
  CostReport report;
  if (!state_->balance) return report;
  report.used = true;
  report.settled = state_->balance->settled();
  report.hostPart = state_->devices->hostPart();
  report.trialSteps = state_->balance->trialSteps();
  for (const detail::ShareTrial& trial : state_->balance->search().trials()) {
    report.trials.emplace_back(trial.part, trial.stepSeconds);
  }
  return report;
}

/// Values that were written under the old places are brought where the new ones read them when a plan runs.
void StepRunner::State::replace(double hostPart) {
  for (const auto& side : devices->sides()) {
    side->lane.synchronize();
    side->lane.forget();
  }
  replays.clear();
  for (const auto& run : runs) run->leavePlaces();
  devices->place(hostPart);
  for (const auto& run : runs) {
    run->takePlaces(*devices);
    replays.push_back(executor.prepare(*run));
  }
}

std::span<const double> StepRunner::control(std::size_t plan) const {
  return state_->runs.at(plan)->result().control;
}

void StepRunner::State::replay(std::size_t plan, const StepInputs& inputs, bool ahead) {
  TESSERA_EXPECT(plan < runs.size(), "run one of the compiled plans");
  TESSERA_EXPECT(inputs.control.size() <= detail::StepResults::kMaxControls,
                 "give at most 16 control numbers");
  const Stopwatch watch(runSeconds);
  detail::GraphRun& run = *runs[plan];
  detail::GraphRun::Earlier earlier;
  if (inputs.lateDt && options.stepsOverlap) earlier = runs.at(inputs.dtFrom)->latest();
  if (inputs.lateDt && !options.stepsOverlap) {
    StepInputs known = inputs;
    known.dt = inputs.lateDt(runs.at(inputs.dtFrom)->waitForResult());
    run.begin(known, ahead, earlier);
  } else {
    run.begin(inputs, ahead, earlier);
  }
  running = plan;
  if (standby) standby->begin();
  try {
    const NvtxScope shown = run.shownAs(inputs.shownStep);
    replays[plan]->run();
  } catch (...) {
    if (standby) standby->end();
    run.giveUp();
    throw;
  }
  if (standby) standby->end();
  run.end();
  count(run);
}

void StepRunner::State::count(const detail::GraphRun& run) {
  StepStatistics& s = statistics;
  const CompiledGraph& graph = run.graph();
  ++s.steps;
  s.tasks += run.taskCount();
  s.messages += static_cast<std::int64_t>(graph.sends.size());
  for (const MessagePlan& message : graph.sends) s.messageBytes += message.bytes;
  s.taskSeconds = 0.0;
  s.messageSeconds = 0.0;
  s.graphCaptures = s.graphReplays = s.graphBodies = 0;
  for (const auto& r : runs) {
    for (const auto& device : r->devices().runs()) {
      const detail::ReplayCounts counts = device->replayCounts();
      s.graphCaptures += counts.captures;
      s.graphReplays += counts.replays;
      s.graphBodies += counts.bodiesCalled;
    }
    s.taskSeconds += r->taskSeconds();
    s.messageSeconds += r->messageSeconds();
  }
  s.waitSeconds = executor.waitSeconds();
}

void StepRunner::promote(std::span<const LevelLabel> what) { state_->data.promote(what); }

void StepRunner::copyToHost(std::span<const LabelId> labels, Generation generation) {
  if (!state_->devices) return;
  state_->runs.front()->devices().copyToHost(generation, labels);
  state_->runs.front()->devices().expectNothingFound();
}

void StepRunner::copyToDevices(std::span<const LabelId> labels, Generation generation) {
  if (!state_->devices) return;
  state_->runs.front()->devices().copyToDevices(generation, labels);
}

const DeviceAccess* StepRunner::deviceAccess() const { return state_->access ? &*state_->access : nullptr; }

void StepRunner::waitForDevices() {
  if (!state_->devices) return;
  for (const auto& side : state_->devices->sides()) side->lane.synchronize();
  state_->runs.front()->devices().expectNothingFound();
}

std::optional<StepMoment> StepRunner::failedAt() const {
  for (const auto& run : state_->runs) {
    if (const auto moment = run->devices().failedAt()) return moment;
  }
  return std::nullopt;
}

std::vector<DeviceInfo> StepRunner::devices() const {
  std::vector<DeviceInfo> devices;
  if (!state_->devices) return devices;
  for (const auto& side : state_->devices->sides()) devices.push_back(side->backend->info());
  return devices;
}

std::vector<std::string> StepRunner::notices() const {
  std::vector<std::string> lines;
  for (const auto& run : state_->runs) {
    for (const auto& device : run->devices().runs()) {
      const std::string& line = device->whyNoGraphs();
      if (!line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
  }
  return lines;
}

DevicePagingCounts StepRunner::devicePaging() const {
  DevicePagingCounts sum;
  if (!state_->devices) return sum;
  for (const auto& side : state_->devices->sides()) sum += side->paging();
  return sum;
}

std::vector<DeviceMemoryUse> StepRunner::deviceMemory() const {
  std::vector<DeviceMemoryUse> uses;
  if (!state_->devices) return uses;
  for (const auto& side : state_->devices->sides()) uses.push_back(memoryUseOf(state_->graphs, side->store));
  return uses;
}

const StepStatistics& StepRunner::statistics() const { return state_->statistics; }

PatchCosts StepRunner::patchCosts() const {
  PatchCosts costs{std::vector<double>(state_->graphs.ownPatches.size(), 0.0), 0.0};
  for (const auto& run : state_->runs) run->addTaskTicks(costs.seconds, costs.elsewhere);
  const double ticks = std::accumulate(costs.seconds.begin(), costs.seconds.end(), costs.elsewhere);
  const double secondsPerTick = ticks > 0.0 ? state_->statistics.taskSeconds / ticks : 0.0;
  for (double& patch : costs.seconds) patch *= secondsPerTick;
  costs.elsewhere *= secondsPerTick;
  return costs;
}

}  // namespace tessera
