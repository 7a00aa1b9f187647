#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/moves/aligned_layout.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// How the patch of a row and its halo lie in a scratch window: the first cell of the patch in each row is
/// the first of a cache line, where its size allows it.
AlignedLayout scratchLayout(const CompiledGraphs& graphs, const FillPlan& fill, std::int64_t row);

/// Where the workers put what tasks read of variables without stored halos: one piece of memory a worker,
/// used again by each task that it runs, so it stays in the nearest caches.
class ScratchWindows {
 public:
  /// Of one plan. Memory is taken here, none later.
  ScratchWindows(const CompiledGraphs& graphs, std::size_t plan, int workers);

  struct Window {
    Layout layout;
    std::int64_t lead = 0;  ///< bytes before its element 0
  };

  /// Of row `row` of fill number `fill`, which has to be one into scratch.
  const Window& window(std::size_t fill, std::int32_t row) const {
    return windows_[fill][static_cast<std::size_t>(row)];
  }
  /// Where the scratch fields of a unit's task begin in the worker's memory: behind its windows.
  std::int64_t ownOffset(const TaskUnit& unit) const {
    return ownOffsets_[static_cast<std::size_t>(&unit - firstUnit_)];
  }
  /// From the start of the worker's memory: the windows of one task follow one another.
  std::int64_t offset(std::size_t fill) const { return offsets_[fill]; }
  std::byte* memory(int worker) { return memory_[static_cast<std::size_t>(worker)].data(); }
  /// Of the memory of one worker: the most that a task needs.
  std::int64_t most() const { return most_; }
  /// Room for any row of a fill.
  std::int64_t bytes(std::size_t fill) const { return sizes_[fill]; }

 private:
  void layOut(const CompiledGraphs& graphs, const CompiledGraph& graph);

  std::vector<std::vector<Window>> windows_;  ///< by fill, then row
  std::vector<std::int64_t> offsets_;         ///< by fill, bytes
  std::vector<std::int64_t> sizes_;           ///< by fill, bytes of the largest row
  const TaskUnit* firstUnit_ = nullptr;
  std::vector<std::int64_t> ownOffsets_;  ///< by unit
  std::int64_t most_ = 0;
  std::vector<AlignedMemory> memory_;  ///< by worker
};

}  // namespace tessera::detail
