#include "scheduler/executor/replay_state.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "core/text/contracts.hpp"

namespace tessera::detail {
namespace {

/// What decides the lane of a node: more urgent first, and then less slack.
struct Order {
  int urgency = 0;
  int slack = 0;
  bool operator<(const Order& other) const {
    return urgency != other.urgency ? urgency > other.urgency : slack < other.slack;
  }
};

/// The distinct orders of nodes; the place of one is its lane. More than there are lanes share the last.
std::vector<Order> ordersOf(const std::vector<NodeTraits>& traits) {
  std::set<Order> distinct;
  for (const NodeTraits& t : traits) {
    if (t.used) distinct.insert({t.urgency, t.slack});
  }
  return {distinct.begin(), distinct.end()};
}

/// The first lane that is not before the order.
std::uint8_t laneOf(const std::vector<Order>& orders, Order order) {
  const auto at = std::lower_bound(orders.begin(), orders.end(), order) - orders.begin();
  return static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(at, ReadyLanes::kMaxLanes - 1));
}

}  // namespace

ReplayState::ReplayState(NodeSource& theSource, int workers) : source(theSource) {
  const auto count = static_cast<std::size_t>(source.nodeCount());
  TESSERA_EXPECT(workers >= 1 && workers <= 0xffff, "use 1 to 65535 workers");
  memory_.reset(static_cast<Node*>(
      ::operator new[](std::max<std::size_t>(count, 1) * sizeof(Node), std::align_val_t{64})));
  std::uninitialized_value_construct_n(memory_.get(), count);
  nodes = IdSpan<NodeId, Node>({memory_.get(), count});

  IdVector<NodeId, NodeTraits> traits(count);
  for (const NodeId n : nodes.ids()) traits[n] = source.traits(n, workers);
  const std::vector<Order> orders = ordersOf(traits.all());
  const std::size_t lanes = std::clamp<std::size_t>(orders.size(), 1, ReadyLanes::kMaxLanes);
  std::vector<std::vector<std::int64_t>> sizes(static_cast<std::size_t>(workers),
                                               std::vector<std::int64_t>(lanes, 0));
  std::vector<std::vector<NodeId>> first(static_cast<std::size_t>(workers));
  const IdSpan<NodeId, const std::int32_t> predecessors = source.predecessorCounts();
  for (const NodeId n : nodes.ids()) {
    const NodeTraits& t = traits[n];
    nodes[n].armed = predecessors[n];
    if (!t.used) continue;
    TESSERA_EXPECT(t.home >= 0 && t.home < workers, "give every node a home among the workers");
    const auto home = static_cast<std::size_t>(t.home);
    nodes[n].home = static_cast<std::uint16_t>(t.home);
    nodes[n].lane = laneOf(orders, {t.urgency, t.slack});
    nodes[n].urgent = laneOf(orders, {t.urgency, std::numeric_limits<int>::min()});
    ++sizes[home][nodes[n].lane];
    ++total;
    if (t.waits) ++waiting;
    if (nodes[n].armed == 0) first[home].push_back(n);
  }
  for (std::size_t w = 0; w < sizes.size(); ++w) {
    std::reverse(first[w].begin(), first[w].end());
    shares.push_back({ReadyLanes(sizes[w]), std::move(first[w])});
  }
  rearm();
}

void ReplayState::rearm() {
  for (Node& node : nodes) node.left = nextBase + node.armed;
  for (Share& share : shares) share.lanes.clear();
}

StalledReplay ReplayState::stalled(std::vector<NodeId> ready) {
  for (Share& share : shares) {
    for (NodeId n = share.lanes.pop(); n.isSome(); n = share.lanes.pop()) ready.push_back(n);
  }
  StalledReplay found{IdVector<NodeId, NodeStand>(nodes.size(), NodeStand::Unused),
                      IdVector<NodeId, std::int32_t>(nodes.size())};
  for (const NodeId n : nodes.ids()) {
    if (!source.traits(n, static_cast<int>(shares.size())).used) continue;
    const auto [left, armed, home, lane, urgent] = nodes[n];
    const bool fired = armed == 0 || left == nextBase + armed;
    found.stands[n] = fired ? NodeStand::Done : NodeStand::Waits;
    if (!fired) found.missing[n] = left - base;
  }
  for (const NodeId n : ready) found.stands[n] = NodeStand::Ready;
  for (const NodeId n : source.begun()) found.stands[n] = NodeStand::Begun;
  return found;
}

}  // namespace tessera::detail
