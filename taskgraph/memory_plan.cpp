#include "taskgraph/memory_plan.hpp"

#include <algorithm>
#include <map>

namespace tessera {
namespace {

std::int64_t bytesOf(const Box& window, LabelId label, const CompiledGraphs& graphs) {
  return window.volume() * graphs.labels->info(label).type.bytes();
}

void addFields(const CompiledGraphs& graphs, MemoryPlan& plan) {
  std::map<std::pair<std::int32_t, PatchId>, std::int64_t> shared;
  for (const StorageNeed& need : storageNeeds(graphs)) {
    const std::int64_t bytes = bytesOf(need.window, need.label, graphs) * (need.hasOld ? 2 : 1);
    plan.fieldsWithoutReuse += bytes;
    if (need.slot < 0) {
      plan.fields += bytes;
    } else {
      std::int64_t& most = shared[{need.slot, need.patch}];
      most = std::max(most, bytes);
    }
  }
  for (const auto& [where, bytes] : shared) plan.fields += bytes;
}

}  // namespace

std::int64_t gatherBytes(const CompiledGraphs& graphs, std::size_t plan) {
  std::map<std::int32_t, std::int64_t> slots;
  for (const GatherNeed& need : graphs.gathers[plan]) {
    std::int64_t& most = slots[need.slot];
    most = std::max(most, bytesOf(need.window, need.label, graphs));
  }
  std::int64_t bytes = 0;
  for (const auto& [slot, most] : slots) bytes += most;
  return bytes;
}

MemoryPlan memoryPlanOf(const CompiledGraphs& graphs) {
  MemoryPlan plan;
  addFields(graphs, plan);
  for (std::size_t p = 0; p < graphs.plans.size(); ++p) {
    plan.gathers = std::max(plan.gathers, gatherBytes(graphs, p));
    std::int64_t alone = 0;
    for (const GatherNeed& need : graphs.gathers[p]) alone += bytesOf(need.window, need.label, graphs);
    plan.gathersWithoutReuse = std::max(plan.gathersWithoutReuse, alone);
  }
  return plan;
}

}  // namespace tessera
