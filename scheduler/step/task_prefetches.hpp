#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/prefetcher.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "scheduler/step/host_moves.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// What a task has its loops ask memory for: all that the next task of its block gathers into scratch
/// windows, reads and writes. Most likely the same worker runs that one right after it. Which one is next is
/// told from the order so far: upwards through the block, or downwards, as where all of its tasks have waited
/// for the length of the step.
class TaskPrefetches {
 public:
  /// Of one plan. Memory is taken here, none later.
  TaskPrefetches(const CompiledGraphs& graphs, std::size_t plan, const DataWarehouse& data,
                 const HostMoves& moves, int workers);

  /// For node `number` of a block of tasks, until the same worker asks again; null where there is nothing
  /// to ask for: the last one of the block, and tasks without scratch windows, whose data the caches hold.
  Prefetcher* during(const NodeBlock& block, std::int32_t number, const Patch* patch, int worker);

 private:
  struct alignas(64) Worker {
    std::vector<PrefetchLines> lines;
    Prefetcher ahead;
    std::int32_t last = -1;  ///< the node that has asked before
    std::int32_t step = 1;   ///< to the next: 1 or -1
  };

  /// How many entries a task of the block needs at the most; 0: it does not gather.
  std::size_t entries(const NodeBlock& block) const;
  /// All that node `number` of the block will use.
  void list(const NodeBlock& block, std::int32_t number, Worker& worker) const;

  const CompiledGraph& graph_;
  const DataWarehouse& data_;
  const HostMoves& moves_;
  std::vector<bool> gathers_;  ///< by unit
  std::vector<Worker> workers_;
};

}  // namespace tessera::detail
