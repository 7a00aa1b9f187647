#include "taskgraph/recompile/edge_update.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"

namespace tessera::detail {
void sortUnique(std::vector<std::int32_t>& list) {
  if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

EdgeUpdate::EdgeUpdate(CompiledGraph& graph, const std::vector<Relation>& relations, const FillShapes& shapes,
                       std::vector<std::int32_t> countsBefore)
    : graph_(graph),
      shapes_(shapes),
      countsBefore_(std::move(countsBefore)),
      from_(graph.blocks.size()),
      numbers_(graph.blocks.size()) {
  for (const Relation& r : relations) from_[static_cast<std::size_t>(r.before)].push_back(r);
}

bool EdgeUpdate::run(std::vector<NodeEdge> singles) {
  findNodes(singles);
  findReaders();
  graph_.singleEdges = std::move(singles);
  IdVector<NodeId, std::int32_t>& counts = graph_.predecessorCounts;
  const auto forEachNode = [&](auto&& visit) {
    for (std::size_t b = 0; b < numbers_.size(); ++b) {
      for (const std::int32_t number : numbers_[b]) visit(static_cast<std::int32_t>(b), number);
    }
  };
  forEachNode([&](std::int32_t b, std::int32_t number) {
    for (const NodeId next : graph_.successors(block(b).firstNode + number)) --counts[next];
  });
  for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
    const NodeBlock& now = graph_.blocks[b];
    const auto first = counts.begin() + now.firstNode.value();
    if (now.count > countsBefore_[b]) std::fill(first + countsBefore_[b], first + now.count, 0);
    if (now.count < countsBefore_[b]) std::fill(first + now.count, first + countsBefore_[b], -1);
  }
  bool room = true;
  std::vector<NodeId> list;
  forEachNode([&](std::int32_t b, std::int32_t number) {
    list.clear();
    if (number < block(b).count) addEdges(b, number, list);
    for (const NodeId next : list) ++counts[next];
    room = graph_.successorLists.replace(block(b).firstNode + number, list) && room;
  });
  return room;
}

void EdgeUpdate::mark(std::int32_t b, std::span<const std::int32_t> slots) {
  std::vector<std::int32_t>& numbers = numbers_[static_cast<std::size_t>(b)];
  for (const std::int32_t slot : slots) numbers.push_back(slot - block(b).firstLocal);
}

void EdgeUpdate::findNodes(const std::vector<NodeEdge>& singles) {
  for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
    const std::int32_t now = graph_.blocks[b].count;
    for (std::int32_t n = std::min(now, countsBefore_[b]); n < std::max(now, countsBefore_[b]); ++n)
      numbers_[b].push_back(n);
    for (const Relation& relation : from_[b]) findNodesOf(relation);
  }
  std::vector<NodeEdge> different;
  std::set_symmetric_difference(singles.begin(), singles.end(), graph_.singleEdges.begin(),
                                graph_.singleEdges.end(), std::back_inserter(different));
  for (const NodeEdge& edge : different) {
    const std::uint16_t b = graph_.blockOf[edge.before];
    numbers_[b].push_back(edge.before - graph_.blocks[b].firstNode);
  }
  for (auto& numbers : numbers_) sortUnique(numbers);
}

void EdgeUpdate::findNodesOf(const Relation& relation) {
  switch (relation.kind) {
    case Relation::Kind::SamePatch:
      break;
    case Relation::Kind::SourcesBefore:
      // All sources of a whole level precede its only row, whatever patches they are.
      if (fillOf(relation.after).reach != Reach::WholeLevel)
        mark(relation.before, shapes_.dataOf(fillOf(relation.after).table).sources);
      break;
    case Relation::Kind::SourcesAfter:
      if (fillOf(relation.before).reach != Reach::WholeLevel) {
        mark(relation.before, shapes_.dataOf(fillOf(relation.before).table).rows);
      } else if (usedChanged(relation.after)) {
        numbers_[static_cast<std::size_t>(relation.before)].push_back(0);
      }
      break;
    case Relation::Kind::All:
      for (std::int32_t n = 0; usedChanged(relation.after) && n < block(relation.before).count; ++n)
        numbers_[static_cast<std::size_t>(relation.before)].push_back(n);
      break;
  }
}

void EdgeUpdate::findReaders() {
  std::vector<std::vector<std::int32_t>> slots(graph_.tables.size());
  std::vector<std::int32_t> more;
  std::vector<std::int32_t> both;
  for (std::size_t b = 0; b < from_.size(); ++b) {
    for (const Relation& relation : from_[b]) {
      if (relation.kind != Relation::Kind::SourcesBefore) continue;
      const FillPlan& fill = fillOf(relation.after);
      if (fill.reach == Reach::WholeLevel) continue;
      more.clear();
      for (const std::int32_t number : numbers_[b]) {
        if (number < graph_.blocks[b].count) more.push_back(graph_.blocks[b].firstLocal + number);
      }
      std::vector<std::int32_t>& known = slots[static_cast<std::size_t>(fill.table)];
      both.clear();
      std::set_union(known.begin(), known.end(), more.begin(), more.end(), std::back_inserter(both));
      known.swap(both);
    }
  }
  for (std::size_t t = 0; t < slots.size(); ++t) {
    readers_.push_back(slots[t].empty()
                           ? ReaderLists{}
                           : shapes_.readersOf(static_cast<std::int32_t>(t), std::move(slots[t])));
  }
}

/// In the order in which a full compile lists them.
void EdgeUpdate::addEdges(std::int32_t b, std::int32_t number, std::vector<NodeId>& list) const {
  for (const Relation& relation : from_[static_cast<std::size_t>(b)]) {
    const NodeBlock& after = block(relation.after);
    switch (relation.kind) {
      case Relation::Kind::SamePatch:
        list.push_back(after.firstNode + number);
        break;
      case Relation::Kind::SourcesBefore:
      case Relation::Kind::SourcesAfter:
        addSources(relation, number, list);
        break;
      case Relation::Kind::All:
        for (std::int32_t n = 0; n < after.count; ++n) list.push_back(after.firstNode + n);
        break;
    }
  }
  const NodeEdge first{block(b).firstNode + number, NodeId()};
  for (auto at = std::lower_bound(graph_.singleEdges.begin(), graph_.singleEdges.end(), first);
       at != graph_.singleEdges.end() && at->before == first.before; ++at) {
    list.push_back(at->after);
  }
}

void EdgeUpdate::addSources(const Relation& relation, std::int32_t number, std::vector<NodeId>& list) const {
  const NodeBlock& before = block(relation.before);
  const NodeBlock& after = block(relation.after);
  if (relation.kind == Relation::Kind::SourcesBefore) {
    const FillPlan& fill = fillOf(relation.after);
    if (fill.reach == Reach::WholeLevel) {
      list.push_back(after.firstNode);
      return;
    }
    const std::int32_t slot = before.firstLocal + number;
    for (const std::int32_t row : readers_[static_cast<std::size_t>(fill.table)].of(slot)) {
      if (fill.reach != Reach::Patch || after.firstLocal + row != slot) list.push_back(after.firstNode + row);
    }
    return;
  }
  const FillPlan& fill = fillOf(relation.before);
  const std::int32_t own = fill.reach == Reach::Patch ? before.firstLocal + number : -1;
  for (const Neighbour& n : graph_.tables[static_cast<std::size_t>(fill.table)].row(number)) {
    if (n.source != own) list.push_back(after.firstNode + (n.source - after.firstLocal));
  }
}

}  // namespace tessera::detail
