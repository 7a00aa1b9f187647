#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/transport/transport.hpp"
#include "scheduler/cores.hpp"
#include "tools/tessera/commands.hpp"

namespace tessera {

/// One line of every rank, in rank order, on all ranks. All call it.
std::vector<std::string> linesOfAllRanks(Transport& transport, const std::string& line);

/// Shares the cores with those ranks that may use the same ones: a launcher may have given each its own. All
/// ranks call it.
WorkerPlan workersOfThisRank(Transport& transport, const RunRequest& request);

/// Throws UsageError where there would be many times more threads than cores: each costs memory at each other
/// one, and nothing gets done.
void requireFewThreads(int threads);

/// Which ranks share the GPUs of this host, and how far they are from each.
struct PlaceOnHost {
  std::int32_t before = 0;                  ///< ranks before this one on its host
  std::vector<std::vector<int>> distances;  ///< of all ranks of its host, from its GPUs
};
/// All ranks call it.
PlaceOnHost placeOnHost(Transport& transport, const RunRequest& request, const std::vector<int>& cores);

}  // namespace tessera
