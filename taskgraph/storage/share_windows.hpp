#pragma once

#include <span>
#include <vector>

#include "taskgraph/compile/resolved_plan.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/recompile/mesh_changes.hpp"

namespace tessera::detail {

/// Whether windows of a variable with a large halo will be shared wherever they overlap, or the variable is
/// read whole by the one rank there is: the same on any rank, since it follows from the declarations alone.
bool willShareWindows(std::span<const ResolvedPlan> plans, const CompileInput& input,
                      const LevelStorage& storage);

/// Decides which own patches store which variables as one: fills `graphs.shared` and points the storage to
/// it. Needs `ownPatches`, `localsOfLevel` and `storage`.
void shareWindows(std::span<const ResolvedPlan> plans, const CompileInput& input, CompiledGraphs& graphs);

/// The same for graphs that have moved to another mesh: where a level is what it was, its windows stay. False
/// where a level that was one window is one no longer, or the reverse: other gathers need buffers then.
bool shareWindowsAnew(std::span<const ResolvedPlan> plans, const CompileInput& input,
                      const MeshChanges& changes, CompiledGraphs& graphs);

/// The shared windows of a variable on a level.
Range sharedOf(const CompiledGraphs& graphs, const LevelLabel& what);

/// The window that serves reads of the whole level; empty where a buffer does.
Range wholeOf(const CompiledGraphs& graphs, const LevelLabel& what);

/// The members that need more for this fill than what the members own: they have to wait for the row that
/// fills what lies around the group.
std::vector<std::int32_t> openMembers(const SharedWindow& shared, const FillPlan& fill,
                                      const NeighbourTable& table, const CompiledGraphs& graphs);

}  // namespace tessera::detail
