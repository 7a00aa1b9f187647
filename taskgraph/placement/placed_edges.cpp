#include "taskgraph/placement/placed_edges.hpp"

#include <algorithm>

namespace tessera::detail {
namespace {

/// Writes the edges of a few nodes at a time; a node's are all in one batch.
class EdgeWriter {
 public:
  EdgeWriter(PlacedGraph& placed, std::int64_t compiled)
      : placed_(placed),
        compiled_(compiled),
        placeOf_(placed.blockOf.size(), kOnHost),
        touched_(placed.blockOf.size(), false) {
    for (const PlacedBlock& block : placed.blocks)
      std::fill_n(placeOf_.begin() + block.firstNode, block.count, block.place);
    placed_.hostCounts.assign(placed.blockOf.size(), 0);
    placed_.hostEdges.places.assign(placed.blockOf.size(), {});
  }

  void add(std::int32_t first, std::int32_t then) { batch_.push_back({first, then}); }
  void write();
  void finish();

 private:
  using Edge = std::pair<std::int32_t, std::int32_t>;

  std::vector<Edge>& ofLanes(const Edge& edge);
  DeviceAssignment place(std::int32_t node) const { return placeOf_[static_cast<std::size_t>(node)]; }

  PlacedGraph& placed_;
  std::int64_t compiled_;                  ///< nodes of the compiled graph
  std::vector<DeviceAssignment> placeOf_;  ///< by node
  std::vector<bool> touched_;              ///< by node: has an edge of the executor
  std::vector<Edge> batch_;
  std::vector<Edge> later_;       ///< edges within devices that begin at added nodes
  std::vector<Edge> laterPeers_;  ///< and between devices
};

void EdgeWriter::write() {
  std::sort(batch_.begin(), batch_.end());
  batch_.erase(std::unique(batch_.begin(), batch_.end()), batch_.end());
  auto& pool = placed_.hostEdges.pool;
  for (std::size_t at = 0; at < batch_.size();) {
    const std::int32_t first = batch_[at].first;
    const auto begin = static_cast<std::int64_t>(pool.size());
    for (; at < batch_.size() && batch_[at].first == first; ++at) {
      const std::int32_t then = batch_[at].second;
      if (place(first) != kOnHost && place(then) != kOnHost) {
        ofLanes(batch_[at]).push_back(batch_[at]);
        continue;
      }
      pool.push_back(then);
      ++placed_.hostCounts[static_cast<std::size_t>(then)];
      touched_[static_cast<std::size_t>(first)] = touched_[static_cast<std::size_t>(then)] = true;
    }
    placed_.hostEdges.places[static_cast<std::size_t>(first)] =
        ListPlace(begin, static_cast<std::int64_t>(pool.size()) - begin);
  }
  batch_.clear();
}

/// Where an edge between devices' nodes goes. Those that begin at added nodes come last in the end.
std::vector<EdgeWriter::Edge>& EdgeWriter::ofLanes(const Edge& edge) {
  const bool added = edge.first >= compiled_;
  if (place(edge.first) == place(edge.second)) return added ? later_ : placed_.deviceEdges;
  return added ? laterPeers_ : placed_.peerEdges;
}

void EdgeWriter::finish() {
  std::sort(later_.begin(), later_.end());
  placed_.deviceEdges.insert(placed_.deviceEdges.end(), later_.begin(), later_.end());
  std::sort(laterPeers_.begin(), laterPeers_.end());
  placed_.peerEdges.insert(placed_.peerEdges.end(), laterPeers_.begin(), laterPeers_.end());
  for (std::size_t n = 0; n < placeOf_.size(); ++n) {
    const bool spare = placed_.blockOf[n] < 0;
    if (spare || (placeOf_[n] != kOnHost && !touched_[n])) placed_.hostCounts[n] = -1;
  }
  placed_.hostEdges.finish(placed_.nodeCount());
}

}  // namespace

void dealOutEdges(const CompiledGraph& graph, EdgeRouter& router, const AddedNodesTable& added,
                  const DeviceAssignments& places, PlacedGraph& placed) {
  EdgeWriter writer(placed, graph.nodeCount());
  std::vector<Route> routes;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const auto number = static_cast<std::int32_t>(b);
    const NodeBlock& block = graph.blocks[b];
    for (std::int32_t n = 0; n < block.count; ++n) {
      const std::int32_t node = block.firstNode + n;
      router.route(number, node, routes);
      for (const Route& route : routes) {
        std::int32_t last = route.first;
        const auto passBy = [&](PlacedKind kind, DeviceAssignment device) {
          const std::int32_t copy = added.node(kind, number, n, device, route.copied);
          writer.add(last, copy);
          last = copy;
        };
        if (route.copied >= 0 && route.from != kOnHost) passBy(PlacedKind::CopyOut, route.from);
        if (route.copied >= 0 && route.to != kOnHost) passBy(PlacedKind::CopyIn, route.to);
        writer.add(last, route.then);
      }
      if (block.kind == NodeKind::Send) {
        forEachPlace(places.packing(block.item + n), [&](DeviceAssignment place) {
          writer.add(added.node(PlacedKind::Pack, number, n, place), node);
        });
      }
      writer.write();
    }
  }
  writer.finish();
}

}  // namespace tessera::detail
