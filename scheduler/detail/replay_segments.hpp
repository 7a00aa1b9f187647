#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "taskgraph/placed_graph.hpp"

namespace tessera::detail {

/// Cuts a device's part of a plan into segments that can each be launched as a whole, when all that its nodes
/// wait for on the host is there: by node of `nodes`, the device's, which segment it belongs to, counted from
/// 0.
///
/// Along edges of the device numbers do not fall. They rise where a node waits, directly or through others,
/// for a message of a higher tag, or more often for the host than nodes before it; and packs and copies to
/// the host, with all that they need, go before others that wait for the same. Tags count the stages of a
/// plan alike on every rank, and what is sent under a tag waits for lower ones only: so ranks that wait for
/// whole segments do not wait for each other in a circle. Pure.
std::vector<std::int32_t> replaySegments(const CompiledGraph& graph, const PlacedGraph& placed,
                                         std::span<const std::int32_t> nodes);

}  // namespace tessera::detail
