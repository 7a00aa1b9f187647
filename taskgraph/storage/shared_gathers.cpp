#include "taskgraph/storage/shared_gathers.hpp"

#include <array>
#include <map>
#include <span>

namespace tessera::detail {
namespace {

/// What a list of boxes lacks of `box`; the box is in the list afterwards.
std::vector<Box> takeRest(std::vector<Box>& done, const Box& box) {
  std::vector<Box> left{box};
  for (const Box& known : done) {
    std::vector<Box> next;
    for (const Box& part : left) {
      if (intersect(part, known).empty()) {
        next.push_back(part);
      } else {
        for (const Box& rest : subtract(part, known)) next.push_back(rest);
      }
    }
    left.swap(next);
    if (left.empty()) return left;
  }
  done.push_back(box);
  return left;
}

/// Members overlap, so most of what one of them takes from the coarser level others take as well.
void addCoarse(SharedGather& gather, const FillPlan& fill) {
  using Origin = std::array<std::int64_t, 4>;
  std::map<Origin, std::vector<Box>> done;
  for (const std::int32_t member : gather.shared->members) {
    for (const CoarsePiece& piece : fill.coarse.row(member - gather.firstRow)) {
      if (piece.source < 0) {
        gather.coarse.push_back({&piece, piece.region});
        continue;
      }
      const Origin origin{piece.source, piece.image.i, piece.image.j, piece.image.k};
      for (const Box& rest : takeRest(done[origin], piece.region)) gather.coarse.push_back({&piece, rest});
    }
  }
}

/// Sides of one target in their order, then those of the next. Not of the bounding box: around a void it has
/// indices beyond the domain whose mirror image nobody has.
void addConditions(SharedGather& gather, const Level& level, Centering centering,
                   std::span<const Box> targets) {
  std::array<std::vector<Box>, 6> done;
  for (const Box& target : targets) {
    const BoundaryParts found = boundaryParts(level, centering, target);
    for (int n = 0; n < found.count; ++n) {
      const BoundaryPart& part = found.parts[static_cast<std::size_t>(n)];
      for (const Box& rest : takeRest(done[static_cast<std::size_t>(part.side)], part.region))
        gather.conditions.push_back({part.side, rest});
    }
  }
}

}  // namespace

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
  std::vector<Box> targets;
  for (const std::int32_t member : shared.members) {
    targets.push_back(fillTarget(level, patchOf(member), centering, fill.halo, Reach::Patch));
    gather.bounds = boundingBox(gather.bounds, targets.back());
  }
  addCoarse(gather, fill);
  std::map<std::array<std::int32_t, 4>, std::vector<Box>> done;
  const NeighbourTable& table = graph.tables[static_cast<std::size_t>(fill.table)];
  for (std::size_t m = 0; m < targets.size(); ++m) {
    // What is in a void has no memory, or that of others.
    const Box& target = shared.full ? gather.bounds : targets[m];
    for (const Neighbour& n : table.row(shared.members[m] - gather.firstRow)) {
      if (isInside(shared, n)) continue;
      const Index period{n.image[0], n.image[1], n.image[2]};
      const Box region = sourceRegion(level, patchOf(n.source), centering, target, period);
      for (const Box& rest : takeRest(done[{n.source, n.image[0], n.image[1], n.image[2]}], region))
        gather.copies.push_back({n.source, rest, shiftOf(level, period)});
    }
  }
  if (shared.full) targets = {gather.bounds};
  addConditions(gather, level, centering, targets);
  return gather;
}

}  // namespace tessera::detail
