#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "taskgraph/placement/placed_graph.hpp"
#include "taskgraph/proof/placement_check.hpp"

namespace tessera::test {

using NodePair = std::pair<std::int32_t, std::int32_t>;

/// Tasks of patches that have a device body on device 0, the others on the host.
inline PlaceTask onDevice() {
  return [](const TaskDeclaration& task, LevelId, std::int32_t local) {
    return task.body.device && local >= 0 ? DeviceAssignment{0} : kOnHost;
  };
}

/// Tasks of these names on device 0, the others on the host.
inline PlaceTask onDevice(std::set<std::string> names) {
  return [names = std::move(names)](const TaskDeclaration& task, LevelId, std::int32_t) {
    return names.count(task.name) > 0 ? DeviceAssignment{0} : kOnHost;
  };
}

/// Every rank's placement of one plan.
inline std::vector<PlacedGraph> placeAll(const std::vector<CompiledGraphs>& ranks, std::size_t plan,
                                         const PlaceTask& place) {
  std::vector<PlacedGraph> placed;
  for (const CompiledGraphs& rank : ranks) placed.push_back(placeGraph(rank, plan, place));
  return placed;
}

/// What a person calls a node: "advance on 2", "halo u of 0", "u out of 1", "pack to 1", "reduction".
inline std::string nodeText(const CompiledGraphs& rank, std::size_t plan, const PlacedGraph& placed,
                            std::int32_t node) {
  const CompiledGraph& graph = rank.plans[plan];
  const PlacedBlock& block = placed.block(node);
  const NodeBlock& of = graph.blocks[static_cast<std::size_t>(block.block)];
  const std::int32_t number = placed.numberOf(node);
  const std::string local = std::to_string(of.firstLocal + number);
  const auto label = [&](LabelId id) { return rank.labels->info(id).name; };
  if (block.kind == PlacedKind::CopyIn) return label(block.label) + " into device, of " + local;
  if (block.kind == PlacedKind::CopyOut) return label(block.label) + " out of device, of " + local;
  const auto item = static_cast<std::size_t>(of.item);
  const std::string peer = of.kind == NodeKind::Send
                               ? std::to_string(graph.sends[item + static_cast<std::size_t>(number)].peer)
                               : "";
  switch (of.kind) {
    case NodeKind::Task:
      return graph.plan->tasks()[static_cast<std::size_t>(graph.units[item].task)].name + " on " + local;
    case NodeKind::Fill:
      return (block.kind == PlacedKind::Twin ? "twin fill of " : "fill of ") +
             label(graph.fills[item].label) + " for " + local;
    case NodeKind::Send:
      return (block.kind == PlacedKind::Pack ? "pack to " : "send to ") + peer;
    case NodeKind::Receive:
      return "receive";
    case NodeKind::Reduce:
      break;
  }
  return "reduction";
}

/// All edges, as text: "advance on 2 > fill of u for 3". Edges of a lane have ">>" for ">", those between
/// lanes ">>>".
inline std::set<std::string> edgeTexts(const CompiledGraphs& rank, std::size_t plan,
                                       const PlacedGraph& placed) {
  const auto text = [&](std::int32_t node) { return nodeText(rank, plan, placed, node); };
  std::set<std::string> texts;
  for (std::int32_t n = 0; n < placed.nodeCount(); ++n) {
    for (const std::int32_t then : placed.hostEdges.row(n)) texts.insert(text(n) + " > " + text(then));
  }
  for (const auto& [first, then] : placed.deviceEdges) texts.insert(text(first) + " >> " + text(then));
  for (const auto& [first, then] : placed.peerEdges) texts.insert(text(first) + " >>> " + text(then));
  return texts;
}

/// Number of nodes of a kind.
inline std::int64_t countOf(const PlacedGraph& placed, PlacedKind kind) {
  std::int64_t count = 0;
  for (const PlacedBlock& block : placed.blocks) {
    if (block.kind == kind) count += block.count;
  }
  return count;
}

/// All edges of a placed graph, the executor's first.
inline std::vector<NodePair> edgesOf(const PlacedGraph& placed) {
  std::vector<NodePair> edges;
  for (std::int32_t n = 0; n < placed.nodeCount(); ++n) {
    for (const std::int32_t then : placed.hostEdges.row(n)) edges.emplace_back(n, then);
  }
  edges.insert(edges.end(), placed.deviceEdges.begin(), placed.deviceEdges.end());
  edges.insert(edges.end(), placed.peerEdges.begin(), placed.peerEdges.end());
  return edges;
}

/// The graph without one edge, as a placement that forgot it would have made it.
inline PlacedGraph without(const PlacedGraph& placed, const NodePair& edge) {
  PlacedGraph left;
  left.blocks = placed.blocks;
  left.blockOf = placed.blockOf;
  left.oldNeeds = placed.oldNeeds;
  left.packPlaces = placed.packPlaces;
  left.homes = placed.homes;
  left.hostCounts.assign(placed.hostCounts.size(), 0);
  std::vector<bool> told(placed.hostCounts.size(), false);
  for (std::int32_t n = 0; n < placed.nodeCount(); ++n) {
    for (const std::int32_t then : placed.hostEdges.row(n)) {
      if (NodePair{n, then} == edge) continue;
      left.hostEdges.push(then);
      ++left.hostCounts[static_cast<std::size_t>(then)];
      told[static_cast<std::size_t>(n)] = told[static_cast<std::size_t>(then)] = true;
    }
    left.hostEdges.endRow();
  }
  left.hostEdges.finish(placed.nodeCount());
  for (std::int32_t n = 0; n < placed.nodeCount(); ++n) {
    const auto at = static_cast<std::size_t>(n);
    if (placed.blockOf[at] < 0 || (placed.place(n) != kOnHost && !told[at])) left.hostCounts[at] = -1;
  }
  const auto isOther = [&](const NodePair& other) { return other != edge; };
  std::copy_if(placed.deviceEdges.begin(), placed.deviceEdges.end(), std::back_inserter(left.deviceEdges),
               isOther);
  std::copy_if(placed.peerEdges.begin(), placed.peerEdges.end(), std::back_inserter(left.peerEdges), isOther);
  return left;
}

/// Whether a path leads from the one end of an edge to the other without it. Looks at one rank alone.
inline bool leadsAround(const PlacedGraph& placed, const NodePair& edge) {
  std::map<std::int32_t, std::vector<std::int32_t>> after;
  for (const NodePair& e : edgesOf(placed)) {
    if (e != edge) after[e.first].push_back(e.second);
  }
  std::set<std::int32_t> seen{edge.first};
  std::vector<std::int32_t> open{edge.first};
  while (!open.empty()) {
    const std::int32_t at = open.back();
    open.pop_back();
    for (const std::int32_t next : after[at]) {
      if (next == edge.second) return true;
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return false;
}

}  // namespace tessera::test
