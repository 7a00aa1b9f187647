#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// How a patch and its halo lie in a scratch window.
Layout scratchLayout(const Hierarchy& hierarchy, const Box& window);

/// Where the workers put what tasks read of variables without stored halos: one piece of memory a worker,
/// used again by each task that it runs, so it stays in the nearest caches.
class ScratchWindows {
 public:
  /// Of one plan. Memory is taken here, none later.
  ScratchWindows(const CompiledGraphs& graphs, std::size_t plan, int workers);

  /// Of row `row` of fill number `fill`, which has to be one into scratch.
  const Layout& layout(std::size_t fill, std::int32_t row) const {
    return layouts_[fill][static_cast<std::size_t>(row)];
  }
  /// From the start of the worker's memory: the windows of one task follow one another.
  std::int64_t offset(std::size_t fill) const { return offsets_[fill]; }
  std::byte* memory(int worker) { return memory_[static_cast<std::size_t>(worker)].data(); }
  /// Of one worker.
  std::int64_t bytes() const { return bytes_; }

 private:
  void layOut(const CompiledGraphs& graphs, const CompiledGraph& graph);

  std::vector<std::vector<Layout>> layouts_;  ///< by fill, then row
  std::vector<std::int64_t> offsets_;         ///< by fill, bytes
  std::vector<std::int64_t> sizes_;           ///< by fill, bytes of the largest row
  std::vector<AlignedMemory> memory_;         ///< by worker
  std::int64_t bytes_ = 0;
};

}  // namespace tessera::detail
