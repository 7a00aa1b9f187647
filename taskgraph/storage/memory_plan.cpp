#include "taskgraph/storage/memory_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "taskgraph/task_scratch.hpp"

namespace tessera {
namespace {

std::int64_t bytesOf(const Box& window, LabelId label, const CompiledGraphs& graphs) {
  return window.volume() * graphs.labels->info(label).type.bytes();
}

/// What the shared windows of a variable on a level save over private ones.
std::int64_t savedByWindows(const CompiledGraphs& graphs, const LevelStorage& storage) {
  std::int64_t saved = 0;
  for (std::int64_t s = storage.shared.begin; s < storage.shared.end; ++s) {
    const SharedWindow& shared = graphs.shared[static_cast<std::size_t>(s)];
    saved -= bytesOf(shared, graphs.labels->info(shared.label).type.bytes());
    for (const std::int32_t member : shared.members) {
      saved += bytesOf(storageNeed(graphs, storage, member).window, shared.label, graphs);
    }
  }
  return saved * (storage.hasOld ? 2 : 1);
}

void addFields(const CompiledGraphs& graphs, MemoryPlan& plan) {
  std::map<std::int32_t, std::vector<std::int64_t>> slots;  // bytes by own patch
  for (const LevelStorage& storage : graphs.storage) {
    const Range own = graphs.localsOfLevel[static_cast<std::size_t>(storage.level)];
    std::vector<std::int64_t>* shared = storage.slot < 0 ? nullptr : &slots[storage.slot];
    if (shared != nullptr) shared->resize(static_cast<std::size_t>(own.size()), 0);
    for (std::int64_t local = own.begin; local < own.end; ++local) {
      const StorageNeed need = storageNeed(graphs, storage, local);
      const std::int64_t bytes = bytesOf(need.window, need.label, graphs) * (need.hasOld ? 2 : 1);
      plan.fieldsWithoutReuse += bytes;
      if (shared == nullptr) {
        plan.fields += bytes;
      } else {
        std::int64_t& most = (*shared)[static_cast<std::size_t>(local - own.begin)];
        most = std::max(most, bytes);
      }
    }
    plan.fields -= savedByWindows(graphs, storage);
  }
  for (const auto& [slot, bytes] : slots)
    plan.fields = std::accumulate(bytes.begin(), bytes.end(), plan.fields);
}

}  // namespace

std::int64_t gatherBytes(const CompiledGraphs& graphs, std::size_t plan) {
  std::vector<std::int64_t> slots;
  for (const GatherNeed& need : graphs.gathers[plan]) {
    const auto slot = static_cast<std::size_t>(need.slot);
    if (slots.size() <= slot) slots.resize(slot + 1, 0);
    slots[slot] = std::max(slots[slot], bytesOf(need.window, need.label, graphs));
  }
  return std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
}

std::int64_t mostScratchBytes(const CompiledGraphs& graphs, LevelId level, const TaskDeclaration& task) {
  if (task.scratch.empty() || level < 0) return 0;
  const Range own = graphs.localsOfLevel[static_cast<std::size_t>(level)];
  std::int64_t most = 0;
  for (std::int64_t local = own.begin; local < own.end; ++local) {
    const PatchId patch = graphs.ownPatches[static_cast<std::size_t>(local)];
    if (patch < 0) continue;  // a spare slot
    most = std::max(most, scratchBytes(task, *graphs.labels, graphs.hierarchy->level(level),
                                       graphs.hierarchy->patch(patch)));
  }
  return most;
}

MemoryPlan memoryPlanOf(const CompiledGraphs& graphs) {
  MemoryPlan plan;
  addFields(graphs, plan);
  for (std::size_t p = 0; p < graphs.plans.size(); ++p) {
    plan.gathers = std::max(plan.gathers, gatherBytes(graphs, p));
    for (const TaskUnit& unit : graphs.plans[p].units) {
      const TaskDeclaration& task = graphs.plans[p].plan->tasks()[unit.task.index()];
      plan.taskScratch = std::max(plan.taskScratch, mostScratchBytes(graphs, unit.level, task));
    }
    std::int64_t alone = 0;
    for (const GatherNeed& need : graphs.gathers[p]) alone += bytesOf(need.window, need.label, graphs);
    plan.gathersWithoutReuse = std::max(plan.gathersWithoutReuse, alone);
  }
  return plan;
}

}  // namespace tessera
