#pragma once

#include "taskgraph/edges/added_nodes.hpp"
#include "taskgraph/edges/edge_router.hpp"
#include "taskgraph/placement/node_assignments.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// Fills in the edges of a placed graph whose nodes have their numbers: to the executor, or to the lane of a
/// device, and which nodes belong to the executor.
void dealOutEdges(const CompiledGraph& graph, EdgeRouter& router, const AddedNodesTable& added,
                  const DeviceAssignments& places, PlacedGraph& placed);

}  // namespace tessera::detail
