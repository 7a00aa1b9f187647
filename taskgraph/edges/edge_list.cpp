#include "taskgraph/edges/edge_list.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"

namespace tessera::detail {

void EdgeList::add(Relation relation) {
  if (relation.before < 0 || relation.before == relation.after) return;
  TESSERA_ASSERT(relation.before < relation.after);
  if (std::find(relations_.begin(), relations_.end(), relation) == relations_.end())
    relations_.push_back(relation);
}

bool EdgeList::samePatchPath(std::int32_t before, std::int32_t after) const {
  if (before == after) return true;
  std::vector<bool> reached(graph_.blocks.size(), false);
  std::vector<std::int32_t> open{before};
  while (!open.empty()) {
    const std::int32_t at = open.back();
    open.pop_back();
    for (const Relation& r : relations_) {
      if (r.kind != Relation::Kind::SamePatch || r.before != at || reached[static_cast<std::size_t>(r.after)])
        continue;
      if (r.after == after) return true;
      reached[static_cast<std::size_t>(r.after)] = true;
      open.push_back(r.after);
    }
  }
  return false;
}

template <class Emit>
void EdgeList::emitRelation(const Relation& relation, Emit&& emit) const {
  const NodeBlock& a = block(relation.before);
  const NodeBlock& b = block(relation.after);
  const auto sources = [&](const NodeBlock& fill, const NodeBlock& onSources, auto&& visit) {
    const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill.item)];
    const NeighbourTable& table = graph_.tables[static_cast<std::size_t>(plan.table)];
    for (std::int32_t row = 0; row < fill.count; ++row) {
      if (graph_.worksOnAllPatches(onSources)) {
        // That joins the rows of a halo to the node as well.
        if (plan.reach != Reach::Patch && !table.row(row).empty())
          visit(fill.firstNode + row, onSources.firstNode);
        continue;
      }
      // A patch that fills its own halo is joined to it by samePatch already.
      const std::int32_t own = plan.reach == Reach::Patch ? fill.firstLocal + row : -1;
      for (const Neighbour& n : table.row(row)) {
        if (n.source != own)
          visit(fill.firstNode + row, onSources.firstNode + (n.source - onSources.firstLocal));
      }
    }
  };
  const bool joinsAll =
      relation.kind == Relation::Kind::All || (relation.kind == Relation::Kind::SamePatch &&
                                               (graph_.worksOnAllPatches(a) || graph_.worksOnAllPatches(b)));
  if (joinsAll) {
    for (std::int32_t m = 0; m < a.count; ++m) {
      for (std::int32_t n = 0; n < b.count; ++n) emit(a.firstNode + m, b.firstNode + n);
    }
    return;
  }
  switch (relation.kind) {
    case Relation::Kind::SamePatch:
      for (std::int32_t n = 0; n < a.count; ++n) emit(a.firstNode + n, b.firstNode + n);
      break;
    case Relation::Kind::SourcesBefore:
      sources(b, a, [&](NodeId row, NodeId source) { emit(source, row); });
      break;
    case Relation::Kind::SourcesAfter:
      sources(a, b, [&](NodeId row, NodeId source) { emit(row, source); });
      break;
    case Relation::Kind::All:
      break;
  }
}

template <class Emit>
void EdgeList::emit(Emit&& emit) const {
  for (const Relation& relation : relations_) emitRelation(relation, emit);
  for (const NodeEdge& edge : graph_.singleEdges) emit(edge.before, edge.after);
}

std::vector<NodeEdge> EdgeList::takeSingles() {
  std::sort(singles_.begin(), singles_.end());
  singles_.erase(std::unique(singles_.begin(), singles_.end()), singles_.end());
  return std::move(singles_);
}

void EdgeList::follow(const IdVector<NodeId, NodeId>& leadOf) {
  std::vector<NodeEdge> more;
  const auto note = [&](NodeId before, NodeId after) {
    const NodeId lead = leadOf[after];
    if (lead.isSome()) more.push_back({before, lead});
  };
  const auto leads = [&](const NodeBlock& b) {
    const auto first = leadOf.begin() + b.firstNode.value();
    return std::any_of(first, first + b.count, [](NodeId lead) { return lead.isSome(); });
  };
  std::vector<bool> led;  // by block
  for (const NodeBlock& b : graph_.blocks) led.push_back(leads(b));
  for (const Relation& relation : relations_) {
    if (led[static_cast<std::size_t>(relation.after)]) emitRelation(relation, note);
  }
  for (const NodeEdge& edge : singles_) note(edge.before, edge.after);
  for (const NodeId node : leadOf.ids()) {
    if (leadOf[node].isSome()) more.push_back({leadOf[node], node});
  }
  std::sort(more.begin(), more.end());
  more.erase(std::unique(more.begin(), more.end()), more.end());
  singles_.insert(singles_.end(), more.begin(), more.end());
}

void EdgeList::finish() {
  graph_.singleEdges = takeSingles();
  std::vector<ListPlace>& places = graph_.successorLists.places;
  places.assign(static_cast<std::size_t>(graph_.nodeCount()), {});
  graph_.predecessorCounts.assign(places.size(), -1);
  for (const NodeBlock& block : graph_.blocks)
    std::fill_n(graph_.predecessorCounts.begin() + block.firstNode.value(), block.count, 0);
  emit([&](NodeId before, NodeId after) {
    places[before.index()].grow();
    ++graph_.predecessorCounts[after];
  });
  std::int64_t edges = 0;
  for (ListPlace& place : places) {
    // A count beyond its bits would run over into the begin, which is nought until here.
    TESSERA_EXPECT(place.begin() == 0 && place.spare() == 0, "give a node less than 2^26 successors");
    const std::int64_t count = place.count();
    place = ListPlace(edges, 0);
    edges += count;
  }
  // Room for the lists that recompiles move to the end; untouched, it takes no memory.
  std::vector<NodeId>& pool = graph_.successorLists.pool;
  graph_.successorLists.bound = RowLists<NodeId, NodeId>::boundOf(edges);
  pool.reserve(static_cast<std::size_t>(graph_.successorLists.bound));
  pool.resize(static_cast<std::size_t>(edges));
  emit([&](NodeId before, NodeId after) {
    ListPlace& place = places[before.index()];
    pool[static_cast<std::size_t>(place.begin() + place.count())] = after;
    place.grow();
  });
  setSlack();
}

void EdgeList::setSlack() {
  std::vector<std::vector<std::int32_t>> after(graph_.blocks.size());
  for (const Relation& r : relations_) after[static_cast<std::size_t>(r.before)].push_back(r.after);
  for (const NodeEdge& e : graph_.singleEdges) {
    const std::uint16_t before = graph_.blockOf[e.before];
    const std::uint16_t next = graph_.blockOf[e.after];
    if (next != before) after[before].push_back(next);
  }
  // Edges lead to later blocks only, so one pass each way gives the longest ways.
  std::vector<int> behind(graph_.blocks.size(), 0);
  std::vector<int> ahead(graph_.blocks.size(), 0);
  for (std::size_t b = graph_.blocks.size(); b-- > 0;) {
    for (const std::int32_t next : after[b])
      behind[b] = std::max(behind[b], behind[static_cast<std::size_t>(next)] + 1);
  }
  int& longest = graph_.longestWay;
  longest = 0;
  for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
    for (const std::int32_t next : after[b]) {
      int& there = ahead[static_cast<std::size_t>(next)];
      there = std::max(there, ahead[b] + 1);
    }
    longest = std::max(longest, ahead[b]);
  }
  for (std::size_t b = 0; b < graph_.blocks.size(); ++b)
    graph_.blocks[b].slack = longest - ahead[b] - behind[b];
}

}  // namespace tessera::detail
