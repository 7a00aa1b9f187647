#pragma once

#include <span>
#include <vector>

#include "taskgraph/graph_compiler.hpp"

namespace tessera::detail {

/// The patches of the input's rank, ascending.
std::vector<PatchId> ownPatchesOf(const CompileInput& input);

/// By level, the positions in `own` (ascending) of the patches of that level.
std::vector<Range> localsOf(const Hierarchy& hierarchy, std::span<const PatchId> own);

/// By patch id, its position in `own`, or -1; `own` may hold -1, too.
std::vector<std::int32_t> localsByPatch(std::span<const PatchId> own, std::int64_t patches);

/// Writes own patches, levels and, where slots are given, the way back from patch to slot into `graphs`.
void placeOwnPatches(const CompileInput& input, CompiledGraphs& graphs);

}  // namespace tessera::detail
