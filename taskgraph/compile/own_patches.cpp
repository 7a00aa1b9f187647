#include "taskgraph/compile/own_patches.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"

namespace tessera::detail {

std::vector<PatchId> ownPatchesOf(const CompileInput& input) {
  std::vector<PatchId> own;
  for (std::size_t p = 0; p < input.owners->size(); ++p) {
    if ((*input.owners)[p] == input.rank) own.push_back(static_cast<PatchId>(p));
  }
  return own;
}

std::vector<Range> localsOf(const Hierarchy& hierarchy, std::span<const PatchId> own) {
  std::vector<Range> ranges;
  std::int64_t begin = 0;
  PatchId last = 0;
  for (const Level& level : hierarchy.levels()) {
    last += static_cast<PatchId>(level.patches().size());
    const std::int64_t end = std::lower_bound(own.begin() + begin, own.end(), last) - own.begin();
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

std::vector<std::int32_t> localsByPatch(std::span<const PatchId> own, std::int64_t patches) {
  std::vector<std::int32_t> locals(static_cast<std::size_t>(patches), -1);
  for (std::size_t n = 0; n < own.size(); ++n) {
    if (own[n] >= 0) locals[static_cast<std::size_t>(own[n])] = static_cast<std::int32_t>(n);
  }
  return locals;
}

void placeOwnPatches(const CompileInput& input, CompiledGraphs& graphs) {
  if (input.slots == nullptr) {
    graphs.ownPatches = ownPatchesOf(input);
    graphs.localsOfLevel = localsOf(*input.hierarchy, graphs.ownPatches);
    return;
  }
  graphs.ownPatches = input.slots->patches;
  graphs.localsOfLevel = input.slots->levels;
  graphs.localOfPatch = localsByPatch(graphs.ownPatches, input.hierarchy->patchCount());
  TESSERA_EXPECT(graphs.localsOfLevel.size() == input.hierarchy->levels().size(),
                 "give slots for each level");
  for (std::size_t p = 0; p < input.owners->size(); ++p) {
    const bool own = (*input.owners)[p] == input.rank;
    TESSERA_EXPECT(own == (graphs.localOfPatch[p] >= 0), "give a slot to each own patch, and to no other");
  }
}

}  // namespace tessera::detail

namespace tessera {

Range roomOf(const CompiledGraphs& graphs, LevelId level) {
  const auto at = static_cast<std::size_t>(level);
  const auto& levels = graphs.localsOfLevel;
  const auto all = static_cast<std::int64_t>(graphs.ownPatches.size());
  return {levels[at].begin, at + 1 < levels.size() ? levels[at + 1].begin : all};
}

GraphSlots roomySlots(const CompileInput& input) {
  const std::vector<PatchId> own = detail::ownPatchesOf(input);
  GraphSlots slots;
  for (const Range& level : detail::localsOf(*input.hierarchy, own)) {
    const auto begin = static_cast<std::int64_t>(slots.patches.size());
    slots.patches.insert(slots.patches.end(), own.begin() + level.begin, own.begin() + level.end);
    slots.levels.push_back({begin, begin + level.size()});
    slots.patches.insert(slots.patches.end(), static_cast<std::size_t>(level.size() / 8 + 8), -1);
  }
  return slots;
}

GraphSlots slotsOf(const CompiledGraphs& graphs) {
  GraphSlots slots{graphs.ownPatches, graphs.localsOfLevel, {}};
  for (const CompiledGraph& graph : graphs.plans) {
    slots.messages.emplace_back();
    for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
      const NodeBlock& block = graph.blocks[b];
      if (block.kind != NodeKind::Send && block.kind != NodeKind::Receive) continue;
      const NodeId end = b + 1 < graph.blocks.size() ? graph.blocks[b + 1].firstNode : graph.blockOf.endId();
      slots.messages.back().push_back(end - block.firstNode);
    }
  }
  return slots;
}

}  // namespace tessera
