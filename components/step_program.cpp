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

}  // namespace

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
