#include "scheduler/make_data_warehouse.hpp"

namespace tessera {

std::unique_ptr<DataWarehouse> makeDataWarehouse(const CompiledGraphs& graphs) {
  std::vector<EntryLayout> entries;
  for (const StorageNeed& need : storageNeeds(graphs))
    entries.push_back({need.label, need.patch, need.window, need.hasOld, need.slot});
  std::vector<std::vector<GatherLayout>> gathers;
  for (const auto& plan : graphs.gathers) {
    gathers.emplace_back();
    for (const GatherNeed& need : plan) gathers.back().push_back({need.label, need.window, need.slot});
  }
  return std::make_unique<DataWarehouse>(graphs.hierarchy, *graphs.labels, graphs.ownPatches, entries,
                                         gathers);
}

}  // namespace tessera
