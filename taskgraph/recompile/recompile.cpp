#include <algorithm>

#include "core/text/contracts.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/recompile/graph_rebuild.hpp"
#include "taskgraph/recompile/mesh_changes.hpp"
#include "taskgraph/storage/buffer_reuse.hpp"
#include "taskgraph/storage/share_windows.hpp"

namespace tessera {
namespace {

constexpr std::int64_t kManyPatches = 4'096;
/// A full compile takes about as long for an own patch as looking for changes takes for so many of any rank.
constexpr std::int64_t kCostOfOwn = 64;

bool sameLevels(const Hierarchy& a, const Hierarchy& b) {
  const auto same = [](const Level& x, const Level& y) {
    return x.domain() == y.domain() && x.ratioToCoarser() == y.ratioToCoarser();
  };
  return a.geometry() == b.geometry() &&
         std::equal(a.levels().begin(), a.levels().end(), b.levels().begin(), b.levels().end(), same);
}

/// Whether as much is kept of each variable, wherever patches store it as one.
bool sameMemory(std::span<const LevelStorage> a, std::span<const LevelStorage> b) {
  const auto same = [](LevelStorage x, const LevelStorage& y) {
    x.shared = y.shared;
    return x == y;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

/// Empty where the graphs of `before` can become those of `next`.
std::string whyNotInPlace(const CompiledGraphs& graphs, std::span<const StepPlan* const> plans,
                          const CompileInput& before, const CompileInput& next) {
  const auto same = [](const CompiledGraph& graph, const StepPlan* plan) { return graph.plan == plan; };
  if (!std::equal(graphs.plans.begin(), graphs.plans.end(), plans.begin(), plans.end(), same))
    return "other step plans";
  const auto onLevels = [](const StepPlan* plan) {
    return std::any_of(plan->tasks().begin(), plan->tasks().end(),
                       [](const TaskDeclaration& task) { return task.oncePerLevel; });
  };
  if (std::any_of(plans.begin(), plans.end(), onLevels)) return "a task works on all patches of a level";
  if (before.items != next.items) return "other step programs";
  if (before.labels != next.labels) return "other labels";
  if (before.reuse != next.reuse || before.kept != next.kept || before.sharing != next.sharing ||
      before.devices != next.devices || before.scratch != next.scratch ||
      before.storedHalos != next.storedHalos)
    return "other rules for sharing memory";
  if (before.rank != next.rank || before.ranks != next.ranks) return "another rank or number of ranks";
  if (!sameLevels(*before.hierarchy, *next.hierarchy)) return "other levels";
  // Looking for what changed costs as much as compiling where nearly all patches are other ranks'.
  const std::int64_t all = next.hierarchy->patchCount();
  if (all > kManyPatches && graphs.ownPatchCount() * kCostOfOwn < all)
    return "nearly all patches belong to other ranks";
  return "";
}

Recompiled compileAnew(std::span<const StepPlan* const> plans, CompileInput next, std::string why,
                       std::int64_t changedPatches) {
  const GraphSlots slots = roomySlots(next);
  next.slots = &slots;
  return {compileGraphs(plans, next), std::move(why), changedPatches};
}

}  // namespace

Recompiled recompile(CompiledGraphs&& previous, std::span<const StepPlan* const> plans,
                     const CompileInput& before, const CompileInput& next) {
  TESSERA_EXPECT(previous.hierarchy == before.hierarchy && previous.rank == before.rank,
                 "give the input that the graphs were compiled from");
  TESSERA_EXPECT(next.owners->size() == static_cast<std::size_t>(next.hierarchy->patchCount()),
                 "give an owner for each patch");
  CompiledGraphs graphs = std::move(previous);
  std::string why = whyNotInPlace(graphs, plans, before, next);
  if (!why.empty()) return compileAnew(plans, next, why, next.hierarchy->patchCount());
  const std::vector<detail::ResolvedPlan> resolved = detail::resolvePlans(plans, next);
  if (resolved != detail::resolvePlans(plans, before) ||
      !sameMemory(detail::storageOf(resolved, next), graphs.storage))
    return compileAnew(plans, next, "it has changed whether levels cover their domain or fit the caches",
                       next.hierarchy->patchCount());
  const std::optional<detail::MeshChanges> changes = detail::moveToMesh(graphs, *before.owners, next);
  if (!changes)
    return compileAnew(plans, next, "a level has more patches than room", next.hierarchy->patchCount());
  if (next.sharing == WindowSharing::On && !detail::shareWindowsAnew(resolved, next, *changes, graphs))
    return compileAnew(plans, next, "a level that tasks read whole is stored in another way",
                       changes->patches);
  const bool different = std::any_of(changes->levels.begin(), changes->levels.end(),
                                     [](const detail::LevelChanges& level) { return !level.same; });
  for (std::size_t p = 0; p < resolved.size() && different; ++p) {
    detail::GraphRebuild builder(resolved[p], next, graphs, &*changes);
    std::optional<CompiledGraph> graph = builder.rebuild(std::move(graphs.plans[p]), graphs.gathers[p]);
    if (!graph)
      return compileAnew(
          plans, next,
          builder.tooMuch() ? "most patches changed" : "no room is left for new edges or messages",
          changes->patches);
    graphs.plans[p] = std::move(*graph);
  }
  return {std::move(graphs), "", changes->patches};
}

}  // namespace tessera
