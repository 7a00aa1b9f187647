#include "tools/tessera/simulation.hpp"

#include <sstream>

#include "scheduler/make_data_warehouse.hpp"
#include "tools/tessera/agreement.hpp"

namespace tessera {
namespace {

std::unique_ptr<Executor> makeExecutor(const SimulationOptions& options, int rank) {
  if (options.executor == ExecutorKind::Virtual) return makeVirtualExecutor(*options.schedule, rank);
  return options.executor == ExecutorKind::InOrder ? makeInOrderExecutor(options.execution)
                                                   : makeThreadsExecutor(options.threads, options.execution);
}

}  // namespace

Simulation::Simulation(const Deck& deck, const ComponentRegistry& registry, Transport& transport,
                       SimulationOptions options)
    : transport_(transport),
      model_(deck, registry),
      graphs_(compile(options.reuse)),
      clock_(model_.settings().time),
      data_(makeDataWarehouse(graphs_, options.threads, options.execution.cores)),
      executor_(makeExecutor(options, transport.rank())),
      runner_(std::make_unique<StepRunner>(
          graphs_, *data_, transport_, *executor_,
          RunnerOptions{.checked = options.checked, .regions = options.regions, .trace = options.trace})),
      compilesAtStart_(compiles_) {
  model_.prepareExpressions(executor_->threads());
}

CompiledGraphs Simulation::compile(BufferReuse reuse) {
  CompiledGraphs graphs = model_.compile(transport_.rank(), transport_.size(), transport_.tagBound(), reuse);
  compiles_ += static_cast<std::int64_t>(graphs.plans.size());
  return graphs;
}

bool Simulation::run(RunListener& listener) {
  StepResult result;
  if (!restored_) result = initialise(listener.control());
  if (listener.began(*this, restored_, result.control)) return false;

  while (!clock_.finished()) {
    result = step(listener.control());
    if (listener.stepped(*this, result.control)) return false;
  }
  listener.finished(*this);
  return true;
}

StepResult Simulation::initialise(std::span<const double> control) {
  StepResult result = runPlan(static_cast<std::size_t>(PlanId::Initial), 0.0, control);
  clock_.setStableDt(result.reductions[static_cast<std::size_t>(model_.stableDt().id)]);
  return result;
}

StepResult Simulation::step(std::span<const double> control) {
  const NextStep next = nextStep();
  StepResult result = runPlan(nextPlan(), next.dt, control);
  clock_.take(next);
  clock_.setStableDt(result.reductions[static_cast<std::size_t>(model_.stableDt().id)]);
  return result;
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
  const std::vector<Diagnostic>& wanted = model_.diagnostics();
  if (wanted.empty()) return {};
  const StepResult result = runPlan(static_cast<std::size_t>(PlanId::Diagnostics), clock_.dt(), {});
  std::vector<double> values;
  values.reserve(wanted.size());
  for (const Diagnostic& diagnostic : wanted) {
    const double reduced = result.reductions[static_cast<std::size_t>(diagnostic.reduction.id)];
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

StepResult Simulation::runPlan(std::size_t plan, double dt, std::span<const double> control) {
  try {
    return runner_->run(plan, {clock_.time(), dt, clock_.step(), control, stepNumber(plan)});
  } catch (...) {
    fail(plan, currentError());
  }
}

std::int64_t Simulation::stepNumber(std::size_t plan) const {
  const bool advances = plan != static_cast<std::size_t>(PlanId::Initial) &&
                        plan != static_cast<std::size_t>(PlanId::Diagnostics);
  return clock_.step() + (advances ? 1 : 0);
}

void Simulation::fail(std::size_t plan, const Error& cause) const {
  std::ostringstream where;
  where.precision(12);
  where << "  (";
  if (transport_.size() > 1) where << "rank " << transport_.rank() << " of " << transport_.size() << ", ";
  if (plan == static_cast<std::size_t>(PlanId::Initial)) {
    where << "initial state";
  } else {
    where << "step " << stepNumber(plan);
  }
  where << ", t = " << clock_.time() << ")";
  std::string text = cause.message();
  text.insert(std::min(text.find('\n'), text.size()), where.str());
  throw StepFailed(cause.kind(), std::move(text));
}

}  // namespace tessera
