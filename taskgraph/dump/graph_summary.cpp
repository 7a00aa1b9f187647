#include "taskgraph/dump/graph_summary.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace tessera {
namespace {

template <class T>
std::int64_t bytesOfList(const std::vector<T>& list) {
  return static_cast<std::int64_t>(list.size() * sizeof(T));
}

const CompiledGraph& planOf(const CompiledGraphs& graphs, std::size_t plan) { return graphs.plans[plan]; }

std::string onLevel(LevelId level, const CompiledGraphs& graphs) {
  return graphs.hierarchy->levels().size() > 1 && level >= 0 ? " on level " + std::to_string(level) : "";
}

std::string fillName(const FillPlan& fill, const CompiledGraphs& graphs) {
  const std::string value = std::string(fill.generation == Generation::Old ? "Old " : "New ") +
                            graphs.labels->info(fill.label).name;
  const std::string readers = onLevel(fill.readerLevel, graphs);
  switch (fill.reach) {
    case Reach::Patch:
      return "halo of " + value + readers;
    case Reach::Coarser:
      return "coarser " + value + readers;
    case Reach::Finer:
      return "finer " + value + readers;
    case Reach::WholeLevel:
      return "whole level " + std::to_string(fill.sourceLevel) + " of " + value;
  }
  return value;
}

std::string blockName(const CompiledGraph& graph, const NodeBlock& block, const CompiledGraphs& graphs) {
  const auto item = static_cast<std::size_t>(block.item);
  switch (block.kind) {
    case NodeKind::Task: {
      const TaskUnit& unit = graph.units[item];
      const char* of = unit.part == UnitPart::Release ? "what is left by " : "";
      return of + graph.declarationOf(unit).name + onLevel(unit.level, graphs);
    }
    case NodeKind::Fill:
      return fillName(graph.fills[item], graphs);
    case NodeKind::Send:
      return "send";
    case NodeKind::Receive:
      return "receive";
    case NodeKind::Reduce:
      return "reduce " + graphs.labels->reductionName(graph.reductions[item].reduction);
  }
  return "";
}

std::vector<BlockSummary> blocksOf(const CompiledGraph& graph, const CompiledGraphs& graphs) {
  std::vector<BlockSummary> blocks;
  for (const NodeBlock& block : graph.blocks) {
    blocks.push_back({block.kind, blockName(graph, block, graphs), block.count, block.priority, block.slack});
  }
  return blocks;
}

std::vector<BlockEdge> edgesOf(const CompiledGraph& graph) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> counts;
  for (const NodeId node : graph.nodes()) {
    const std::int32_t from = graph.blockOf[node];
    for (const NodeId next : graph.successors(node)) {
      ++counts[{from, graph.blockOf[next]}];
    }
  }
  std::vector<BlockEdge> edges;
  for (const auto& [ends, count] : counts) edges.push_back({ends.first, ends.second, count});
  return edges;
}

std::vector<PeerSummary> peersOf(const CompiledGraph& graph) {
  std::map<Rank, PeerSummary> peers;
  for (const MessagePlan& message : graph.sends) {
    ++peers[message.peer].sends;
    peers[message.peer].sendBytes += message.bytes;
  }
  for (const MessagePlan& message : graph.receives) {
    ++peers[message.peer].receives;
    peers[message.peer].receiveBytes += message.bytes;
  }
  std::vector<PeerSummary> list;
  for (auto& [rank, peer] : peers) {
    peer.peer = rank;
    list.push_back(peer);
  }
  return list;
}

void addTotals(const CompiledGraph& graph, GraphSummary& summary) {
  for (const PeerSummary& peer : summary.peers) {
    summary.exchanged.sends += peer.sends;
    summary.exchanged.sendBytes += peer.sendBytes;
    summary.exchanged.receives += peer.receives;
    summary.exchanged.receiveBytes += peer.receiveBytes;
  }
  std::set<std::int32_t> whole;
  for (const FillPlan& fill : graph.fills) {
    if (fill.reach != Reach::WholeLevel) continue;
    for (const FillPiece& piece : fill.pieces.row(0)) whole.insert(piece.message);
  }
  summary.wholeLevelReceives = static_cast<std::int64_t>(whole.size());
  for (const std::int32_t n : whole)
    summary.wholeLevelBytes += graph.receives[static_cast<std::size_t>(n)].bytes;
}

std::vector<LabelMemory> labelsOf(const CompiledGraphs& graphs, std::span<const StoredWindows> windows) {
  std::map<LabelId, LabelMemory> labels;
  for (std::size_t n = 0; n < windows.size(); ++n) {
    LabelMemory& memory = labels[windows[n].label];
    memory.label = windows[n].label;
    memory.generations = windows[n].generations;
    memory.shared = memory.shared || (graphs.storage[n].slot >= 0 && windows[n].patches > 0);
    memory.patches += windows[n].patches;
    memory.sharedWindows += windows[n].sharedWindows;
    memory.bytes += windows[n].bytes;
    memory.distinctBytes += windows[n].distinctBytes;
  }
  std::vector<LabelMemory> list;
  for (const auto& [label, memory] : labels) {
    if (memory.patches > 0) list.push_back(memory);
  }
  return list;
}

/// By node, the best chain that ends there, from the last node of the order back to the first.
CriticalPath longestPath(const CompiledGraph& graph) {
  struct Chain {
    std::int64_t tasks = 0;
    std::int64_t nodes = 0;
    NodeId before;
  };
  const auto better = [](const Chain& a, const Chain& b) {
    return a.tasks != b.tasks ? a.tasks > b.tasks : a.nodes > b.nodes;
  };
  IdVector<NodeId, Chain> chains(graph.nodeCount());
  NodeId last;
  for (const NodeId node : graph.nodes()) {
    if (graph.isSpare(node)) continue;
    Chain& chain = chains[node];
    ++chain.nodes;
    if (graph.block(node).kind == NodeKind::Task) ++chain.tasks;
    if (last.isNone() || better(chain, chains[last])) last = node;
    for (const NodeId next : graph.successors(node)) {
      Chain& after = chains[next];
      if (better(chain, after)) after = {chain.tasks, chain.nodes, node};
    }
  }
  CriticalPath path;
  if (last.isNone()) return path;
  path.tasks = chains[last].tasks;
  path.nodes = chains[last].nodes;
  for (NodeId node = last; node.isSome(); node = chains[node].before) {
    path.blocks.push_back(graph.blockOf[node]);
  }
  std::reverse(path.blocks.begin(), path.blocks.end());
  return path;
}

std::set<LevelLabel> readAsOld(const CompiledGraph& graph) {
  std::set<LevelLabel> labels;
  for (const UnitAccess& access : graph.accesses) {
    if (access.mode == AccessMode::ReadOld) labels.insert({access.label, access.level});
  }
  return labels;
}

void findCarryOver(const CompiledGraphs& graphs, std::size_t plan, GraphSummary& summary) {
  for (const LevelLabel& what : readAsOld(planOf(graphs, plan))) {
    CarryOver carried{what, {}};
    for (const CompiledGraph& other : graphs.plans) {
      if (std::find(other.written.begin(), other.written.end(), what) != other.written.end()) {
        carried.plans.push_back(other.plan->name());
      }
    }
    summary.readsOld.push_back(std::move(carried));
  }
  for (const LevelLabel& what : planOf(graphs, plan).written) {
    CarryOver carried{what, {}};
    for (const CompiledGraph& other : graphs.plans) {
      if (readAsOld(other).count(what) > 0) carried.plans.push_back(other.plan->name());
    }
    if (!carried.plans.empty()) summary.leaves.push_back(std::move(carried));
  }
}

}  // namespace

std::int64_t GraphSummary::nodesOf(NodeKind kind) const {
  std::int64_t count = 0;
  for (const BlockSummary& block : blocks) count += block.kind == kind ? block.nodes : 0;
  return count;
}

std::int64_t GraphSummary::edgeCount() const {
  std::int64_t count = 0;
  for (const BlockEdge& edge : edges) count += edge.edges;
  return count;
}

GraphSummary summarise(const CompiledGraphs& graphs, std::size_t plan) {
  const CompiledGraph& graph = planOf(graphs, plan);
  GraphSummary summary;
  summary.blocks = blocksOf(graph, graphs);
  summary.edges = edgesOf(graph);
  summary.peers = peersOf(graph);
  const std::vector<StoredWindows> windows = storedWindows(graphs);
  summary.labels = labelsOf(graphs, windows);
  summary.overhead = sumOf(windows).overhead();
  summary.gathers = gatherBytes(graphs, plan);
  summary.planned = memoryPlanOf(graphs);
  addTotals(graph, summary);
  summary.messageBuffers = summary.exchanged.sendBytes + summary.exchanged.receiveBytes;
  summary.graphBytes = bytesOf(graph);
  summary.longest = longestPath(graph);
  findCarryOver(graphs, plan, summary);
  return summary;
}

std::int64_t bytesOf(const CompiledGraph& g) {
  std::int64_t bytes =
      bytesOfList(g.blocks) + bytesOfList(g.blockOf.all()) + bytesOfList(g.predecessorCounts.all()) +
      g.successorLists.bytes() + bytesOfList(g.singleEdges) + bytesOfList(g.units) + bytesOfList(g.accesses) +
      bytesOfList(g.fills) + bytesOfList(g.tables) + bytesOfList(g.sends) + bytesOfList(g.receives) +
      bytesOfList(g.packItems) + bytesOfList(g.reductions) + bytesOfList(g.written);
  for (const NeighbourTable& t : g.tables) bytes += t.bytes();
  for (const FillPlan& f : g.fills) bytes += f.pieces.bytes() + f.coarse.bytes();
  for (const ReductionPlan& r : g.reductions) bytes += bytesOfList(r.blocks);
  return bytes;
}

std::string nameOf(const LevelLabel& what, const CompiledGraphs& graphs) {
  return graphs.labels->info(what.label).name + onLevel(what.level, graphs);
}

}  // namespace tessera
