#include "tools/simulation/program/program_run.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "datawarehouse/device_store.hpp"
#include "scheduler/solvers/linear_solve.hpp"
#include "tools/simulation/agreement.hpp"
#include "tools/simulation/watch/call_watch.hpp"

namespace tessera {
namespace {

bool promotesOnTheWay(const std::vector<ProgramItem>& items) {
  return std::any_of(items.begin(), items.end(), [](const ProgramItem& item) {
    if (const auto* repeat = std::get_if<RepeatItem>(&item.what)) return promotesOnTheWay(repeat->items);
    const auto* run = std::get_if<RunItem>(&item.what);
    return run != nullptr && run->promotes.has_value();
  });
}

}  // namespace

ProgramRun::ProgramRun(const CompiledGraphs& graphs, DataWarehouse& data, StepRunner& runner,
                       Transport& transport, Options options)
    : graphs_(graphs),
      data_(data),
      runner_(runner),
      transport_(transport),
      options_(std::move(options)),
      reduced_(static_cast<std::size_t>(graphs.labels->reductionCount())),
      known_(reduced_.size()) {
  for (const LevelStorage& storage : graphs_.storage)
    if (storage.hasOld) persistent_.insert(storage.label);
}

ProgramRun::~ProgramRun() = default;

bool ProgramRun::takesLateDt(const StepProgram& program) {
  const auto* first = std::get_if<RunItem>(&program.items().front().what);
  return first != nullptr && first->part.begin == 0;
}

std::string ProgramRun::step(const StepProgram& program, const StepInputs& inputs) {
  step_ = inputs;
  promotesOnTheWay_ = promotesOnTheWay(program.items());
  hasPromoted_ = false;
  left_.clear();
  ran_.clear();
  collected_ = 0;
  std::fill(reduced_.begin(), reduced_.end(), std::numeric_limits<double>::quiet_NaN());
  std::fill(known_.begin(), known_.end(), std::uint8_t{0});
  if (!inputs.control.empty()) control_.clear();
  std::string cause = run(program.items());
  if (cause.empty() && !promotesOnTheWay_) promote(LevelSelection{});
  return cause;
}

std::string ProgramRun::run(const std::vector<ProgramItem>& items) {
  std::string cause;
  for (std::size_t n = 0; n < items.size() && cause.empty(); ++n)
    cause = std::visit([this](const auto& item) { return run(item); }, items[n].what);
  return cause;
}

std::string ProgramRun::run(const RunItem& item) {
  const std::size_t plan = planNamed(item.plan);
  if (readsReduced(plan)) collect();
  for (const auto& [label, value] : item.numbers) {
    reduced_[static_cast<std::size_t>(label)] = value;
    known_[static_cast<std::size_t>(label)] = 1;
  }
  const bool isFirst = ran_.empty();
  const StepInputs inputs = inputsOf(item);
  options_.runPlan(plan, inputs);
  step_.lateDt = {};
  if (isFirst && !inputs.control.empty()) {
    const std::span<const double> control = runner_.control(plan);
    control_.assign(control.begin(), control.end());
    step_.control = {};
  }
  noteRun(plan);
  const CompiledGraph& graph = graphs_.plans[plan];
  left_.insert(graph.written.begin(), graph.written.end());
  if (item.promotes) promote(item.promotes);
  return {};
}

StepInputs ProgramRun::inputsOf(const RunItem& item) {
  StepInputs inputs = step_;
  inputs.after = AfterReplay::Keep;
  inputs.reduced = reduced_;
  inputs.time = item.part.from(step_.time, step_.dt);
  inputs.dt = item.part.of(step_.dt);
  if (step_.lateDt) {
    inputs.time = step_.time;
    inputs.lateDt = [this, part = item.part](const StepResult& before) {
      step_.dt = step_.lateDt(before);
      return part.of(step_.dt);
    };
  }
  return inputs;
}

std::string ProgramRun::run(const CallItem& item) {
  std::vector<double> contributed(reduced_.size(), std::numeric_limits<double>::quiet_NaN());
  around(item, Where::Host, [&] {
    item.call->run(
        {data_, transport_, step_.time, step_.dt, step_.step, ReducedNumbers(reduced_, known_), contributed});
  });
  for (const LabelId reduction : item.contributes) {
    reduced_[static_cast<std::size_t>(reduction)] = contributed[static_cast<std::size_t>(reduction)];
    known_[static_cast<std::size_t>(reduction)] = 1;
  }
  return {};
}

void ProgramRun::around(const CallItem& item, Where where, const std::function<void()>& work) {
  collect();
  if (options_.devices) {
    const auto bring = [&](LabelId label, Generation generation) {
      if (where == Where::Host)
        runner_.copyToHost({&label, 1}, generation);
      else
        runner_.copyToDevices({&label, 1}, generation);
    };
    for (const auto& [generation, label] : item.reads) bring(label, generation);
    for (const LabelId label : item.modifies) bring(label, Generation::New);
  }
  if (where == Where::Devices) runner_.waitForDevices();
  {
    const CallWatch watch(item.name, options_.stallSeconds, options_.onStall);
    work();
  }
  for (const auto* list : {&item.writes, &item.modifies}) {
    for (const LabelId label : *list) {
      for (std::size_t local = 0; local < data_.ownPatches().size(); ++local) {
        if (data_.ownPatches()[local] < 0 || !data_.has(label, local)) continue;
        left_.insert({label, data_.hierarchy().patch(data_.ownPatches()[local]).level});
        if (!options_.devices) continue;
        wroteOn(data_.valueStatus(Generation::New, label, local),
                where == Where::Host
                    ? kHost
                    : runner_.deviceAccess()->storeOf(static_cast<std::int32_t>(local)).space());
      }
    }
  }
}

std::string ProgramRun::run(const SolveItem& item) {
  std::vector<SolveReport> reports(item.system.unknowns());
  {
    const SpanOf span(options_.trace, item.name);
    const CallItem access = item.access();
    const LinearSolve* known = findSolve(item);
    const bool isOnDevice = known != nullptr ? known->isOnDevice() : mayUseDevice(access);
    around(access, isOnDevice ? Where::Devices : Where::Host, [&] {
      for (std::size_t n = 0; n < reports.size(); ++n)
        reports[n] = solveOf(item, isOnDevice).run(item.system.of(n), data_, {step_.time, step_.dt});
    });
  }
  for (const SolveReport& report : reports) {
    options_.solves->add(item.name, report);
    if (std::string cause = judge(report); !cause.empty()) return cause;
  }
  return {};
}

/// Whether a device of this rank has room for a solve, and what the solve reads and writes.
bool ProgramRun::mayUseDevice(const CallItem& access) const {
  const DeviceAccess* device = runner_.deviceAccess();
  if (device == nullptr || !LinearSolve::mayUse(*device, options_.solver.options, *options_.mesh->hierarchy,
                                                options_.mesh->owners, transport_.rank()))
    return false;
  const auto has = [&](LabelId label) {
    for (std::size_t local = 0; local < data_.ownPatches().size(); ++local) {
      if (data_.ownPatches()[local] < 0 || !data_.has(label, local)) continue;
      if (!device->storeOf(static_cast<std::int32_t>(local)).has(label, local)) return false;
    }
    return true;
  };
  return std::all_of(access.reads.begin(), access.reads.end(),
                     [&](const auto& r) { return has(r.second); }) &&
         std::all_of(access.writes.begin(), access.writes.end(), has);
}

LinearSolve* ProgramRun::findSolve(const SolveItem& item) {
  for (const auto& solve : solves_) {
    if (solve->name() == item.name && solve->isFor(item.system)) return solve.get();
  }
  return nullptr;
}

LinearSolve& ProgramRun::solveOf(const SolveItem& item, bool onDevice) {
  if (LinearSolve* known = findSolve(item)) return *known;
  try {
    solves_.push_back(std::make_unique<LinearSolve>(item.name, item.system, options_.solver.options,
                                                    *options_.mesh->hierarchy, options_.mesh->owners,
                                                    transport_, onDevice ? runner_.deviceAccess() : nullptr));
  } catch (const DeckError& error) {
    throw AgreedError(error.kind(), error.message());
  }
  return *solves_.back();
}

/// Reports are the same on all ranks, and so is what becomes of them.
std::string ProgramRun::judge(const SolveReport& report) {
  if (report.result == SolveReport::Result::Converged) return {};
  if (options_.solver.onFailure == SolveFailure::Retry) return report.failure;
  if (options_.solver.onFailure == SolveFailure::Warn && report.result == SolveReport::Result::NotConverged) {
    options_.solves->warn(report.failure);
    return {};
  }
  std::ostringstream where;
  where.precision(12);
  where << "  (step " << step_.shownStep << ", t = " << step_.time << ")";
  std::string text = report.failure;
  text.insert(std::min(text.find('\n'), text.size()), where.str());
  throw AgreedError(ErrorKind::Numerical, text);
}

std::string ProgramRun::run(const RequireItem& item) {
  if (holds(item.holds)) return {};
  if (!item.detail) return item.cause;
  return item.cause + " " + item.detail(ReducedNumbers(reduced_, known_), *graphs_.hierarchy);
}

std::string ProgramRun::run(const RepeatItem& item) {
  for (std::int64_t pass = 0; pass < item.most; ++pass) {
    std::string cause = run(item.items);
    if (!cause.empty()) return cause;
    if (item.until && holds(item.until)) return {};
  }
  return item.cause;
}

bool ProgramRun::holds(const ReducedCondition& condition) {
  collect();
  return condition(ReducedNumbers(reduced_, known_));
}

void ProgramRun::noteRun(std::size_t plan) {
  // What it found before, items have read by now, or it is found anew.
  const auto known = std::find(ran_.begin(), ran_.end(), plan);
  if (known != ran_.end()) {
    if (static_cast<std::size_t>(known - ran_.begin()) < collected_) --collected_;
    ran_.erase(known);
  }
  ran_.push_back(plan);
}

void ProgramRun::collect() {
  for (; collected_ < ran_.size(); ++collected_) {
    const std::size_t plan = ran_[collected_];
    if (graphs_.plans[plan].reductions.empty()) continue;
    const StepResult& result = runner_.result(plan);
    for (const ReductionPlan& reduction : graphs_.plans[plan].reductions) {
      const auto at = static_cast<std::size_t>(reduction.reduction);
      reduced_[at] = result.reductions[at];
      known_[at] = 1;
    }
  }
}

void ProgramRun::promote(const std::optional<LevelSelection>& levels) {
  const auto finest = static_cast<LevelId>(graphs_.hierarchy->levels().size()) - 1;
  std::vector<LevelLabel> now;
  for (const LevelLabel& what : left_) {
    if (levels->contains(what.level, finest) && persistent_.count(what.label) > 0) now.push_back(what);
  }
  runner_.promote(now);
  for (const LevelLabel& what : now) left_.erase(what);
  hasPromoted_ = true;
}

std::optional<std::size_t> ProgramRun::contributor(ReductionLabel reduction) const {
  const auto contributes = [&](std::size_t plan) {
    const auto& reductions = graphs_.plans[plan].reductions;
    return std::any_of(reductions.begin(), reductions.end(),
                       [&](const ReductionPlan& r) { return r.reduction == reduction.id; });
  };
  const auto found = std::find_if(ran_.rbegin(), ran_.rend(), contributes);
  if (found == ran_.rend()) return std::nullopt;
  return *found;
}

std::size_t ProgramRun::planNamed(const std::string& name) const {
  for (std::size_t p = 0; p < graphs_.plans.size(); ++p) {
    if (graphs_.plans[p].plan->name() == name) return p;
  }
  throw InternalError("a step program runs the plan \"" + name + "\", which was not compiled");
}

bool ProgramRun::readsReduced(std::size_t plan) const {
  const auto& tasks = graphs_.plans[plan].plan->tasks();
  return std::any_of(tasks.begin(), tasks.end(), [](const auto& task) { return !task.readsReduced.empty(); });
}

}  // namespace tessera
