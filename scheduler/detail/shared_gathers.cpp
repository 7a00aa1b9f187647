#include "scheduler/detail/shared_gathers.hpp"

#include <array>
#include <set>

#include "taskgraph/fill_geometry.hpp"

namespace tessera::detail {

SharedGathers::SharedGathers(const CompiledGraphs& graphs, std::size_t plan) {
  const CompiledGraph& graph = graphs.plans[plan];
  for (const FillPlan& fill : graph.fills) {
    std::vector<std::int32_t>& roles = roles_.emplace_back();
    if (fill.shared.size() == 0 || fill.reach != Reach::Patch) continue;
    const Range rows = graphs.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)];
    roles.assign(static_cast<std::size_t>(rows.size()), kPrivate);
    for (std::int64_t s = fill.shared.begin; s < fill.shared.end; ++s) {
      const SharedWindow& shared = graphs.shared[static_cast<std::size_t>(s)];
      for (const std::int32_t member : shared.members) {
        roles[static_cast<std::size_t>(member - rows.begin)] = kFollows;
      }
      roles[static_cast<std::size_t>(shared.members.front() - rows.begin)] =
          static_cast<std::int32_t>(gathers_.size());
      gathers_.push_back(make(graphs, graph, fill, shared));
    }
  }
}

SharedGather SharedGathers::make(const CompiledGraphs& graphs, const CompiledGraph& graph,
                                 const FillPlan& fill, const SharedWindow& shared) {
  const Level& level = graphs.hierarchy->level(fill.sourceLevel);
  const Centering centering = graphs.labels->info(fill.label).centering;
  const auto patchOf = [&](std::int32_t local) -> const Patch& {
    return graphs.hierarchy->patch(graphs.ownPatches[static_cast<std::size_t>(local)]);
  };
  SharedGather gather;
  gather.shared = &shared;
  gather.firstRow =
      static_cast<std::int32_t>(graphs.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)].begin);
  for (const std::int32_t member : shared.members) {
    gather.targets.push_back(fillTarget(level, patchOf(member), centering, fill.halo, Reach::Patch));
    gather.bounds = boundingBox(gather.bounds, gather.targets.back());
  }
  std::set<std::array<std::int32_t, 4>> known;
  const NeighbourTable& table = graph.tables[static_cast<std::size_t>(fill.table)];
  for (const std::int32_t member : shared.members) {
    for (const Neighbour& n : table.row(member - gather.firstRow)) {
      if (isInside(shared, n) || !known.insert({n.source, n.image[0], n.image[1], n.image[2]}).second)
        continue;
      const Index period{n.image[0], n.image[1], n.image[2]};
      gather.copies.push_back({n.source,
                               sourceRegion(level, patchOf(n.source), centering, gather.bounds, period),
                               shiftOf(level, period)});
    }
  }
  return gather;
}

}  // namespace tessera::detail
