#include "scheduler/make_data_warehouse.hpp"

#include <exception>
#include <thread>

namespace tessera {
namespace {

void populate(DataWarehouse& data, int threads) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
  std::vector<std::thread> others;
  const auto part = [&](int n) {
    try {
      data.populate(n, threads);
    } catch (...) {
      failures[static_cast<std::size_t>(n)] = std::current_exception();
    }
  };
  for (int n = 1; n < threads; ++n) others.emplace_back(part, n);
  part(0);
  for (std::thread& t : others) t.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace

std::unique_ptr<DataWarehouse> makeDataWarehouse(const CompiledGraphs& graphs, int threads) {
  std::vector<EntryLayout> entries;
  for (const StorageNeed& need : storageNeeds(graphs)) {
    const Box& window =
        need.shared < 0 ? need.window : graphs.shared[static_cast<std::size_t>(need.shared)].window;
    entries.push_back({need.label, need.patch, window, need.hasOld, need.shared, need.slot});
  }
  std::vector<std::vector<GatherLayout>> gathers;
  for (const auto& plan : graphs.gathers) {
    gathers.emplace_back();
    for (const GatherNeed& need : plan) gathers.back().push_back({need.label, need.window, need.slot});
  }
  auto data =
      std::make_unique<DataWarehouse>(graphs.hierarchy, *graphs.labels, graphs.ownPatches, entries, gathers);
  populate(*data, threads);
  return data;
}

}  // namespace tessera
