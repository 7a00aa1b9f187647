#include "scheduler/graph_replay/replay_segments.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tessera::detail {

namespace {

/// Who else waits for a node, or for one behind it that has the same key: the first ones go first.
enum class Urgency : char { Bus, Peer, None };

/// What a node waits for.
struct Key {
  std::int64_t tag = -1;       ///< the highest of a message; -1: none
  std::int32_t crossings = 0;  ///< from the host to the device on the way, since that message; -1: not yet
  std::int32_t peers = 0;      ///< from one device to another on the way, since that crossing
  friend auto operator<=>(const Key&, const Key&) = default;
};

class Segments {
 public:
  Segments(const CompiledGraph& graph, const PlacedGraph& placed)
      : graph_(graph),
        placed_(placed),
        successors_(placed.nodeCount()),
        keys_(successors_.size()),
        urgency_(successors_.size(), Urgency::None) {
    for (const auto& [first, then] : placed.deviceEdges) successors_[first].push_back(then);
    for (const auto& [first, then] : placed.peerEdges) successors_[first].push_back(then);
    findOrder();
    for (const NodeId node : order_) passOn(node);
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) findUrgency(*node);
  }

  IdVector<NodeId, std::int32_t> byNode() const {
    const auto place = [this](NodeId node) { return std::pair(keys_[node], urgency_[node]); };
    std::map<DeviceAssignment, std::map<std::pair<Key, Urgency>, std::int32_t>> numbers;  // by device
    for (const NodeId node : order_) {
      if (isOnDevice(node)) numbers[placed_.place(node)][place(node)] = 0;
    }
    for (auto& [device, places] : numbers) {
      std::int32_t next = 0;
      for (auto& [key, number] : places) number = next++;
    }
    IdVector<NodeId, std::int32_t> segments(successors_.size(), -1);
    for (const NodeId node : order_) {
      if (isOnDevice(node)) segments[node] = numbers[placed_.place(node)][place(node)];
    }
    return segments;
  }

 private:
  bool isNode(NodeId node) const { return placed_.blockOf[node] >= 0; }
  bool isOnDevice(NodeId node) const { return placed_.place(node) != kOnHost; }
  template <class Visit>
  void forEachSuccessor(NodeId node, const Visit& visit) const {
    for (const NodeId next : successors_[node]) visit(next);
    for (const NodeId next : placed_.hostEdges.row(node)) visit(next);
  }

  void findOrder() {
    IdVector<NodeId, std::int32_t> missing(successors_.size());
    for (const NodeId node : successors_.ids()) {
      forEachSuccessor(node, [&](NodeId next) { ++missing[next]; });
    }
    for (const NodeId node : successors_.ids()) {
      if (!isNode(node)) continue;
      if (missing[node] == 0) order_.push_back(node);
      keys_[node] = startOf(node);
    }
    for (std::size_t n = 0; n < order_.size(); ++n) {
      forEachSuccessor(order_[n], [&](NodeId next) {
        if (--missing[next] == 0) order_.push_back(next);
      });
    }
  }

  Key startOf(NodeId node) const {
    if (isOnDevice(node)) return {-1, 0, 0};
    const PlacedBlock& placed = placed_.block(node);
    const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
    if (placed.kind != PlacedKind::Original || block.kind != NodeKind::Receive) return {-1, -1, 0};
    const std::int32_t number = placed_.numberOf(node);
    return {graph_.receives[static_cast<std::size_t>(block.item + number)].tag, -1, 0};
  }

  void passOn(NodeId node) {
    forEachSuccessor(node, [&](NodeId next) {
      Key key = keys_[node];
      if (!isOnDevice(node) && isOnDevice(next)) key = {key.tag, key.crossings + 1, 0};
      if (isOnDevice(node) && isOnDevice(next) && placed_.place(node) != placed_.place(next)) ++key.peers;
      keys_[next] = std::max(keys_[next], key);
    });
  }

  /// In falling order.
  void findUrgency(NodeId node) {
    if (!isOnDevice(node)) return;
    const PlacedKind kind = placed_.block(node).kind;
    Urgency& urgency = urgency_[node];
    if (kind == PlacedKind::Pack || kind == PlacedKind::CopyOut) urgency = Urgency::Bus;
    for (const NodeId next : successors_[node]) {
      if (placed_.place(next) != placed_.place(node)) urgency = std::min(urgency, Urgency::Peer);
      if (keys_[next] == keys_[node]) urgency = std::min(urgency, urgency_[next]);
    }
  }

  const CompiledGraph& graph_;
  const PlacedGraph& placed_;
  IdVector<NodeId, std::vector<NodeId>> successors_;  ///< on devices
  IdVector<NodeId, Key> keys_;
  IdVector<NodeId, Urgency> urgency_;
  std::vector<NodeId> order_;  ///< along edges
};

}  // namespace

IdVector<NodeId, std::int32_t> replaySegments(const CompiledGraph& graph, const PlacedGraph& placed) {
  return Segments(graph, placed).byNode();
}

SegmentPeers segmentPeers(const PlacedGraph& placed, const IdVector<NodeId, std::int32_t>& segments,
                          DeviceAssignment device) {
  SegmentPeers peers;
  if (placed.peerEdges.empty()) return peers;
  for (const NodeId node : segments.ids()) {
    if (segments[node] < 0 || placed.place(node) != device) continue;
    const auto count = static_cast<std::size_t>(segments[node]) + 1;
    if (peers.predecessors.size() < count) peers.predecessors.resize(count, 0);
  }
  std::set<std::tuple<std::int32_t, DeviceAssignment, std::int32_t>> from;
  std::set<std::tuple<std::int32_t, DeviceAssignment, std::int32_t>> to;
  for (const auto& [before, after] : placed.peerEdges) {
    const std::int32_t first = segments[before];
    const std::int32_t then = segments[after];
    if (placed.place(before) == device) from.emplace(first, placed.place(after), then);
    if (placed.place(after) == device) to.emplace(then, placed.place(before), first);
  }
  for (const auto& [segment, peer, peerSegment] : from) peers.edges.push_back({segment, peer, peerSegment});
  for (const auto& [segment, peer, peerSegment] : to) ++peers.predecessors[static_cast<std::size_t>(segment)];
  return peers;
}

}  // namespace tessera::detail
