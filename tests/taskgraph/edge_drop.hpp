#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/proof/race_check.hpp"

namespace tessera::test {

/// An edge of the graph of one rank.
struct EdgeAt {
  int rank = 0;
  NodeId before;
  NodeId after;
};

inline std::vector<EdgeAt> edgesOf(const std::vector<CompiledGraphs>& ranks, std::size_t plan) {
  std::vector<EdgeAt> edges;
  for (const CompiledGraphs& rank : ranks) {
    const CompiledGraph& graph = rank.plans[plan];
    for (const NodeId n : graph.nodes()) {
      for (const NodeId next : graph.successors(n)) edges.push_back({rank.rank, n, next});
    }
  }
  return edges;
}

/// The graph without one of its edges, as a compiler that forgot it would have made it. A second one between
/// the same nodes stays.
inline void dropEdge(CompiledGraph& graph, const EdgeAt& edge) {
  const auto next = graph.successors(edge.before);
  std::vector<NodeId> left(next.begin(), next.end());
  left.erase(std::find(left.begin(), left.end(), edge.after));
  graph.successorLists.replace(edge.before, left);
  --graph.predecessorCounts[edge.after];
}

inline NodeKind kindOf(const std::vector<CompiledGraphs>& ranks, std::size_t plan, int rank, NodeId node) {
  return ranks[static_cast<std::size_t>(rank)].plans[plan].block(node).kind;
}

/// Whether a path leads from one node to another of the same rank; over messages, too.
class Paths {
 public:
  Paths(const std::vector<CompiledGraphs>& ranks, std::size_t plan) : ranks_(ranks), plan_(plan) {}
  bool lead(int rank, NodeId before, NodeId after) const;

 private:
  struct Node {
    int rank;
    NodeId node;
  };
  std::vector<Node> after(Node n) const;

  const std::vector<CompiledGraphs>& ranks_;
  std::size_t plan_;
};

inline std::vector<Paths::Node> Paths::after(Node n) const {
  const CompiledGraph& graph = ranks_[static_cast<std::size_t>(n.rank)].plans[plan_];
  std::vector<Node> next;
  for (const NodeId s : graph.successors(n.node)) next.push_back({n.rank, s});
  const NodeBlock& block = graph.block(n.node);
  if (block.kind != NodeKind::Send) return next;
  const MessagePlan& sent = graph.sends[static_cast<std::size_t>(block.item + (n.node - block.firstNode))];
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

inline bool Paths::lead(int rank, NodeId before, NodeId last) const {
  std::vector<IdVector<NodeId, bool>> seen;
  for (const CompiledGraphs& other : ranks_) seen.emplace_back(other.plans[plan_].nodeCount());
  std::vector<Node> open{{rank, before}};
  while (!open.empty()) {
    const Node n = open.back();
    open.pop_back();
    for (const Node& next : after(n)) {
      if (next.rank == rank && next.node == last) return true;
      if (seen[static_cast<std::size_t>(next.rank)][next.node]) continue;
      seen[static_cast<std::size_t>(next.rank)][next.node] = true;
      open.push_back(next);
    }
  }
  return false;
}

/// What an edge is for, by the nodes that it joins.
inline std::string classOf(const CompiledGraph& graph, const EdgeAt& edge) {
  const NodeBlock& before = graph.block(edge.before);
  const NodeBlock& after = graph.block(edge.after);
  const auto fillText = [&](const NodeBlock& block) -> std::string {
    switch (graph.fillOf(block).reach) {
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
    bool edge = true;
    for (std::int32_t c = 0; c < info.type.planes(); ++c) {
      const BoundaryConditions& conditions = info.conditionsOf(c);
      for (int m = 0; m < conditions.count(part.side); ++m)
        edge = edge && conditions.condition(part.side, m).kind == BoundaryKind::Outflow;
    }
    const std::int64_t border = onBorders(info.centering, axis) ? 1 : 0;
    const std::int64_t layers = edge ? 1 : part.region.extent()[axis] + border;
    Box source = part.region;
    source.lo[axis] = part.side % 2 == 1 ? domain.hi[axis] - layers : domain.lo[axis];
    source.hi[axis] = source.lo[axis] + layers;
    if (!intersect(source, level.closedBox(patch, info.centering)).empty()) return true;
  }
  return false;
}

/// Whether a task on a patch reads indices that the halo fill of the same patch makes.
inline bool readsTheHalo(const CompiledGraphs& rank, const CompiledGraph& graph, const TaskUnit& unit,
                         std::int32_t fill, const Patch& patch) {
  const Level& level = rank.hierarchy->level(patch.level);
  for (const UnitAccess& access : graph.accessesOf(unit)) {
    const Centering centering = rank.labels->info(access.label).centering;
    const Box owned = level.closedBox(patch, centering);
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

/// Whether a row of a fill gathers coarser cells from which nothing is interpolated: rings are gathered for
/// all rows, and their edges are those of whole blocks.
inline bool isIdleRing(const CompiledGraph& graph, std::int32_t ring, std::int64_t row) {
  bool isRing = false;
  for (const FillPlan& fill : graph.fills) {
    if (fill.ring != ring) continue;
    isRing = true;
    if (!fill.coarse.row(row).empty()) return false;
  }
  return isRing;
}

/// Of edges from or to the gather of a ring: a task waits for it by way of the halo, and nobody for a row
/// from which nothing is interpolated.
inline bool isOfRing(const CompiledGraph& graph, const EdgeAt& edge) {
  const NodeBlock& before = graph.block(edge.before);
  const NodeBlock& after = graph.block(edge.after);
  const auto isRing = [&](std::int32_t number) {
    return std::any_of(graph.fills.begin(), graph.fills.end(),
                       [number](const FillPlan& fill) { return fill.ring == number; });
  };
  if (before.kind == NodeKind::Fill && isRing(before.item)) {
    const bool idle = isIdleRing(graph, before.item, edge.before - before.firstNode);
    return after.kind == NodeKind::Task || (after.kind == NodeKind::Fill && idle);
  }
  if (before.kind != NodeKind::Task || after.kind != NodeKind::Fill) return false;
  const auto accesses = graph.accessesOf(graph.unitOf(before));
  return std::any_of(accesses.begin(), accesses.end(), [&](const UnitAccess& access) {
    return access.fill >= 0 && isIdleRing(graph, access.fill, edge.before - before.firstNode);
  });
}

/// Some edges order what touches nothing in common: between the halo fill of a patch and a task on the same
/// patch that does not read the halo, where no condition takes the patch into it; from the gather of finer
/// cells over a patch that has none; and those of fills that do nothing themselves.
inline bool isPrecaution(const CompiledGraphs& rank, const CompiledGraph& graph, const EdgeAt& edge) {
  if (isOfRing(graph, edge)) return true;
  const bool fillFirst = graph.block(edge.before).kind == NodeKind::Fill;
  const NodeId filling = fillFirst ? edge.before : edge.after;
  const NodeId task = fillFirst ? edge.after : edge.before;
  const NodeBlock& block = graph.block(filling);
  const NodeBlock& other = graph.block(task);
  if (block.kind != NodeKind::Fill || other.kind != NodeKind::Task) return false;
  const FillPlan& fill = graph.fillOf(block);
  const std::int64_t row = filling - block.firstNode;
  if (isRelay(rank, fill, block.firstLocal + row)) return true;
  if (fill.reach == Reach::Finer) {
    return graph.tables[static_cast<std::size_t>(fill.table)].row(row).empty() &&
           fill.pieces.row(row).empty();
  }
  const std::int64_t local = block.firstLocal + row;
  if (fill.reach != Reach::Patch || other.firstLocal + (task - other.firstNode) != local) return false;
  const Patch& patch = rank.hierarchy->patch(rank.ownPatches[static_cast<std::size_t>(local)]);
  const TaskUnit& unit = graph.unitOf(other);
  if (fillFirst && readsTheHalo(rank, graph, unit, block.item, patch)) return false;
  const auto changes = [&](std::int64_t a) {
    const UnitAccess& access = graph.accesses[static_cast<std::size_t>(a)];
    // Old has memory of its own.
    return access.writes() && access.label == fill.label && fill.generation == Generation::New;
  };
  bool changesIt = false;
  for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) changesIt = changesIt || changes(a);
  return !changesIt || !mirrorsThePatch(rank, fill, patch);
}

/// The task or variable of a node.
inline std::string nameOf(const CompiledGraphs& rank, const CompiledGraph& graph, NodeId node) {
  const NodeBlock& block = graph.block(node);
  const auto item = static_cast<std::size_t>(block.item);
  if (block.kind == NodeKind::Fill) return rank.labels->info(graph.fills[item].label).name;
  if (block.kind != NodeKind::Task) return "";
  return graph.plan->task(graph.units[item].task).name;
}

/// Whether a node is only passed through: a row of a fill into scratch, which the task that reads the halo
/// carries out, so that the row only lets it wait for messages; a row that the first member of a shared
/// window fills with its own; or what tells of one patch that a task on all of them has ended.
inline bool isPassage(const CompiledGraphs& rank, const CompiledGraph& graph, NodeId node) {
  const NodeBlock& block = graph.block(node);
  if (block.kind == NodeKind::Task) return graph.unitOf(block).part == UnitPart::Release;
  if (block.kind != NodeKind::Fill) return false;
  const FillPlan& fill = graph.fillOf(block);
  return fill.scratch || isRelay(rank, fill, block.firstLocal + (node - block.firstNode));
}

/// Edges to be lost together, and the orders of two nodes that they are there for.
struct Drop {
  std::vector<EdgeAt> edges;
  std::vector<NodeEdge> orders;
};

/// What is only passed through touches nothing: its edges are there for the order of what lies before and
/// behind it. Several passages may lead from one node to another (a task that gathers several halos waits for
/// one message through several rows), and then nobody misses one of the ways; so all of them are lost
/// together.
inline Drop dropOf(const std::vector<EdgeAt>& all, const CompiledGraphs& rank, const CompiledGraph& graph,
                   const EdgeAt& edge) {
  const auto isHere = [&](const EdgeAt& e) { return e.rank == edge.rank; };
  Drop drop;
  if (isPassage(rank, graph, edge.before)) {
    drop.edges.push_back(edge);
    for (const EdgeAt& in : all) {
      if (isHere(in) && in.after == edge.before) drop.orders.push_back({in.before, edge.after});
    }
  } else if (isPassage(rank, graph, edge.after)) {
    for (const NodeId task : graph.successors(edge.after)) drop.orders.push_back({edge.before, task});
    for (const EdgeAt& way : all) {
      if (!isHere(way) || way.before != edge.before || !isPassage(rank, graph, way.after)) continue;
      const auto tasks = graph.successors(way.after);
      const bool same = std::any_of(drop.orders.begin(), drop.orders.end(), [&](const NodeEdge& order) {
        return std::find(tasks.begin(), tasks.end(), order.after) != tasks.end();
      });
      if (same) drop.edges.push_back(way);
    }
  } else {
    drop = {{edge}, {{edge.before, edge.after}}};
  }
  return drop;
}

/// What dropping each edge of a plan has shown.
struct DropReport {
  std::map<std::string, int> found;  ///< reported by the race check, by class of edge
  std::vector<std::string> unreported;
};

/// Drops one edge after the other, and looks for races each time that no other path replaces it.
inline DropReport dropEach(std::vector<CompiledGraphs> graphs, std::size_t plan) {
  DropReport report;
  const Paths paths(graphs, plan);
  const std::vector<EdgeAt> edges = edgesOf(graphs, plan);
  for (const EdgeAt& edge : edges) {
    CompiledGraphs& rank = graphs[static_cast<std::size_t>(edge.rank)];
    const CompiledGraph whole = rank.plans[plan];
    const Drop drop = dropOf(edges, rank, whole, edge);
    for (const EdgeAt& lost : drop.edges) dropEdge(rank.plans[plan], lost);
    const bool needed = std::any_of(drop.orders.begin(), drop.orders.end(), [&](const NodeEdge& order) {
      return !paths.lead(edge.rank, order.before, order.after);
    });
    const bool found = needed && !checkRaces(graphs, plan).clean();
    rank.plans[plan] = whole;
    if (!needed) continue;
    if (found) {
      ++report.found[classOf(whole, edge)];
    } else if (!isPrecaution(rank, whole, edge)) {
      report.unreported.push_back(
          "rank " + std::to_string(edge.rank) + ", from node " + std::to_string(edge.before.value()) + " " +
          nameOf(rank, whole, edge.before) + " to node " + std::to_string(edge.after.value()) + " " +
          nameOf(rank, whole, edge.after) + ", " + classOf(whole, edge));
    }
  }
  return report;
}

}  // namespace tessera::test
