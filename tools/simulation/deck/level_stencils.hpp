#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/parameter_values.hpp"
#include "grid/label.hpp"
#include "grid/refined_levels.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// Variables of which halos beyond their level are interpolated in time, by the name of a plan.
using StandInsByPlan = std::map<std::string, std::vector<StandIn>>;

/// Those of a plan.
std::span<const StandIn> standInsOf(const StandInsByPlan& standIns, const std::string& plan);

/// Whether the halo of a read is interpolated where it lies beyond the level of its patch. What another
/// variable stands in for is gathered as for interpolation, however it goes on.
bool isInterpolated(const ReadDeclaration& read, const LabelTable& labels, std::span<const StandIn> standIns);

/// Boxes of `[[grid.level]]` that the tasks of the plans cannot compute on: what a task reads around a patch
/// has to lie on the level that it reads or on the next coarser one, and where a box lies too near to the end
/// of that one there is nothing. A finding for each such box, at its place in the deck. `grid`: the values of
/// the table, which have passed `check`.
DeckDiagnostics checkStencils(const ParameterValues& grid, const std::vector<RefinedLevel>& levels,
                              std::span<const StepPlan> plans, const LabelTable& labels,
                              const StandInsByPlan& standIns = {});

}  // namespace tessera
