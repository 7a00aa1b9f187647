#include <algorithm>
#include <map>

#include "core/text/contracts.hpp"
#include "taskgraph/compile/graph_builder.hpp"
#include "taskgraph/compile/own_patches.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/storage/buffer_reuse.hpp"
#include "taskgraph/storage/scratch_halos.hpp"
#include "taskgraph/storage/share_windows.hpp"

namespace tessera {
namespace {

using detail::Faults;
using detail::ResolvedPlan;

std::string joined(const std::vector<std::string>& faults) {
  std::string text = faults.size() == 1 ? "the step plan has a fault"
                                        : "the step plans have " + std::to_string(faults.size()) + " faults";
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

/// Reductions that tasks read are found by earlier items.
void checkReduced(const StepPlan& plan, const PlanItem& item, const LabelTable& labels, Faults& faults) {
  for (const TaskDeclaration& task : plan.tasks()) {
    for (const LabelId reduction : task.readsReduced) {
      if (std::binary_search(item.reduced.begin(), item.reduced.end(), reduction)) continue;
      const std::string& name = labels.reductionName(reduction);
      faults.push_back(
          Message("a task reads a reduction to which no earlier item of a step program contributes")
              .line("plan   ", plan.name())
              .line("task   ", task.name, " at ", placeOf(task))
              .line("reads  ", name)
              .line("fix    let a task of a plan that runs before it in the same step program contribute to ",
                    name)
              .text());
    }
  }
}

}  // namespace

PlanError::PlanError(std::vector<std::string> faults)
    : ErrorClass(ErrorKind::Internal, joined(faults)), faults_(std::move(faults)) {}

std::vector<ResolvedPlan> detail::resolvePlans(std::span<const StepPlan* const> plans,
                                               const CompileInput& input) {
  Faults faults = input.labels->faults();
  std::vector<ResolvedPlan> resolved;
  TESSERA_EXPECT(input.items.empty() || input.items.size() == plans.size(),
                 "say of each plan which item it is");
  for (const StepPlan* plan : plans) {
    const PlanItem item = input.items.empty() ? PlanItem{} : input.items[resolved.size()];
    resolved.push_back(detail::resolvePlan(*plan, item, *input.labels, *input.hierarchy, faults));
    detail::checkHalos(resolved.back(), input, faults);
    checkReductions(resolved.back(), *input.labels, faults);
    checkReduced(*plan, item, *input.labels, faults);
  }
  detail::checkOldReads(resolved, *input.labels, faults);
  if (!faults.empty()) throw PlanError(std::move(faults));
  return resolved;
}

std::vector<LevelStorage> detail::storageOf(std::span<const ResolvedPlan> plans, const CompileInput& input) {
  const auto levels = static_cast<LevelId>(input.hierarchy->levels().size());
  const auto needs = detail::labelNeeds(plans, input.labels->count(), levels);
  std::vector<LevelStorage> storage;
  for (LabelId label = 0; label < input.labels->count(); ++label) {
    for (LevelId level = 0; level < levels; ++level) {
      const detail::LabelNeed& need = needs[static_cast<std::size_t>(level)][static_cast<std::size_t>(label)];
      if (need.used) storage.push_back({label, level, need.halo, need.hasOld, -1, {}, false});
    }
  }
  detail::chooseScratch(plans, input, storage);
  if (input.reuse == BufferReuse::On) detail::shareMemory(plans, input, storage);
  return storage;
}

StorageNeed storageNeed(const CompiledGraphs& graphs, const LevelStorage& storage, std::int64_t local) {
  const Level& level = graphs.hierarchy->level(storage.level);
  const Patch& patch = graphs.hierarchy->patch(graphs.ownPatches[static_cast<std::size_t>(local)]);
  const Centering centering = graphs.labels->info(storage.label).centering;
  const Box window = fillTarget(level, patch, centering, storage.halo, Reach::Patch);
  return {storage.label, patch.id, window, storage.hasOld, storage.slot, -1};
}

std::vector<StorageNeed> storageNeeds(const CompiledGraphs& graphs) {
  std::vector<StorageNeed> needs;
  for (const LevelStorage& storage : graphs.storage) {
    const Range own = graphs.localsOfLevel[static_cast<std::size_t>(storage.level)];
    const std::size_t first = needs.size();
    for (std::int64_t local = own.begin; local < own.end; ++local)
      needs.push_back(storageNeed(graphs, storage, local));
    for (std::int64_t s = storage.shared.begin; s < storage.shared.end; ++s) {
      for (const std::int32_t member : graphs.shared[static_cast<std::size_t>(s)].members) {
        needs[first + static_cast<std::size_t>(member - own.begin)].shared = static_cast<std::int32_t>(s);
      }
    }
  }
  return needs;
}

CompiledGraphs compileGraphs(std::span<const StepPlan* const> plans, const CompileInput& input) {
  TESSERA_EXPECT(input.owners->size() == static_cast<std::size_t>(input.hierarchy->patchCount()),
                 "give an owner for each patch");
  const auto foreign = [&](Rank owner) { return owner < 0 || owner >= input.ranks; };
  TESSERA_EXPECT(!foreign(input.rank) && std::none_of(input.owners->begin(), input.owners->end(), foreign),
                 "say how many ranks the job has, and give patches to these only");
  const std::vector<ResolvedPlan> resolved = detail::resolvePlans(plans, input);
  CompiledGraphs graphs;
  graphs.hierarchy = input.hierarchy;
  graphs.labels = input.labels;
  graphs.rank = input.rank;
  detail::placeOwnPatches(input, graphs);
  graphs.storage = detail::storageOf(resolved, input);
  if (input.sharing == WindowSharing::On) detail::shareWindows(resolved, input, graphs);
  for (const ResolvedPlan& plan : resolved) {
    graphs.gathers.emplace_back();
    graphs.plans.push_back(detail::GraphBuilder(plan, input, graphs).build(graphs.gathers.back()));
  }
  return graphs;
}

}  // namespace tessera
