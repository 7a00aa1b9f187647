#include "tools/simulation/simulation.hpp"

#include <sstream>

#include "scheduler/make_data_warehouse.hpp"
#include "tools/simulation/agreement.hpp"

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

}  // namespace

Simulation::Simulation(const Deck& deck, const ComponentRegistry& registry, Transport& transport,
                       SimulationOptions options)
    : transport_(transport),
      // The oracle takes one step after the other; on one rank there is nothing to wait for.
      // With devices the next step's length has to be there before it is launched.
      stepsOverlap_(transport.size() > 1 && options.executor != ExecutorKind::InOrder &&
                    options.devices.kind == DeviceKind::None),
      model_(deck, registry),
      options_(withDeck(options, model_)),
      graphs_(compile(options_)),
      clock_(model_.settings().time),
      data_(makeDataWarehouse(
          graphs_, options.threads, options.execution.cores,
          options.devices.kind == DeviceKind::None ? MemoryPieces::CacheLines : MemoryPieces::Pages)),
      executor_(makeExecutor(options, transport.rank())),
      compilesAtStart_(compiles_) {
  model_.prepareExpressions(executor_->threads());
  if (!options_.connectLater) connect();
}

void Simulation::connect() {
  runner_ = std::make_unique<StepRunner>(graphs_, *data_, transport_, *executor_,
                                         RunnerOptions{.checked = options_.checked,
                                                       .sends = options_.sends,
                                                       .findNonFinite = options_.findNonFinite,
                                                       .regions = options_.regions,
                                                       .nvtx = options_.nvtx,
                                                       .stepsOverlap = stepsOverlap_,
                                                       .trace = options_.trace,
                                                       .devices = options_.devices});
}

CompiledGraphs Simulation::compile(const SimulationOptions& options) {
  StoragePolicy storage{options.reuse, WindowSharing::On, scratchRule(options)};
  if (options.devices.kind != DeviceKind::None) storage = withDevices(storage, options.devices);
  CompiledGraphs graphs =
      model_.compile(transport_.rank(), transport_.size(), transport_.tagBound(), storage);
  compiles_ += static_cast<std::int64_t>(graphs.plans.size());
  if (options.beforeMemory) options.beforeMemory(graphs);
  return graphs;
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
    const std::span<const double> combined = runner_->control(lastPlan_);
    control.assign(combined.begin(), combined.end());
  };
  if (!restored_) {
    initialise(listener.control());
    take();
  }
  if (listener.began(*this, restored_, control)) return false;

  while (!clock_.finished()) {
    step(listener.control());
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
  lastPlan_ = static_cast<std::size_t>(PlanId::Initial);
  runPlan(lastPlan_, inputsOf(lastPlan_, control));
  takeStableDt(runner_->result(lastPlan_));
}

/// Where the last step's reductions are under way, this one's length comes from them, beside its first tasks.
void Simulation::step(std::span<const double> control) {
  const std::size_t plan = nextPlan();
  StepInputs inputs = inputsOf(plan, control);
  if (isAhead_ && clock_.needsStableDt()) {
    inputs.dtFrom = lastPlan_;
    inputs.lateDt = [this](const StepResult& before) {
      takeStableDt(before);
      next_ = nextStep();
      return next_.dt;
    };
  } else {
    next_ = nextStep();
    inputs.dt = next_.dt;
  }
  runPlan(plan, inputs);
  clock_.take(next_);
  lastPlan_ = plan;
  isAhead_ = true;
  try {
    runner_->balance();
  } catch (...) {
    fail(lastPlan_, currentError());
  }
}

void Simulation::settle() {
  if (!isAhead_) return;
  takeStableDt(runner_->result(lastPlan_));
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
std::size_t Simulation::nextPlan() const {
  try {
    return model_.stepPlan(clock_.step());
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
}

std::vector<double> Simulation::diagnosis() {
  const std::vector<Diagnostic>& wanted = model_.diagnostics();
  if (wanted.empty()) return {};
  const StepResult& result = runner_->result(static_cast<std::size_t>(PlanId::Diagnostics));
  std::vector<double> values;
  values.reserve(wanted.size());
  for (const Diagnostic& diagnostic : wanted) {
    double reduced = result.reductions[static_cast<std::size_t>(diagnostic.reduction.id)];
    if (diagnostic.per) reduced /= result.reductions[static_cast<std::size_t>(diagnostic.per->id)];
    values.push_back(diagnostic.show ? diagnostic.show(reduced) : reduced);
  }
  return values;
}

void Simulation::restore(const CheckpointReader& checkpoint) {
  checkpoint.requireSame(model_.identity());
  std::vector<std::byte> packed;
  for (std::size_t local = 0; local < graphs_.ownPatches.size(); ++local) {
    if (graphs_.ownPatches[local] < 0) continue;  // a spare slot
    const Patch& patch = model_.hierarchy()->patch(graphs_.ownPatches[local]);
    for (const LabelId label : model_.persistent()) {
      if (!data_->has(label, local)) continue;
      const LabelInfo& info = model_.labels().info(label);
      packed.resize(static_cast<std::size_t>(data_->ownedBox(label, local).volume() * info.type.bytes()));
      checkpoint.readBlock(info.name, patch.level, patch.id, packed);
      data_->unpackOwned(label, local, packed);
    }
  }
  clock_.restore(checkpoint.state());
  restored_ = true;
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
  try {
    runner_->runAhead(plan, inputs);
  } catch (const AgreedError&) {
    throw;
  } catch (...) {
    fail(plan, currentError());
  }
}

const DataWarehouse& Simulation::dataOnHost(std::span<const LabelId> labels) const {
  try {
    runner_->copyToHost(labels);
  } catch (...) {
    fail(lastPlan_, currentError());
  }
  return *data_;
}

void Simulation::waitForDevices() const {
  try {
    runner_->waitForDevices();
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
      runner_->failedAt().value_or(StepMoment{runningPlan, stepNumber(runningPlan), clock_.time()});
  std::ostringstream where;
  where.precision(12);
  where << "  (";
  if (transport_.size() > 1) where << "rank " << transport_.rank() << " of " << transport_.size() << ", ";
  if (moment.plan == static_cast<std::size_t>(PlanId::Initial)) {
    where << "initial state";
  } else {
    where << "step " << moment.shownStep;
  }
  where << ", t = " << moment.time << ")";
  std::string text = cause.message();
  text.insert(std::min(text.find('\n'), text.size()), where.str());
  throw StepFailed(cause.kind(), std::move(text));
}

}  // namespace tessera
