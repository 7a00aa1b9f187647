#pragma once

#include <string>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// What people call a node of plan number `plan`: "Heat::advance on L0/P0003 [..]", "the halo of Old
/// temperature around L0/P0002 [..]", "a message of 512 bytes from rank 1, tag 3 (Old temperature of L0/P0001
/// [..])".
std::string nodeName(const CompiledGraphs& graphs, std::size_t plan, NodeId node);
/// The same of a node of a placed graph: "... on device 0", "New temperature of L0/P0001 [..] to device 0".
std::string placedNodeName(const CompiledGraphs& graphs, std::size_t plan, const PlacedGraph& placed,
                           NodeId node);

}  // namespace tessera::detail
