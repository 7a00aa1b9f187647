#include "scheduler/make_data_warehouse.hpp"

#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "scheduler/executor/bind_thread.hpp"

namespace tessera {
namespace {

void populate(DataWarehouse& data, int threads, std::span<const int> cores) {
  std::vector<std::string> failures(static_cast<std::size_t>(threads));
  std::vector<std::thread> others;
  const auto part = [&](int n) {
    try {
      if (!cores.empty()) detail::bindThisThread(cores[static_cast<std::size_t>(n)]);
      data.populate(n, threads);
    } catch (const std::exception& failure) {
      failures[static_cast<std::size_t>(n)] = failure.what();
    }
  };
  const auto finish = [&] {
    for (std::thread& t : others) t.join();
  };
  try {
    for (int n = 1; n < threads; ++n) others.emplace_back(part, n);
  } catch (const std::exception& failure) {
    finish();
    detail::threadNotStarted(others.size() + 1, threads, failure);
  }
  part(0);
  finish();
  for (const std::string& failure : failures) {
    if (!failure.empty()) throw InternalError(failure);
  }
}

}  // namespace

std::unique_ptr<DataWarehouse> makeDataWarehouse(const CompiledGraphs& graphs, int threads,
                                                 std::span<const int> cores, MemoryPieces pieces,
                                                 Inheritance inheritance) {
  TESSERA_EXPECT(threads >= 1 && (cores.empty() || cores.size() >= static_cast<std::size_t>(threads)),
                 "give a core for each thread, or none");
  std::vector<EntryLayout> entries;
  for (const StorageNeed& need : storageNeeds(graphs)) {
    EntryLayout entry{need.label, need.patch, need.window, need.hasOld, need.shared, need.slot};
    if (need.shared >= 0) entry.window = graphs.shared[static_cast<std::size_t>(need.shared)].window;
    entries.push_back(entry);
  }
  std::vector<std::vector<GatherLayout>> gathers;
  for (const auto& plan : graphs.gathers) {
    gathers.emplace_back();
    for (const GatherNeed& need : plan) gathers.back().push_back({need.label, need.window, need.slot});
  }
  auto data = std::make_unique<DataWarehouse>(graphs.hierarchy, *graphs.labels, graphs.ownPatches, entries,
                                              gathers, pieces);
  if (inheritance.before != nullptr) data->inherit(*inheritance.before, inheritance.needed);
  populate(*data, threads, cores);
  return data;
}

}  // namespace tessera
