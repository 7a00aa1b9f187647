#pragma once

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/placement/placed_graph.hpp"
#include "taskgraph/proof/race_faults.hpp"

namespace tessera::detail {

/// Looks at the arrays of a placed graph alone: each node of the compiled graph is there once, in its own
/// block; what was added stands beside nodes of the right kind; edges are the executor's or a lane's as they
/// should be, ascending, each once; counts agree with them. False where the arrays cannot be followed.
bool checkShape(const CompiledGraph& graph, const PlacedGraph& placed, RaceFaults& faults);

}  // namespace tessera::detail
