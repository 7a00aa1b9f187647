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
        successors_(static_cast<std::size_t>(placed.nodeCount())),
        keys_(successors_.size()),
        urgency_(successors_.size(), Urgency::None) {
    for (const auto& [first, then] : placed.deviceEdges) successors_[at(first)].push_back(then);
    for (const auto& [first, then] : placed.peerEdges) successors_[at(first)].push_back(then);
    findOrder();
    for (const std::int32_t node : order_) passOn(node);
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) findUrgency(*node);
  }

  std::vector<std::int32_t> byNode() const {
    const auto place = [this](std::int32_t node) { return std::pair(keys_[at(node)], urgency_[at(node)]); };
    std::map<DeviceAssignment, std::map<std::pair<Key, Urgency>, std::int32_t>> numbers;  // by device
    for (const std::int32_t node : order_) {
      if (isOnDevice(node)) numbers[placed_.place(node)][place(node)] = 0;
    }
    for (auto& [device, places] : numbers) {
      std::int32_t next = 0;
      for (auto& [key, number] : places) number = next++;
    }
    std::vector<std::int32_t> segments(successors_.size(), -1);
    for (const std::int32_t node : order_) {
      if (isOnDevice(node)) segments[at(node)] = numbers[placed_.place(node)][place(node)];
    }
    return segments;
  }

 private:
  static std::size_t at(std::int32_t node) { return static_cast<std::size_t>(node); }
  bool isNode(std::int32_t node) const { return placed_.blockOf[at(node)] >= 0; }
  bool isOnDevice(std::int32_t node) const { return placed_.place(node) != kOnHost; }
  template <class Visit>
  void forEachSuccessor(std::int32_t node, const Visit& visit) const {
    for (const std::int32_t next : successors_[at(node)]) visit(next);
    for (const std::int32_t next : placed_.hostEdges.row(node)) visit(next);
  }

  void findOrder() {
    std::vector<std::int32_t> missing(successors_.size(), 0);
    for (std::int32_t node = 0; node < std::ssize(successors_); ++node) {
      forEachSuccessor(node, [&](std::int32_t next) { ++missing[at(next)]; });
    }
    for (std::int32_t node = 0; node < std::ssize(successors_); ++node) {
      if (!isNode(node)) continue;
      if (missing[at(node)] == 0) order_.push_back(node);
      keys_[at(node)] = startOf(node);
    }
    for (std::size_t n = 0; n < order_.size(); ++n) {
      forEachSuccessor(order_[n], [&](std::int32_t next) {
        if (--missing[at(next)] == 0) order_.push_back(next);
      });
    }
  }

  Key startOf(std::int32_t node) const {
    if (isOnDevice(node)) return {-1, 0, 0};
    const PlacedBlock& placed = placed_.block(node);
    const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
    if (placed.kind != PlacedKind::Original || block.kind != NodeKind::Receive) return {-1, -1, 0};
    const std::int32_t number = placed_.numberOf(node);
    return {graph_.receives[static_cast<std::size_t>(block.item + number)].tag, -1, 0};
  }

  void passOn(std::int32_t node) {
    forEachSuccessor(node, [&](std::int32_t next) {
      Key key = keys_[at(node)];
      if (!isOnDevice(node) && isOnDevice(next)) key = {key.tag, key.crossings + 1, 0};
      if (isOnDevice(node) && isOnDevice(next) && placed_.place(node) != placed_.place(next)) ++key.peers;
      keys_[at(next)] = std::max(keys_[at(next)], key);
    });
  }

  /// In falling order.
  void findUrgency(std::int32_t node) {
    if (!isOnDevice(node)) return;
    const PlacedKind kind = placed_.block(node).kind;
    Urgency& urgency = urgency_[at(node)];
    if (kind == PlacedKind::Pack || kind == PlacedKind::CopyOut) urgency = Urgency::Bus;
    for (const std::int32_t next : successors_[at(node)]) {
      if (placed_.place(next) != placed_.place(node)) urgency = std::min(urgency, Urgency::Peer);
      if (keys_[at(next)] == keys_[at(node)]) urgency = std::min(urgency, urgency_[at(next)]);
    }
  }

  const CompiledGraph& graph_;
  const PlacedGraph& placed_;
  std::vector<std::vector<std::int32_t>> successors_;  ///< by node, on devices
  std::vector<Key> keys_;                              ///< by node
  std::vector<Urgency> urgency_;                       ///< by node
  std::vector<std::int32_t> order_;                    ///< of nodes, along edges
};

}  // namespace

std::vector<std::int32_t> replaySegments(const CompiledGraph& graph, const PlacedGraph& placed) {
  return Segments(graph, placed).byNode();
}

SegmentPeers segmentPeers(const PlacedGraph& placed, const std::vector<std::int32_t>& segments,
                          DeviceAssignment device) {
  SegmentPeers peers;
  if (placed.peerEdges.empty()) return peers;
  for (std::size_t node = 0; node < segments.size(); ++node) {
    if (segments[node] < 0 || placed.place(static_cast<std::int32_t>(node)) != device) continue;
    const auto count = static_cast<std::size_t>(segments[node]) + 1;
    if (peers.predecessors.size() < count) peers.predecessors.resize(count, 0);
  }
  std::set<std::tuple<std::int32_t, DeviceAssignment, std::int32_t>> from;
  std::set<std::tuple<std::int32_t, DeviceAssignment, std::int32_t>> to;
  for (const auto& [before, after] : placed.peerEdges) {
    const std::int32_t first = segments[static_cast<std::size_t>(before)];
    const std::int32_t then = segments[static_cast<std::size_t>(after)];
    if (placed.place(before) == device) from.emplace(first, placed.place(after), then);
    if (placed.place(after) == device) to.emplace(then, placed.place(before), first);
  }
  for (const auto& [segment, peer, peerSegment] : from) peers.edges.push_back({segment, peer, peerSegment});
  for (const auto& [segment, peer, peerSegment] : to) ++peers.predecessors[static_cast<std::size_t>(segment)];
  return peers;
}

}  // namespace tessera::detail
