#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taskgraph/placement/placed_graph.hpp"

namespace tessera {

/// Where the nodes of one block run: "Heat::advance", "halo of Old temperature".
struct PlacedNodes {
  NodeKind kind = NodeKind::Task;
  std::string name;
  std::int64_t onHost = 0;
  std::vector<std::int64_t> onDevices;  ///< by device; fills also in further memories, see PlacedKind::Twin
};

/// What a run of the plan copies between the host and one device, of one variable and in one direction.
struct PlannedCopy {
  LabelId label = -1;
  DeviceAssignment device = 0;
  bool toHost = false;
  std::int64_t values = 0;  ///< patches
  std::int64_t bytes = 0;
};

/// Edges of a placed graph by what they join.
struct PlacedEdges {
  std::int64_t onHost = 0;
  std::int64_t hostToDevice = 0;
  std::int64_t deviceToHost = 0;
  std::int64_t onDevice = 0;  ///< both ends on the same one: its lane's alone
  std::int64_t betweenDevices = 0;
};

/// A placed graph in numbers, for people.
struct PlacementSummary {
  int devices = 0;
  std::vector<PlacedNodes> blocks;        ///< without those that have no node
  std::vector<PlannedCopy> copies;        ///< by label, device and direction
  std::vector<std::int64_t> packedBytes;  ///< of messages, by device whose memory they are packed from
  std::int64_t packedOnHost = 0;          ///< bytes, those passed on from other ranks included
  std::vector<OldNeed> oldNeeds;
  PlacedEdges edges;
};

/// Summarises plan number `plan` on that many devices. Linear in nodes and edges.
PlacementSummary summarise(const CompiledGraphs& graphs, std::size_t plan, const PlacedGraph& placed,
                           int devices);

/// The summary as lines that end in newlines.
std::string asText(const PlacementSummary& summary, const LabelTable& labels);

}  // namespace tessera
