#pragma once

#include <span>
#include <vector>

#include "taskgraph/compile/resolved_plan.hpp"

namespace tessera::detail {

/// Decides of which variables no halo is stored (LevelStorage::scratch); before shareMemory and shareWindows.
void chooseScratch(std::span<const ResolvedPlan> plans, const CompileInput& input,
                   std::vector<LevelStorage>& storage);

/// What was decided.
bool isScratch(const CompiledGraphs& graphs, const LevelLabel& what);

}  // namespace tessera::detail
