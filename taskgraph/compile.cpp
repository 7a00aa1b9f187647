#include <algorithm>

#include "core/contracts.hpp"
#include "taskgraph/detail/graph_builder.hpp"
#include "taskgraph/graph_compiler.hpp"

namespace tessera {
namespace {

using detail::Faults;
using detail::ResolvedPlan;

std::string joined(const std::vector<std::string>& faults) {
  std::string text = faults.size() == 1 ? "the step plan has a fault" :
                                          "the step plans have " + std::to_string(faults.size()) + " faults";
  for (const std::string& fault : faults) text += "\n" + fault;
  return text;
}

void checkReductions(const ResolvedPlan& plan, const LabelTable& labels, Faults& faults) {
  std::map<LabelId, std::pair<ReductionKind, std::string>> first;
  for (const TaskDeclaration& task : plan.plan->tasks()) {
    for (const ContributionDeclaration& c : task.contributions) {
      const auto [at, added] = first.try_emplace(c.reduction, c.kind, task.name);
      if (added || at->second.first == c.kind) continue;
      faults.push_back(Message("two tasks contribute to one reduction in different ways")
                           .line("plan       ", plan.plan->name())
                           .line("reduction  ", labels.reductionName(c.reduction))
                           .line("tasks      ", at->second.second, " and ", task.name)
                           .line("fix        use the same of Min, Max and Sum in both, or two reductions")
                           .text());
    }
  }
}

std::vector<ResolvedPlan> resolveAll(std::span<const StepPlan* const> plans, const CompileInput& input) {
  Faults faults;
  std::vector<ResolvedPlan> resolved;
  for (const StepPlan* plan : plans) {
    resolved.push_back(detail::resolvePlan(*plan, *input.labels, faults));
    detail::checkHalos(resolved.back(), input, faults);
    checkReductions(resolved.back(), *input.labels, faults);
    if (static_cast<std::int64_t>(plan->tasks().size()) >= input.tagBound) {
      faults.push_back(Message("a plan has more stages of messages than MPI has tags")
                           .line("plan   ", plan->name())
                           .line("stages ", plan->tasks().size() + 1, ", tags up to ", input.tagBound)
                           .line("fix    join tasks of this plan")
                           .text());
    }
  }
  detail::checkOldReads(resolved, *input.labels, faults);
  if (!faults.empty()) throw PlanError(std::move(faults));
  return resolved;
}

std::vector<PatchId> patchesOf(const CompileInput& input) {
  std::vector<PatchId> own;
  for (std::size_t p = 0; p < input.owners->size(); ++p) {
    if ((*input.owners)[p] == input.rank) own.push_back(static_cast<PatchId>(p));
  }
  return own;
}

std::vector<StorageNeed> storageOf(std::span<const ResolvedPlan> plans, const CompileInput& input,
                                   std::span<const PatchId> own) {
  const auto needs = detail::labelNeeds(plans, input.labels->count());
  std::vector<StorageNeed> storage;
  for (LabelId label = 0; label < input.labels->count(); ++label) {
    const detail::LabelNeed& need = needs[static_cast<std::size_t>(label)];
    if (!need.used) continue;
    for (const PatchId id : own) {
      const Patch& patch = input.hierarchy->patch(id);
      const Level& level = input.hierarchy->level(patch.level);
      const Centering centering = input.labels->info(label).centering;
      storage.push_back({label, id, detail::haloTarget(level, patch, centering, need.halo), need.hasOld});
    }
  }
  return storage;
}

}  // namespace

PlanError::PlanError(std::vector<std::string> faults)
    : ErrorClass(ErrorKind::Internal, joined(faults)), faults_(std::move(faults)) {}

CompiledGraphs compileGraphs(std::span<const StepPlan* const> plans, const CompileInput& input) {
  TESSERA_EXPECT(input.owners->size() == static_cast<std::size_t>(input.hierarchy->patchCount()),
                 "give an owner for each patch");
  const std::vector<ResolvedPlan> resolved = resolveAll(plans, input);
  CompiledGraphs graphs;
  graphs.hierarchy = input.hierarchy;
  graphs.labels = input.labels;
  graphs.rank = input.rank;
  graphs.ownPatches = patchesOf(input);
  graphs.storage = storageOf(resolved, input, graphs.ownPatches);
  for (const ResolvedPlan& plan : resolved) {
    graphs.plans.push_back(detail::GraphBuilder(plan, input, graphs.ownPatches).build());
  }
  return graphs;
}

}  // namespace tessera
