#include "taskgraph/compile/union_graph.hpp"

#include <algorithm>
#include <array>

namespace tessera::detail {
namespace {

constexpr std::size_t kWords = 8;  ///< of a row; one sweep answers for 64 times as many sources
using Row = std::array<std::uint64_t, kWords>;

}  // namespace

UnionGraph::UnionGraph(std::span<const CompiledGraphs> ranks, std::size_t plan) : firstOf_{0} {
  for (const CompiledGraphs& rank : ranks) firstOf_.push_back(firstOf_.back() + rank.plans[plan].nodeCount());
  after_.resize(static_cast<std::size_t>(nodeCount()));
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const CompiledGraph& graph = ranks[r].plans[plan];
    for (const NodeId node : graph.nodes()) {
      for (const NodeId next : graph.successors(node))
        addEdge(firstOf_[r] + node.value(), firstOf_[r] + next.value());
    }
  }
}

UnionGraph::UnionGraph(std::span<const std::int64_t> nodesOfRanks) : firstOf_{0} {
  for (const std::int64_t nodes : nodesOfRanks) firstOf_.push_back(firstOf_.back() + nodes);
  after_.resize(static_cast<std::size_t>(nodeCount()));
}

Rank UnionGraph::rankOf(std::int64_t node) const {
  return static_cast<Rank>(std::upper_bound(firstOf_.begin(), firstOf_.end(), node) - firstOf_.begin()) - 1;
}

void UnionGraph::addEdge(std::int64_t before, std::int64_t after) {
  after_[static_cast<std::size_t>(before)].push_back(after);
  ++edges_;
}

std::vector<std::int64_t> UnionGraph::sort() {
  const auto nodes = static_cast<std::size_t>(nodeCount());
  std::vector<std::int64_t> open(nodes, 0);
  for (const auto& list : after_) {
    for (const std::int64_t next : list) ++open[static_cast<std::size_t>(next)];
  }
  order_.clear();
  for (std::size_t n = 0; n < nodes; ++n) {
    if (open[n] == 0) order_.push_back(static_cast<std::int64_t>(n));
  }
  for (std::size_t at = 0; at < order_.size(); ++at) {
    for (const std::int64_t next : successors(order_[at])) {
      if (--open[static_cast<std::size_t>(next)] == 0) order_.push_back(next);
    }
  }
  std::vector<std::int64_t> waiting;
  for (std::size_t n = 0; n < nodes; ++n) {
    if (open[n] > 0) waiting.push_back(static_cast<std::int64_t>(n));
  }
  positionOf_.assign(nodes, 0);
  for (std::size_t at = 0; at < order_.size(); ++at) {
    positionOf_[static_cast<std::size_t>(order_[at])] = static_cast<std::int64_t>(at);
  }
  return waiting;
}

std::vector<WantedPath> UnionGraph::missing(std::vector<WantedPath> wanted) const {
  std::sort(wanted.begin(), wanted.end(), [&](const WantedPath& a, const WantedPath& b) {
    return position(a.before) != position(b.before) ? position(a.before) < position(b.before)
                                                    : a.after < b.after;
  });
  std::vector<WantedPath> absent;
  std::vector<Row> rows;
  for (std::size_t first = 0; first < wanted.size();) {
    // The next sources, one bit each, in the order of the sort; then one sweep from the first of them to the
    // end.
    rows.assign(order_.size(), Row{});
    std::size_t end = first;
    std::size_t bits = 0;
    std::vector<std::size_t> bitOf;
    for (; end < wanted.size(); ++end) {
      const bool sameSource = end > first && wanted[end].before == wanted[end - 1].before;
      if (!sameSource && bits == 64 * kWords) break;
      if (!sameSource) {
        rows[static_cast<std::size_t>(wanted[end].before)][bits / 64] |= std::uint64_t{1} << (bits % 64);
        ++bits;
      }
      bitOf.push_back(bits - 1);
    }
    for (auto at = static_cast<std::size_t>(position(wanted[first].before)); at < order_.size(); ++at) {
      const Row from = rows[static_cast<std::size_t>(order_[at])];
      for (const std::int64_t next : successors(order_[at])) {
        Row& to = rows[static_cast<std::size_t>(next)];
        for (std::size_t w = 0; w < kWords; ++w) to[w] |= from[w];
      }
    }
    for (std::size_t n = first; n < end; ++n) {
      const std::size_t bit = bitOf[n - first];
      const bool reached =
          (rows[static_cast<std::size_t>(wanted[n].after)][bit / 64] >> (bit % 64) & 1U) != 0;
      if (!reached || wanted[n].after == wanted[n].before) absent.push_back(wanted[n]);
    }
    first = end;
  }
  return absent;
}

}  // namespace tessera::detail
