#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/deck/deck_diagnostics.hpp"
#include "grid/label.hpp"
#include "grid/regrid/regrid.hpp"
#include "taskgraph/step_plan.hpp"
#include "tools/simulation/deck/level_stencils.hpp"
#include "tools/simulation/deck/run_settings.hpp"

namespace tessera {

/// The rules of a deck whose mesh follows the solution, with the least of `nesting`.
RegridRules regridRulesOf(const RunSettings& settings);

/// What is wrong with them, where grid, levels and times meet.
DeckDiagnostics checkRegrid(const RunSettings& settings);

/// How far around a flagged cell the mesh is refined, in cells of its level; by level, from level 0 on.
std::vector<std::int64_t> buffersOf(const RunSettings& settings);

/// The boxes of [[grid.level]], which count as always flagged.
std::vector<BlockSet> staticFlags(const RunSettings& settings, const RegridRules& rules);

/// Makes `nesting` so wide that the tasks of all plans find what they read around their patches: on the level
/// or on the next coarser one.
void widenNesting(RegridRules& rules, std::span<const StepPlan> plans, const LabelTable& labels,
                  const StandInsByPlan& standIns);

}  // namespace tessera
