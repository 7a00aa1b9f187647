#include "components/step_program.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"

namespace tessera {
namespace {

void addPlans(const std::vector<ProgramItem>& items, std::vector<std::string>& plans) {
  for (const ProgramItem& item : items) {
    if (const auto* repeat = std::get_if<RepeatItem>(&item.what)) addPlans(repeat->items, plans);
    const auto* run = std::get_if<RunItem>(&item.what);
    if (run != nullptr && std::find(plans.begin(), plans.end(), run->plan) == plans.end())
      plans.push_back(run->plan);
  }
}

void addSolves(const std::vector<ProgramItem>& items, std::vector<const SolveItem*>& solves) {
  for (const ProgramItem& item : items) {
    if (const auto* repeat = std::get_if<RepeatItem>(&item.what)) addSolves(repeat->items, solves);
    if (const auto* solve = std::get_if<SolveItem>(&item.what)) solves.push_back(solve);
  }
}

void addLabels(const CallItem& call, std::vector<LabelId>& labels) {
  for (const auto& [generation, label] : call.reads) labels.push_back(label);
  labels.insert(labels.end(), call.writes.begin(), call.writes.end());
  labels.insert(labels.end(), call.modifies.begin(), call.modifies.end());
}

/// Calls `visit` with each call, and with what each solve reads and writes.
template <class Visit>
void forEachCall(const std::vector<ProgramItem>& items, const Visit& visit) {
  for (const ProgramItem& item : items) {
    if (const auto* repeat = std::get_if<RepeatItem>(&item.what)) forEachCall(repeat->items, visit);
    if (const auto* call = std::get_if<CallItem>(&item.what)) visit(*call);
    if (const auto* solve = std::get_if<SolveItem>(&item.what)) visit(solve->access());
  }
}

}  // namespace

CallItem SolveItem::access() const {
  CallItem call{name, nullptr};
  for (std::size_t n = 0; n < system.unknowns(); ++n) {
    const LinearSystem one = system.of(n);
    call.reads.emplace_back(one.begin, one.solution.id);
    call.reads.emplace_back(Generation::New, one.rightHandSide.id);
    call.writes.push_back(one.solution.id);
  }
  for (const auto* faces : {&system.faces, &system.flow}) {
    if (!*faces) continue;
    for (const LabelId face : {(*faces)->x.id, (*faces)->y.id, (*faces)->z.id}) {
      if (face >= 0) call.reads.emplace_back(Generation::New, face);
    }
  }
  if (system.holes) call.reads.emplace_back(Generation::New, system.holes->open.id);
  return call;
}

double ReducedNumbers::operator()(ReductionLabel reduction) const {
  const auto at = static_cast<std::size_t>(reduction.id);
  if (known_[at] == 0) {
    throw InternalError(
        Message("a condition or a call of a step program asks for a reduction that no item has found")
            .line("fix  run a plan before it that contributes to the reduction")
            .text());
  }
  return values_[at];
}

RunBuilder StepProgram::run(std::string plan) {
  items_.push_back({RunItem{std::move(plan)}});
  return RunBuilder(std::get<RunItem>(items_.back().what));
}

CallBuilder StepProgram::call(std::string name, std::shared_ptr<ProgramCall> call) {
  TESSERA_EXPECT(call != nullptr, "give a program something to call");
  items_.push_back({CallItem{std::move(name), std::move(call)}});
  return CallBuilder(std::get<CallItem>(items_.back().what));
}

void StepProgram::solve(std::string name, const LinearSystem& system) {
  for (std::size_t n = 0; n < system.unknowns(); ++n) {
    const LinearSystem one = system.of(n);
    TESSERA_EXPECT(one.solution.id >= 0 && one.rightHandSide.id >= 0,
                   "give a solve a solution and a right-hand side");
  }
  items_.push_back({SolveItem{std::move(name), system}});
}

void StepProgram::require(std::string cause, ReducedCondition holds, ReducedDetail detail) {
  TESSERA_EXPECT(holds != nullptr && !cause.empty(), "say what is required, and what is wrong otherwise");
  items_.push_back({RequireItem{std::move(cause), std::move(holds), std::move(detail)}});
}

void StepProgram::addRepeat(Passes passes, StepProgram body) {
  TESSERA_EXPECT(passes.most >= 1, "let a program repeat its items once at least");
  items_.push_back(
      {RepeatItem{std::move(body.items_), std::move(passes.until), passes.most, std::move(passes.cause)}});
}

std::vector<std::string> StepProgram::plans() const {
  std::vector<std::string> plans;
  addPlans(items_, plans);
  return plans;
}

std::vector<const SolveItem*> StepProgram::solveItems() const {
  std::vector<const SolveItem*> solves;
  addSolves(items_, solves);
  return solves;
}

std::vector<std::string> StepProgram::solves() const {
  std::vector<std::string> names;
  for (const SolveItem* solve : solveItems()) {
    if (std::find(names.begin(), names.end(), solve->name) == names.end()) names.push_back(solve->name);
  }
  return names;
}

std::vector<LabelId> StepProgram::labelsOfCalls() const {
  std::vector<LabelId> labels;
  forEachCall(items_, [&](const CallItem& call) { addLabels(call, labels); });
  return labels;
}

std::set<LabelId> StepProgram::labelsCalledAsOld() const {
  std::set<LabelId> labels;
  forEachCall(items_, [&](const CallItem& call) {
    for (const auto& [generation, label] : call.reads) {
      if (generation == Generation::Old) labels.insert(label);
    }
  });
  return labels;
}

bool StepProgram::isOnePlan() const {
  if (items_.size() != 1) return false;
  const auto* run = std::get_if<RunItem>(&items_.front().what);
  return run != nullptr && run->part.begin == 0 && run->part.length == run->part.parts && !run->promotes;
}

StepProgram StepProgram::after(std::string plan) const {
  StepProgram longer = *this;
  longer.items_.insert(longer.items_.begin(), {RunItem{std::move(plan)}});
  return longer;
}

StepProgram StepProgram::named(std::string name) const {
  StepProgram other = *this;
  other.name_ = std::move(name);
  return other;
}

}  // namespace tessera
