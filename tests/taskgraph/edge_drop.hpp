#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/race_check.hpp"

namespace tessera::testing {

/// An edge of the graph of one rank: entry `at` of its successor list, which belongs to node `before`.
struct EdgeAt {
  int rank = 0;
  std::int32_t before = 0;
  std::int64_t at = 0;
  std::int32_t after = 0;
};

inline std::vector<EdgeAt> edgesOf(const std::vector<CompiledGraphs>& ranks, std::size_t plan) {
  std::vector<EdgeAt> edges;
  for (const CompiledGraphs& rank : ranks) {
    const CompiledGraph& graph = rank.plans[plan];
    for (std::int32_t n = 0; n < graph.nodeCount(); ++n) {
      const auto next = graph.successors(n);
      for (std::size_t at = 0; at < next.size(); ++at)
        edges.push_back({rank.rank, n, static_cast<std::int64_t>(at), next[at]});
    }
  }
  return edges;
}

/// The graph without one of its edges, as a compiler that forgot it would have made it.
inline void dropEdge(CompiledGraph& graph, const EdgeAt& edge) {
  const auto next = graph.successors(edge.before);
  std::vector<std::int32_t> left(next.begin(), next.end());
  left.erase(left.begin() + edge.at);
  graph.successorLists.replace(edge.before, left);
  --graph.predecessorCounts[static_cast<std::size_t>(edge.after)];
}

inline NodeKind kindOf(const std::vector<CompiledGraphs>& ranks, std::size_t plan, int rank,
                       std::int32_t node) {
  return ranks[static_cast<std::size_t>(rank)].plans[plan].block(node).kind;
}

/// Whether a path leads from one node to another without the given edge; over messages, too.
class OtherPath {
 public:
  OtherPath(const std::vector<CompiledGraphs>& ranks, std::size_t plan);
  bool around(const EdgeAt& edge) const;

 private:
  struct Node {
    int rank;
    std::int32_t node;
  };
  std::vector<Node> after(Node n) const;

  const std::vector<CompiledGraphs>& ranks_;
  std::size_t plan_;
};

inline OtherPath::OtherPath(const std::vector<CompiledGraphs>& ranks, std::size_t plan)
    : ranks_(ranks), plan_(plan) {}

inline std::vector<OtherPath::Node> OtherPath::after(Node n) const {
  const CompiledGraph& graph = ranks_[static_cast<std::size_t>(n.rank)].plans[plan_];
  std::vector<Node> next;
  for (const std::int32_t s : graph.successors(n.node)) next.push_back({n.rank, s});
  const NodeBlock& block = graph.block(n.node);
  if (block.kind != NodeKind::Send) return next;
  const MessagePlan& sent = graph.sends[static_cast<std::size_t>(block.item + n.node - block.firstNode)];
  const CompiledGraph& peer = ranks_[static_cast<std::size_t>(sent.peer)].plans[plan_];
  for (const NodeBlock& b : peer.blocks) {
    if (b.kind != NodeKind::Receive) continue;
    for (std::int32_t m = 0; m < b.count; ++m) {
      const MessagePlan& received = peer.receives[static_cast<std::size_t>(b.item + m)];
      if (received.peer == n.rank && received.tag == sent.tag) next.push_back({sent.peer, b.firstNode + m});
    }
  }
  return next;
}

inline bool OtherPath::around(const EdgeAt& edge) const {
  std::vector<std::vector<bool>> seen;
  for (const CompiledGraphs& rank : ranks_)
    seen.emplace_back(static_cast<std::size_t>(rank.plans[plan_].nodeCount()));
  std::vector<Node> open{{edge.rank, edge.before}};
  bool first = true;
  while (!open.empty()) {
    const Node n = open.back();
    open.pop_back();
    bool skipped = false;
    for (const Node& next : after(n)) {
      const bool target = next.rank == edge.rank && next.node == edge.after;
      if (first && target && !skipped) {
        skipped = true;  // the edge itself; a second one between the same nodes counts
        continue;
      }
      if (target) return true;
      if (seen[static_cast<std::size_t>(next.rank)][static_cast<std::size_t>(next.node)]) continue;
      seen[static_cast<std::size_t>(next.rank)][static_cast<std::size_t>(next.node)] = true;
      open.push_back(next);
    }
    first = false;
  }
  return false;
}

/// What an edge is for, by the nodes that it joins.
inline std::string classOf(const CompiledGraph& graph, const EdgeAt& edge) {
  const NodeBlock& before = graph.block(edge.before);
  const NodeBlock& after = graph.block(edge.after);
  const auto fillText = [&](const NodeBlock& block) -> std::string {
    switch (graph.fills[static_cast<std::size_t>(block.item)].reach) {
      case Reach::Patch:
        return "halo";
      case Reach::Coarser:
        return "coarser";
      case Reach::Finer:
        return "finer";
      case Reach::WholeLevel:
        break;
    }
    return "whole level";
  };
  const auto text = [&](const NodeBlock& block) -> std::string {
    switch (block.kind) {
      case NodeKind::Task:
        return "task";
      case NodeKind::Fill:
        return fillText(block);
      case NodeKind::Send:
        return "send";
      case NodeKind::Receive:
        return "receive";
      case NodeKind::Reduce:
        break;
    }
    return "reduction";
  };
  const bool halo = after.kind == NodeKind::Fill && text(after) == "halo" && before.kind == NodeKind::Task;
  const bool below = halo && graph.units[static_cast<std::size_t>(before.item)].level <
                                 graph.fills[static_cast<std::size_t>(after.item)].sourceLevel;
  return text(before) + " before " + (below ? "coarse-fine halo" : text(after));
}

/// Whether a condition takes something from what the patch owns into the halo of the fill.
inline bool mirrorsThePatch(const CompiledGraphs& rank, const FillPlan& fill, const Patch& patch) {
  const Level& level = rank.hierarchy->level(fill.sourceLevel);
  const LabelInfo& info = rank.labels->info(fill.label);
  const Box domain = level.domainOf(info.centering);
  const BoundaryParts parts =
      boundaryParts(level, info.centering, fillTarget(level, patch, info.centering, fill.halo, fill.reach));
  for (int n = 0; n < parts.count; ++n) {
    const BoundaryPart& part = parts.parts[static_cast<std::size_t>(n)];
    const int axis = part.side / 2;
    const auto& condition = info.boundary.sides[static_cast<std::size_t>(part.side)];
    const bool edge = condition->kind == BoundaryKind::Outflow;
    const std::int64_t border = onBorders(info.centering, axis) ? 1 : 0;
    const std::int64_t layers = edge ? 1 : part.region.extent()[axis] + border;
    Box source = part.region;
    source.lo[axis] = part.side % 2 == 1 ? domain.hi[axis] - layers : domain.lo[axis];
    source.hi[axis] = source.lo[axis] + layers;
    if (!intersect(source, level.ownedBy(patch, info.centering)).empty()) return true;
  }
  return false;
}

/// Whether a task on a patch reads indices that the halo fill of the same patch makes.
inline bool readsTheHalo(const CompiledGraphs& rank, const CompiledGraph& graph, const TaskUnit& unit,
                         std::int32_t fill, const Patch& patch) {
  const Level& level = rank.hierarchy->level(patch.level);
  for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
    const UnitAccess& access = graph.accesses[static_cast<std::size_t>(a)];
    const Centering centering = rank.labels->info(access.label).centering;
    const Box owned = level.ownedBy(patch, centering);
    if (access.fill == fill && !owned.contains(readBox(level, patch, centering, access.halo))) return true;
  }
  return false;
}

/// Whether a fill does nothing itself, because the window is shared: its first member's row fills the halo
/// for all members, and a level that is read whole lies there already. Such a node hands on what others wait
/// for, and where they are ordered by other nodes too, nobody misses it.
inline bool isRelay(const CompiledGraphs& rank, const FillPlan& fill, std::int64_t local) {
  if (fill.reach == Reach::WholeLevel) return fill.shared.size() > 0;
  if (fill.reach != Reach::Patch) return false;
  for (const SharedWindow& window : rank.shared) {
    if (window.label != fill.label || window.level != fill.sourceLevel) continue;
    const auto& members = window.members;
    const bool isMember = std::find(members.begin(), members.end(), local) != members.end();
    if (isMember) return members.front() != local;
  }
  return false;
}

/// Some edges order what touches nothing in common: between the halo fill of a patch and a task on the same
/// patch that does not read the halo, where no condition takes the patch into it; from the gather of finer
/// cells over a patch that has none; and those of fills that do nothing themselves.
inline bool isPrecaution(const CompiledGraphs& rank, const CompiledGraph& graph, const EdgeAt& edge) {
  const bool fillFirst = graph.block(edge.before).kind == NodeKind::Fill;
  const std::int32_t filling = fillFirst ? edge.before : edge.after;
  const std::int32_t task = fillFirst ? edge.after : edge.before;
  const NodeBlock& block = graph.block(filling);
  const NodeBlock& other = graph.block(task);
  if (block.kind != NodeKind::Fill || other.kind != NodeKind::Task) return false;
  const FillPlan& fill = graph.fills[static_cast<std::size_t>(block.item)];
  const std::int64_t row = filling - block.firstNode;
  if (isRelay(rank, fill, block.firstLocal + row)) return true;
  if (fill.reach == Reach::Finer) {
    return graph.tables[static_cast<std::size_t>(fill.table)].row(row).empty() &&
           fill.pieces.row(row).empty();
  }
  const std::int64_t local = block.firstLocal + row;
  if (fill.reach != Reach::Patch || task - other.firstNode + other.firstLocal != local) return false;
  const Patch& patch = rank.hierarchy->patch(rank.ownPatches[static_cast<std::size_t>(local)]);
  const TaskUnit& unit = graph.units[static_cast<std::size_t>(other.item)];
  if (fillFirst && readsTheHalo(rank, graph, unit, block.item, patch)) return false;
  const auto changes = [&](std::int64_t a) {
    const UnitAccess& access = graph.accesses[static_cast<std::size_t>(a)];
    // Old has memory of its own.
    return access.mode >= 2 && access.label == fill.label && fill.generation == Generation::New;
  };
  bool changesIt = false;
  for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) changesIt = changesIt || changes(a);
  return !changesIt || !mirrorsThePatch(rank, fill, patch);
}

/// The task or variable of a node.
inline std::string nameOf(const CompiledGraphs& rank, const CompiledGraph& graph, std::int32_t node) {
  const NodeBlock& block = graph.block(node);
  const auto item = static_cast<std::size_t>(block.item);
  if (block.kind == NodeKind::Fill) return rank.labels->info(graph.fills[item].label).name;
  if (block.kind != NodeKind::Task) return "";
  return graph.plan->tasks()[static_cast<std::size_t>(graph.units[item].task)].name;
}

/// What dropping each edge of a plan has shown.
struct DropReport {
  std::map<std::string, int> found;  ///< reported by the race check, by class of edge
  std::vector<std::string> unreported;
};

/// Drops one edge after the other that no other path replaces, and looks for races each time.
inline DropReport dropEach(std::vector<CompiledGraphs> graphs, std::size_t plan) {
  DropReport report;
  const OtherPath paths(graphs, plan);
  for (const EdgeAt& edge : edgesOf(graphs, plan)) {
    if (paths.around(edge)) continue;
    CompiledGraphs& rank = graphs[static_cast<std::size_t>(edge.rank)];
    const CompiledGraph whole = rank.plans[plan];
    dropEdge(rank.plans[plan], edge);
    const bool found = !checkRaces(graphs, plan).clean();
    rank.plans[plan] = whole;
    if (found) {
      ++report.found[classOf(whole, edge)];
    } else if (!isPrecaution(rank, whole, edge)) {
      report.unreported.push_back("rank " + std::to_string(edge.rank) + ", from node " +
                                  std::to_string(edge.before) + " " + nameOf(rank, whole, edge.before) +
                                  " to node " + std::to_string(edge.after) + " " +
                                  nameOf(rank, whole, edge.after) + ", " + classOf(whole, edge));
    }
  }
  return report;
}

}  // namespace tessera::testing
