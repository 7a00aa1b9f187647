#include "scheduler/step/scratch_windows.hpp"

#include <algorithm>

#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/storage/memory_plan.hpp"

namespace tessera::detail {

AlignedLayout scratchLayout(const CompiledGraphs& graphs, const FillPlan& fill, std::int64_t row) {
  constexpr auto kLine = static_cast<std::int64_t>(kBufferAlignment);
  const LabelInfo& info = graphs.labels->info(fill.label);
  const Level& level = graphs.hierarchy->level(fill.sourceLevel);
  const std::int64_t local = graphs.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)].begin + row;
  const Patch& patch = graphs.hierarchy->patch(graphs.ownPatches[static_cast<std::size_t>(local)]);
  const Box window = fillTarget(level, patch, info.centering, fill.halo, Reach::Patch);
  const Geometry& geometry = graphs.hierarchy->geometry();
  const Layout plain(window, !geometry.hasHalo(1), !geometry.hasHalo(2));
  const std::int64_t bytes = info.type.elementBytes();
  return alignRows(plain, level.closedBox(patch, info.centering), kLine % bytes == 0 ? kLine / bytes : 1);
}

ScratchWindows::ScratchWindows(const CompiledGraphs& graphs, std::size_t plan, int workers) {
  const CompiledGraph& graph = graphs.plans[plan];
  layOut(graphs, graph);
  firstUnit_ = graph.units.data();
  for (const TaskUnit& unit : graph.units) {
    std::int64_t end = 0;
    for (const UnitAccess& access : graph.accessesOf(unit)) {
      if (!graph.isScratch(access)) continue;
      const auto fill = static_cast<std::size_t>(access.fill);
      offsets_[fill] = end;
      end += sizes_[fill];
    }
    ownOffsets_.push_back(end);
    most_ =
        std::max(most_, end + mostScratchBytes(graphs, unit.level, graph.plan->tasks()[unit.task.index()]));
  }
  if (most_ == 0) return;
  for (int n = 0; n < workers; ++n) memory_.emplace_back(most_);
}

void ScratchWindows::layOut(const CompiledGraphs& graphs, const CompiledGraph& graph) {
  windows_.resize(graph.fills.size());
  offsets_.assign(graph.fills.size(), 0);
  sizes_.assign(graph.fills.size(), 0);
  for (std::size_t n = 0; n < graph.fills.size(); ++n) {
    const FillPlan& fill = graph.fills[n];
    if (!fill.scratch) continue;
    const ElementType type = graphs.labels->info(fill.label).type;
    const std::int64_t rows = graphs.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)].size();
    for (std::int64_t row = 0; row < rows; ++row) {
      const AlignedLayout made = scratchLayout(graphs, fill, row);
      windows_[n].push_back({made.layout, made.lead * type.elementBytes()});
      sizes_[n] = std::max(sizes_[n], paddedBytes(made.bytes(type)));
    }
  }
}

}  // namespace tessera::detail
