#include "tools/simulation/simulation.hpp"

#include <algorithm>
#include <chrono>

#include "core/text/contracts.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "tools/simulation/agreement.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/mesh/carry_over.hpp"
#include "tools/simulation/mesh/migrate.hpp"
#include "tools/simulation/program/solves_on_devices.hpp"

namespace tessera {
namespace {

std::unique_ptr<Executor> makeExecutor(const SimulationOptions& options, int rank) {
  if (options.executor == ExecutorKind::Virtual) return makeVirtualExecutor(*options.schedule, rank);
  return options.executor == ExecutorKind::InOrder ? makeInOrderExecutor(options.execution)
                                                   : makeThreadsExecutor(options.threads, options.execution);
}

/// The deck's word on devices is there once the model is.
SimulationOptions withDeck(const SimulationOptions& options, const Model& model) {
  SimulationOptions result = options;
  result.devices = model.settings().devices.over(options.devices);
  return result;
}

ScratchRule scratchRule(const SimulationOptions& options) {
  const CacheSizes& caches = options.caches;
  if (options.halos == HaloKeeping::Scratch) return {.above = 0};
  if (options.halos == HaloKeeping::InPlace || caches.core == 0) return {};
  // Beyond half of them what is read and what is written drive one another out.
  return {.above = caches.shared / 2, .largestWindow = caches.core / 2};
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Simulation::Simulation(const Deck& deck, const ComponentRegistry& registry, Transport& transport,
                       SimulationOptions options, const CheckpointReader* checkpoint)
    : transport_(transport),
      // The oracle takes one step after the other; on one rank there is nothing to wait for.
      // With devices the next step's length has to be there before it is launched.
      stepsOverlap_(transport.size() > 1 && options.executor != ExecutorKind::InOrder &&
                    options.devices.kind == DeviceKind::None),
      model_(deck, registry),
      options_(withDeck(options, model_)),
      clock_(model_.settings().time),
      executor_(makeExecutor(options, transport.rank())),
      balance_(model_.settings().balance, model_.stepsOfLevels(), model_.settings().subcycles, transport,
               executor_->threads()) {
  const auto start = std::chrono::steady_clock::now();
  model_.prepareExpressions(executor_->threads());
  if (model_.following() != nullptr) regridding_.emplace(*model_.following(), transport_);
  state_ = compile(checkpoint != nullptr ? model_.meshOf(*checkpoint, transport.size())
                                         : model_.meshOfDeck(transport.size()));
  compilesAtStart_ = compiles_;
  makeData(*state_, {});
  makeRunner(*state_);
  meshSeconds_ = secondsSince(start);
  if (checkpoint != nullptr) restore(*checkpoint);
  balance_.takeSecondsFrom(options_.secondsOfPatch);
  balance_.standsOn(state_->mesh, clock_.step());
  if (!options_.connectLater) connect();
}

void Simulation::connect() { state_->runner->connect(); }

std::unique_ptr<MeshState> Simulation::compile(OwnedMesh mesh) {
  StoragePolicy storage{options_.reuse, WindowSharing::On, scratchRule(options_)};
  if (options_.devices.kind != DeviceKind::None) storage = withDevices(storage, options_.devices);
  auto state = std::make_unique<MeshState>();
  state->mesh = std::move(mesh);
  state->graphs =
      model_.compile(state->mesh, transport_.rank(), transport_.size(), transport_.tagBound(), storage);
  compiles_ += static_cast<std::int64_t>(state->graphs.plans.size());
  if (options_.beforeMemory) options_.beforeMemory(state->graphs);
  return state;
}

void Simulation::makeData(MeshState& state, Inheritance inheritance) const {
  state.data = makeDataWarehouse(
      state.graphs, options_.threads, options_.execution.cores,
      options_.devices.kind == DeviceKind::None ? MemoryPieces::CacheLines : MemoryPieces::Pages,
      inheritance);
}

void Simulation::makeRunner(MeshState& state) {
  state.runner = std::make_unique<StepRunner>(
      state.graphs, *state.data, transport_, *executor_,
      RunnerOptions{.checked = options_.checked,
                    .sends = options_.sends,
                    .findNonFinite = options_.findNonFinite,
                    .regions = options_.regions,
                    .nvtx = options_.nvtx,
                    .stepsOverlap = stepsOverlap_,
                    .trace = options_.trace,
                    .devices = withMemoryForSolves(options_.devices, model_.programs(),
                                                   model_.settings().solver.options, *state.mesh.hierarchy),
                    .connectLater = true});
  state.program = std::make_unique<ProgramRun>(
      state.graphs, *state.data, *state.runner, transport_,
      ProgramRun::Options{
          .devices = options_.devices.kind != DeviceKind::None,
          .stallSeconds = options_.execution.stallSeconds,
          .onStall = options_.execution.onHopelessStall,
          .runPlan = [this](std::size_t plan, const StepInputs& inputs) { runPlan(plan, inputs); },
          .mesh = &state.mesh,
          .solver = model_.settings().solver,
          .solves = &solves_,
          .trace = options_.trace});
}

/// The largest stable step is that of the values, which stay: it is taken over.
void Simulation::adopt(OwnedMesh mesh) {
  const auto start = std::chrono::steady_clock::now();
  expectSameCells(hierarchy(), *mesh.hierarchy);
  MigrationPlan plan;
  std::unique_ptr<MeshState> next = prepare(std::move(mesh), FreshIndices::Refused, plan);
  standOn(std::move(next), plan);
  meshSeconds_ = secondsSince(start);
}

std::unique_ptr<MeshState> Simulation::prepare(OwnedMesh mesh, FreshIndices fresh, MigrationPlan& plan) {
  std::unique_ptr<MeshState> next;
  together(transport_, [&] {
    if (options_.beforeMesh) options_.beforeMesh(*mesh.hierarchy);
    next = compile(std::move(mesh));
    plan = planMigration(state_->mesh, next->mesh, keptOn(next->graphs, model_.persistent()), model_.labels(),
                         transport_.rank(), fresh);
  });
  return next;
}

void Simulation::standOn(std::unique_ptr<MeshState> next, const MigrationPlan& plan) {
  comeToRest();
  state_->program.reset();
  state_->runner.reset();
  const std::vector<DataWarehouse::OldValues> needed = sourcesOf(plan);
  together(transport_, [&] { makeData(*next, {state_->data.get(), needed}); });
  migrate(plan, *state_->data, *next->data, transport_);
  state_->data.reset();
  together(transport_, [&] { makeRunner(*next); });
  state_ = std::move(next);
  balance_.standsOn(state_->mesh, clock_.step());
  connect();
}

double Simulation::imbalance(LevelId level) const {
  return imbalanceOf(hierarchy(), mesh().owners, costsByCells(hierarchy(), model_.stepsOfLevels()),
                     transport_.size(), level);
}

void Simulation::measure() { balance_.measure(state_->mesh, state_->graphs, patchCosts(), clock_.step()); }

void Simulation::rebalance(RunListener& listener) {
  if (!balance_.isDue(clock_.step())) return;
  settle();
  measure();
  std::optional<RankMap> owners = balance_.betterOwners(state_->mesh, meshSeconds_);
  if (!owners) return;
  const BalanceLook look = balance_.look();
  adopt({state_->mesh.hierarchy, std::move(*owners)});
  balance_.count(meshSeconds_);
  listener.rebalanced(*this, look, meshSeconds_);
}

std::optional<OwnedMesh> Simulation::wantedMesh() {
  const std::size_t plan = model_.planNamed(MeshFollowing::kFlagPlan);
  runPlan(plan, inputsOf(plan, {}));
  const auto flagged = static_cast<std::size_t>(model_.following()->flaggedCells().id);
  std::shared_ptr<const Hierarchy> next =
      regridding_->nextMesh(hierarchy(), state_->runner->result(plan).reductions[flagged]);
  if (next == nullptr) return {};
  if (balance_.measures()) measure();
  RankMap owners = balance_.ownersOf(*next);
  return OwnedMesh{std::move(next), std::move(owners)};
}

std::string Simulation::refusalOf(const Hierarchy& mesh) const {
  const std::optional<std::int64_t>& most = model_.following()->settings().maxCells;
  if (most && mesh.cellCount() > *most)
    return "the next mesh would have " + std::to_string(mesh.cellCount()) +
           " cells, more than amr.max_cells = " + std::to_string(*most);
  if (mesh.patchCount() > kMaxPatches)
    return "the next mesh would have " + std::to_string(mesh.patchCount()) + " patches, more than " +
           std::to_string(kMaxPatches) + "; make amr.tile larger";
  return {};
}

/// Each round finds where the next finer level has to be; values of it are those of the initial condition.
void Simulation::followInitial(std::span<const double> control) {
  for (std::size_t round = 1; round < hierarchy().levels().size(); ++round) {
    regridding_->begin();
    std::optional<OwnedMesh> mesh = wantedMesh();
    if (!mesh) return;
    if (const std::string refusal = refusalOf(*mesh->hierarchy); !refusal.empty())
      throw AgreedError(ErrorKind::Usage,
                        Message(refusal + ", at the start of the run")
                            .line("fix  allow more, or let [[amr.criterion]] flag fewer cells")
                            .text());
    MigrationPlan plan;
    std::unique_ptr<MeshState> next = prepare(std::move(*mesh), FreshIndices::Listed, plan);
    standOn(std::move(next), plan);
    runInitial(control);
  }
}

bool Simulation::regrid(RunListener& listener) {
  const auto start = std::chrono::steady_clock::now();
  settle();
  std::optional<OwnedMesh> mesh = wantedMesh();
  if (mesh) {
    std::string refusal = refusalOf(*mesh->hierarchy);
    MigrationPlan plan;
    std::unique_ptr<MeshState> next;
    try {
      if (refusal.empty()) next = prepare(std::move(*mesh), FreshIndices::Listed, plan);
    } catch (const AgreedError& error) {
      refusal = error.message();
    }
    if (!refusal.empty()) {
      regridding_->takeBack();
      listener.stoppedByMesh(*this, refusal);
      return false;
    }
    standOn(std::move(next), plan);
    model_.following()->newCells().take(plan);
    const std::size_t carry = model_.planNamed(MeshFollowing::kCarryPlan);
    runPlan(carry, inputsOf(carry, {}));
    takeStableDt(state_->runner->result(carry));
    regridding_->countChange();
  }
  const double seconds = secondsSince(start);
  if (mesh) meshSeconds_ = seconds;
  const std::string storm = regridding_->addSeconds(seconds);
  if (!storm.empty()) listener.warned(storm);
  if (mesh) listener.regridded(*this, seconds);
  return true;
}

void Simulation::comeToRest() {
  settle();
  if (diagnoses_) keptDiagnosis_ = diagnosis();
  for (std::size_t plan = 0; plan < state_->graphs.plans.size(); ++plan) state_->runner->result(plan);
  dataOnHost(model_.persistent());
  waitForDevices();
  // A trace names nodes by the graphs of the moment.
  if (options_.trace != nullptr) options_.trace->flush();
  earlierLevels_ = levelSeconds();
  earlier_ = statistics();
  earlierPaging_ = devicePaging();
  earlierPaging_.neededBytes = earlierPaging_.limitBytes = 0;
}

StepStatistics Simulation::statistics() const {
  StepStatistics sum = state_->runner->statistics();
  sum.steps += earlier_.steps;
  sum.tasks += earlier_.tasks;
  sum.messages += earlier_.messages;
  sum.messageBytes += earlier_.messageBytes;
  sum.taskSeconds += earlier_.taskSeconds;
  sum.messageSeconds += earlier_.messageSeconds;
  // The executor counts, which stays.
  sum.waitSeconds = std::max(sum.waitSeconds, earlier_.waitSeconds);
  sum.graphCaptures += earlier_.graphCaptures;
  sum.graphReplays += earlier_.graphReplays;
  sum.graphBodies += earlier_.graphBodies;
  return sum;
}

std::vector<double> Simulation::levelSeconds() const {
  const PatchCosts costs = patchCosts();
  std::vector<double> seconds = earlierLevels_;
  seconds.resize(hierarchy().levels().size(), 0.0);
  for (std::size_t local = 0; local < costs.seconds.size(); ++local) {
    const PatchId patch = state_->graphs.ownPatches[local];
    if (patch >= 0) seconds[static_cast<std::size_t>(hierarchy().patch(patch).level)] += costs.seconds[local];
  }
  return seconds;
}

DevicePagingCounts Simulation::devicePaging() const {
  DevicePagingCounts sum = state_->runner->devicePaging();
  return sum += earlierPaging_;
}

CheckpointIdentity Simulation::identity() const {
  CheckpointIdentity identity = model_.identity();
  identity.mesh = state_->mesh.hierarchy;
  return identity;
}

bool Simulation::run(RunListener& listener) {
  try {
    return runSteps(listener);
  } catch (const AgreedError&) {
    listener.brokenOff(*this);
    throw;
  }
}

bool Simulation::runSteps(RunListener& listener) {
  std::vector<double> control;
  const auto take = [&] {
    const std::span<const double> combined =
        wasProgram_ ? state_->program->control() : state_->runner->control(lastPlan_);
    control.assign(combined.begin(), combined.end());
  };
  if (!restored_) {
    initialise(listener.control());
    take();
  }
  if (listener.began(*this, restored_, control)) return false;

  while (!clock_.finished()) {
    if (regridding_ && regridding_->isDue(clock_.step()) && !regrid(listener)) return false;
    rebalance(listener);
    step(listener.control(), listener);
    take();
    const bool enough = listener.stepped(*this, control);
    if (enough || clock_.finished()) {
      settle();
      waitForDevices();
    }
    if (enough) return false;
  }
  listener.finished(*this);
  return true;
}

void Simulation::initialise(std::span<const double> control) {
  runInitial(control);
  if (regridding_) followInitial(control);
}

void Simulation::runInitial(std::span<const double> control) {
  lastPlan_ = stablePlan_ = static_cast<std::size_t>(PlanId::Initial);
  runPlan(lastPlan_, inputsOf(lastPlan_, control));
  takeStableDt(state_->runner->result(lastPlan_));
}

/// Where the last step's reductions are under way, this one's length comes from them, beside its first tasks.
void Simulation::step(std::span<const double> control, RunListener& listener) {
  const StepProgram& program = nextProgram();
  const bool isOnePlan = program.isOnePlan();
  const std::size_t first =
      isOnePlan ? model_.planNamed(program.plans().front()) : static_cast<std::size_t>(PlanId::Step);
  // What the last step has begun to reduce is finished by it or by the next step of the same plan.
  const bool isLeftOpen = isAhead_ && first != lastPlan_ && !clock_.needsStableDt();
  if (isLeftOpen || !ProgramRun::takesLateDt(program)) settle();
  StepInputs inputs = inputsOf(first, control);
  if (isAhead_ && clock_.needsStableDt()) {
    inputs.dtFrom = stablePlan_;
    inputs.lateDt = [this](const StepResult& before) {
      takeStableDt(before);
      next_ = nextStep();
      return next_.dt;
    };
  } else {
    next_ = nextStep();
    inputs.dt = next_.dt;
  }
  wasProgram_ = !isOnePlan;
  if (isOnePlan) {
    expectWhole(program, first);
    runPlan(first, inputs);
    lastPlan_ = stablePlan_ = first;
  } else {
    takeProgram(program, std::move(inputs), listener);
  }
  clock_.take(next_);
  for (const Level& level : hierarchy().levels())
    cellSteps_ += static_cast<double>(level.cellCount()) * model_.stepsOfLevel(level.number());
  isAhead_ = true;
  try {
    state_->runner->balance();
  } catch (...) {
    fail(lastPlan_, currentError());
  }
}

void Simulation::takeProgram(const StepProgram& program, StepInputs inputs, RunListener& listener) {
  for (std::int64_t tries = 0;; ++tries) {
    const std::string cause = state_->program->step(program, inputs);
    for (const std::string& text : solves_.takeWarnings()) listener.warned(text);
    if (cause.empty()) break;
    listener.retaken(retry(cause, tries));
    inputs.dt = next_.dt;
    inputs.lateDt = {};
    inputs.control = {};
  }
  lastPlan_ = state_->program->lastPlan();
  stablePlan_ = state_->program->contributor(model_.stableDt()).value_or(lastPlan_);
}

StepRetry Simulation::retry(const std::string& cause, std::int64_t triesBefore) {
  const std::int64_t retries = model_.settings().time.retries;
  const auto number = stepNumber(static_cast<std::size_t>(PlanId::Step));
  if (triesBefore >= retries || state_->program->hasPromoted()) {
    Message message("the step is refused: " + cause);
    message.line("step    ", number, ", t = ", clock_.time()).line("length  ", next_.dt);
    if (triesBefore > 0)
      message.line("tried   ", triesBefore + 1, " times, each half as long as the time before");
    message.line("fix     ", triesBefore > 0 ? "look at the state before it, or allow more with time.retries"
                             : state_->program->hasPromoted()
                                 ? "take shorter steps (time.cfl, time.dt_max)"
                                 : "take shorter steps, or let them be taken again with time.retries");
    throw AgreedError(ErrorKind::Numerical, message.text());
  }
  StepRetry retry{number, clock_.time(), cause, next_.dt, 0.0};
  try {
    next_ = clock_.halved(next_);
  } catch (const Error& error) {
    throw AgreedError(error.kind(), error.message());
  }
  retry.dt = next_.dt;
  return retry;
}

/// A plan that needs what earlier items of a program leave is no step by itself.
void Simulation::expectWhole(const StepProgram& program, std::size_t plan) const {
  const CompiledGraph& graph = state_->graphs.plans[plan];
  const bool reads = std::any_of(graph.plan->tasks().begin(), graph.plan->tasks().end(),
                                 [](const TaskDeclaration& task) { return !task.readsReduced.empty(); });
  if (graph.carried.empty() && !reads) return;
  throw AgreedError(ErrorKind::Internal,
                    Message("a plan that needs what other items of a step program leave is chosen as a step")
                        .line("plan  ", program.name())
                        .line("fix   let choosePlan() name a program that runs it")
                        .text());
}

void Simulation::settle() {
  if (!isAhead_) return;
  takeStableDt(state_->runner->result(stablePlan_));
  isAhead_ = false;
}

void Simulation::takeStableDt(const StepResult& result) {
  clock_.setStableDt(result.reductions[static_cast<std::size_t>(model_.stableDt().id)]);
}

/// All ranks know the same of the next step, so they also fail together.
NextStep Simulation::nextStep() const {
  try {
    return clock_.next();
  } catch (const Error& error) {
    throw AgreedError(error.kind(), error.message());
  }
}

/// All ranks choose the same, and fail together where they cannot.
const StepProgram& Simulation::nextProgram() const {
  try {
    return model_.stepProgram(clock_.at());
  } catch (const Error& error) {
    throw AgreedError(error.kind(), error.message());
  }
}

std::vector<double> Simulation::diagnose() {
  startDiagnosis();
  return diagnosis();
}

void Simulation::startDiagnosis() {
  if (model_.diagnostics().empty()) return;
  constexpr auto kPlan = static_cast<std::size_t>(PlanId::Diagnostics);
  StepInputs inputs = inputsOf(kPlan, {});
  inputs.dt = clock_.dt();
  runPlan(kPlan, inputs);
  solveNumbers_.clear();
  for (const Diagnostic& column : model_.diagnostics()) {
    const SolveTotals solve = solves_.of(column.solve);
    solveNumbers_.push_back(column.number == SolveNumber::Iterations
                                ? static_cast<double>(solve.lastIterations)
                                : solve.lastResidual);
  }
  diagnoses_ = true;
  keptDiagnosis_.clear();
}

std::vector<double> Simulation::diagnosis() {
  const std::vector<Diagnostic>& wanted = model_.diagnostics();
  if (wanted.empty()) return {};
  diagnoses_ = false;
  if (!keptDiagnosis_.empty()) return keptDiagnosis_;
  const StepResult& result = state_->runner->result(static_cast<std::size_t>(PlanId::Diagnostics));
  std::vector<double> values;
  values.reserve(wanted.size());
  for (const Diagnostic& diagnostic : wanted) {
    if (!diagnostic.solve.empty()) {
      values.push_back(solveNumbers_[values.size()]);
      continue;
    }
    double reduced = result.reductions[static_cast<std::size_t>(diagnostic.reduction.id)];
    if (diagnostic.per) reduced /= result.reductions[static_cast<std::size_t>(diagnostic.per->id)];
    values.push_back(diagnostic.show ? diagnostic.show(reduced) : reduced);
  }
  return values;
}

void Simulation::restore(const CheckpointReader& checkpoint) {
  std::vector<std::byte> packed;
  DataWarehouse& data = *state_->data;
  for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
    if (data.ownPatches()[local] < 0) continue;  // a spare slot
    const Patch& patch = hierarchy().patch(data.ownPatches()[local]);
    for (const LabelId label : model_.persistent()) {
      if (!data.has(label, local)) continue;
      const LabelInfo& info = model_.labels().info(label);
      const Box owned = data.ownedBox(label, local);
      expectBlock(checkpoint, {info.name, info.type, info.centering, patch.level, patch.id, owned});
      packed.resize(static_cast<std::size_t>(owned.volume() * info.type.bytes()));
      checkpoint.readBlock(info.name, patch.level, patch.id, packed);
      data.unpackOwned(label, local, packed);
    }
  }
  clock_.restore(checkpoint.state());
  if (regridding_) regridding_->restore(checkpoint.state());
  restored_ = true;
}

void Simulation::save(CheckpointState& state) const {
  clock_.save(state);
  if (regridding_) regridding_->save(state);
}

StepInputs Simulation::inputsOf(std::size_t plan, std::span<const double> control) const {
  StepInputs inputs;
  inputs.time = clock_.time();
  inputs.step = clock_.step();
  inputs.control = control;
  inputs.shownStep = stepNumber(plan);
  return inputs;
}

void Simulation::runPlan(std::size_t plan, const StepInputs& inputs) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    state_->runner->runAhead(plan, inputs);
  } catch (const AgreedError&) {
    throw;
  } catch (...) {
    fail(plan, currentError());
  }
  planTimes_.resize(state_->graphs.plans.size());
  ++planTimes_[plan].runs;
  planTimes_[plan].seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<PlanTime> Simulation::planTimes() const {
  std::vector<PlanTime> times;
  for (std::size_t plan = 0; plan < planTimes_.size(); ++plan) {
    if (planTimes_[plan].runs == 0) continue;
    times.push_back(planTimes_[plan]);
    times.back().plan = state_->graphs.plans[plan].plan->name();
  }
  return times;
}

const DataWarehouse& Simulation::dataOnHost(std::span<const LabelId> labels) const {
  try {
    state_->runner->copyToHost(labels);
  } catch (...) {
    fail(lastPlan_, currentError());
  }
  return *state_->data;
}

void Simulation::waitForDevices() const {
  try {
    state_->runner->waitForDevices();
  } catch (...) {
    fail(lastPlan_, currentError());
  }
}

std::int64_t Simulation::stepNumber(std::size_t plan) const {
  const bool advances = plan != static_cast<std::size_t>(PlanId::Initial) &&
                        plan != static_cast<std::size_t>(PlanId::Diagnostics);
  return clock_.step() + (advances ? 1 : 0);
}

void Simulation::fail(std::size_t runningPlan, const Error& cause) const {
  // A device may tell of a step before.
  const StepMoment moment =
      state_->runner->failedAt().value_or(StepMoment{runningPlan, stepNumber(runningPlan), clock_.time()});
  throw stepFailed(cause, moment, transport_);
}

}  // namespace tessera
