#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/device/lane/device_lane.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// Cuts each device's part of a plan into segments that can each be launched as a whole, when all that its
/// nodes wait for on the host is there, and behind all segments of other devices that they wait for: by node,
/// which segment of its device it belongs to, counted from 0; -1 for nodes of the host.
///
/// Each segment is the nodes of one device that have one key: the highest tag of a message that a node waits
/// for, directly or through others; how often it waits for the host on the way since; how often for another
/// device since then; and whether the node, or one behind it with the same three, is a pack or a copy to the
/// host, else whether another device waits for it. Segments count up with their keys, the first part of a key
/// before the next, so that what others wait for comes first.
///
/// Nothing waits in a cycle: along each edge, of one device, between two, or over the host, keys do not
/// fall, and the first three parts rise where an edge leads to another device or from the host to one. So
/// whoever waits for all that a segment waits for waits for lower keys alone, on whatever device they are.
/// Between ranks, tags count the stages of a plan alike on every rank, and what is sent under a tag waits for
/// lower ones only. Pure.
std::vector<std::int32_t> replaySegments(const CompiledGraph& graph, const PlacedGraph& placed);

/// What the segments of one device have to do with those of others, as LanePlan has it for its tasks.
struct SegmentPeers {
  std::vector<PeerEdge> edges;             ///< each pair once
  std::vector<std::int32_t> predecessors;  ///< by segment; empty: no two devices wait for each other
};
/// `segments` is what `replaySegments` gave.
SegmentPeers segmentPeers(const PlacedGraph& placed, const std::vector<std::int32_t>& segments,
                          DeviceAssignment device);

}  // namespace tessera::detail
