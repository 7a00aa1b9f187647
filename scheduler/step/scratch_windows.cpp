#include "scheduler/step/scratch_windows.hpp"

#include <algorithm>

#include "taskgraph/fill_geometry.hpp"

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
  const std::int64_t bytes = info.type.bytes();
  return alignRows(plain, level.ownedBy(patch, info.centering), kLine % bytes == 0 ? kLine / bytes : 1);
}

ScratchWindows::ScratchWindows(const CompiledGraphs& graphs, std::size_t plan, int workers) {
  const CompiledGraph& graph = graphs.plans[plan];
  layOut(graphs, graph);
  std::int64_t most = 0;
  for (const TaskUnit& unit : graph.units) {
    std::int64_t end = 0;
    for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
      const UnitAccess& access = graph.accesses[static_cast<std::size_t>(a)];
      if (!graph.isScratch(access)) continue;
      const auto fill = static_cast<std::size_t>(access.fill);
      offsets_[fill] = end;
      end += sizes_[fill];
    }
    most = std::max(most, end);
  }
  if (most == 0) return;
  for (int n = 0; n < workers; ++n) memory_.emplace_back(most);
}

void ScratchWindows::layOut(const CompiledGraphs& graphs, const CompiledGraph& graph) {
  windows_.resize(graph.fills.size());
  offsets_.assign(graph.fills.size(), 0);
  sizes_.assign(graph.fills.size(), 0);
  for (std::size_t n = 0; n < graph.fills.size(); ++n) {
    const FillPlan& fill = graph.fills[n];
    if (!fill.scratch) continue;
    const std::int64_t bytes = graphs.labels->info(fill.label).type.bytes();
    const std::int64_t rows = graphs.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)].size();
    for (std::int64_t row = 0; row < rows; ++row) {
      const AlignedLayout made = scratchLayout(graphs, fill, row);
      windows_[n].push_back({made.layout, made.lead * bytes});
      sizes_[n] = std::max(sizes_[n], paddedBytes(made.elements * bytes));
    }
  }
}

}  // namespace tessera::detail
