#include "scheduler/device/memory/device_memory_use.hpp"

#include <map>
#include <utility>
#include <vector>

#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/storage/window_groups.hpp"

namespace tessera {
namespace {

/// Of one variable on one level.
struct Needed {
  int generations = 1;
  std::vector<Box> windows;   ///< in each generation
  std::vector<Box> gathered;  ///< in one
};

using NeededByLevel = std::map<std::pair<LabelId, LevelId>, Needed>;

void addWindows(const CompiledGraphs& graphs, const DeviceStore& store, NeededByLevel& needed) {
  for (const LevelStorage& storage : graphs.storage) {
    Needed& n = needed[{storage.label, storage.level}];
    n.generations = storage.hasOld ? 2 : 1;
    const Range own = graphs.localsOfLevel[static_cast<std::size_t>(storage.level)];
    for (std::int64_t local = own.begin; local < own.end; ++local) {
      if (store.isAdded(storage.label, static_cast<std::size_t>(local)))
        n.windows.push_back(storageNeed(graphs, storage, local).window);
    }
  }
}

/// A whole level has values where its patches are.
void addGathered(const CompiledGraphs& graphs, const FillPlan& fill, const GatherNeed& need, Needed& needed) {
  if (fill.reach != Reach::WholeLevel) return needed.gathered.push_back(need.window);
  const Level& level = graphs.hierarchy->level(fill.sourceLevel);
  const Centering centering = graphs.labels->info(fill.label).centering;
  for (const Patch& patch : level.patches()) {
    forEachInDomain(level, patch, centering,
                    [&](const Box& region, Index) { needed.gathered.push_back(region); });
  }
}

void addGathers(const CompiledGraphs& graphs, const DeviceStore& store, NeededByLevel& needed) {
  for (std::size_t plan = 0; plan < graphs.plans.size(); ++plan) {
    for (const FillPlan& fill : graphs.plans[plan].fills) {
      if (fill.firstGather < 0) continue;
      const Range rows = graphs.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)];
      const std::int64_t count = fill.reach == Reach::WholeLevel ? 1 : rows.size();
      for (std::int64_t row = 0; row < count; ++row) {
        const auto n = static_cast<std::size_t>(fill.firstGather + row);
        if (!store.hasGather(plan, n)) continue;
        addGathered(graphs, fill, graphs.gathers[plan][n], needed[{fill.label, fill.sourceLevel}]);
      }
    }
  }
}

std::int64_t indicesOf(const Needed& needed) {
  const std::int64_t stored = distinctCells(needed.windows);
  if (needed.gathered.empty()) return needed.generations * stored;
  std::vector<Box> all = needed.windows;
  all.insert(all.end(), needed.gathered.begin(), needed.gathered.end());
  return (needed.generations - 1) * stored + distinctCells(all);
}

}  // namespace

DeviceMemoryUse memoryUseOf(const CompiledGraphs& graphs, const DeviceStore& store) {
  NeededByLevel needed;
  addWindows(graphs, store, needed);
  addGathers(graphs, store, needed);
  DeviceMemoryUse use{store.bytes(), 0};
  for (const auto& [what, n] : needed)
    use.distinctBytes += indicesOf(n) * graphs.labels->info(what.first).type.bytes();
  return use;
}

}  // namespace tessera
