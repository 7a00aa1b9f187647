#include "scheduler/detail/scratch_windows.hpp"

#include <algorithm>

#include "taskgraph/fill_geometry.hpp"

namespace tessera::detail {

Layout scratchLayout(const Hierarchy& hierarchy, const Box& window) {
  const Geometry& geometry = hierarchy.geometry();
  return {window, !geometry.hasHalo(1), !geometry.hasHalo(2)};
}

ScratchWindows::ScratchWindows(const CompiledGraphs& graphs, std::size_t plan, int workers) {
  const CompiledGraph& graph = graphs.plans[plan];
  layOut(graphs, graph);
  for (const TaskUnit& unit : graph.units) {
    std::int64_t end = 0;
    for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
      const std::int32_t fill = graph.accesses[static_cast<std::size_t>(a)].fill;
      if (fill < 0 || !graph.fills[static_cast<std::size_t>(fill)].scratch) continue;
      offsets_[static_cast<std::size_t>(fill)] = end;
      end += sizes_[static_cast<std::size_t>(fill)];
    }
    bytes_ = std::max(bytes_, end);
  }
  if (bytes_ == 0) return;
  for (int n = 0; n < workers; ++n) memory_.emplace_back(bytes_);
}

void ScratchWindows::layOut(const CompiledGraphs& graphs, const CompiledGraph& graph) {
  layouts_.resize(graph.fills.size());
  offsets_.assign(graph.fills.size(), 0);
  sizes_.assign(graph.fills.size(), 0);
  for (std::size_t n = 0; n < graph.fills.size(); ++n) {
    const FillPlan& fill = graph.fills[n];
    if (!fill.scratch) continue;
    const LabelInfo& info = graphs.labels->info(fill.label);
    const Level& level = graphs.hierarchy->level(fill.sourceLevel);
    const Range own = graphs.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)];
    for (std::int64_t local = own.begin; local < own.end; ++local) {
      const Patch& patch = graphs.hierarchy->patch(graphs.ownPatches[static_cast<std::size_t>(local)]);
      const Box target = fillTarget(level, patch, info.centering, fill.halo, Reach::Patch);
      layouts_[n].push_back(scratchLayout(*graphs.hierarchy, target));
      sizes_[n] = std::max(sizes_[n], paddedBytes(layouts_[n].back().elements() * info.type.bytes()));
    }
  }
}

}  // namespace tessera::detail
