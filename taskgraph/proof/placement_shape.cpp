#include "taskgraph/proof/placement_shape.hpp"

#include <algorithm>

#include "core/text/error.hpp"

namespace tessera::detail {
namespace {

/// One look at one placed graph.
class ShapeCheck {
 public:
  ShapeCheck(const CompiledGraph& graph, const PlacedGraph& placed, RaceFaults& faults)
      : graph_(graph), placed_(placed), faults_(faults) {}

  bool run() {
    const std::int64_t before = faults_.count();
    checkSizes();
    if (faults_.count() > before) return false;
    checkBlocks();
    if (faults_.count() > before) return false;
    checkHostEdges();
    checkLaneEdges(placed_.deviceEdges, /*within=*/true);
    checkLaneEdges(placed_.peerEdges, /*within=*/false);
    checkCounts();
    return faults_.count() == before;
  }

 private:
  void fault(const char* what, std::int64_t node) {
    faults_.add(Message(what).line("node    ", node, " of the placed graph").text());
  }
  void checkSizes();
  void checkBlocks();
  void checkBlock(std::size_t number);
  bool standsBeside(const PlacedBlock& block) const;
  void checkHostEdges();
  void checkLaneEdges(const std::vector<std::pair<std::int32_t, std::int32_t>>& edges, bool within);
  void checkCounts();
  bool onDevices(std::int32_t a, std::int32_t b) const {
    return placed_.place(a) != kOnHost && placed_.place(b) != kOnHost;
  }
  bool isNode(std::int32_t node) const {
    return node >= 0 && node < placed_.nodeCount() && placed_.blockOf[static_cast<std::size_t>(node)] >= 0;
  }

  const CompiledGraph& graph_;
  const PlacedGraph& placed_;
  RaceFaults& faults_;
};

void ShapeCheck::checkSizes() {
  const bool fits = placed_.nodeCount() >= graph_.nodeCount() &&
                    placed_.hostCounts.size() == placed_.blockOf.size() &&
                    placed_.hostEdges.places.size() == placed_.blockOf.size() &&
                    placed_.packPlaces.size() == graph_.packItems.size();
  if (!fits) fault("the arrays of a placed graph do not have one length", placed_.nodeCount());
}

void ShapeCheck::checkBlocks() {
  std::int64_t nodes = 0;
  for (std::size_t b = 0; b < placed_.blocks.size(); ++b) {
    checkBlock(b);
    nodes += placed_.blocks[b].count;
  }
  std::int64_t expected = 0;
  for (std::int32_t n = 0; n < placed_.nodeCount(); ++n) {
    const bool spare = n < graph_.nodeCount() && graph_.isSpare(n);
    if (!spare) ++expected;
    if (isNode(n) == spare) fault("a node of the compiled graph is missing, or a spare one is there", n);
  }
  if (nodes != expected) fault("blocks do not hold each node once", nodes);
}

void ShapeCheck::checkBlock(std::size_t number) {
  const PlacedBlock& block = placed_.blocks[number];
  const bool inside = block.count > 0 && block.firstNode >= 0 &&
                      block.firstNode + block.count <= placed_.nodeCount() && block.block >= 0 &&
                      block.block < static_cast<std::int32_t>(graph_.blocks.size());
  if (!inside || !standsBeside(block))
    return fault("a block does not fit what it stands for", block.firstNode);
  for (std::int32_t n = 0; n < block.count; ++n) {
    const auto node = static_cast<std::size_t>(block.firstNode + n);
    if (placed_.blockOf[node] != static_cast<std::int32_t>(number))
      fault("a node does not know its block", block.firstNode + n);
  }
}

bool ShapeCheck::standsBeside(const PlacedBlock& block) const {
  const NodeBlock& of = graph_.blocks[static_cast<std::size_t>(block.block)];
  const bool within = block.firstNumber >= 0 && block.firstNumber + block.count <= of.count;
  const bool added = block.firstNode >= graph_.nodeCount();
  switch (block.kind) {
    case PlacedKind::Original:
      return within && !added && block.firstNode - of.firstNode == block.firstNumber &&
             (block.place == kOnHost || of.kind == NodeKind::Task || of.kind == NodeKind::Fill);
    case PlacedKind::Twin:
      return within && added && of.kind == NodeKind::Fill && block.place != kOnHost;
    case PlacedKind::Pack:
      return within && added && of.kind == NodeKind::Send && block.place != kOnHost;
    case PlacedKind::CopyIn:
    case PlacedKind::CopyOut:
      break;
  }
  return within && added && of.kind == NodeKind::Task && block.place != kOnHost && block.label >= 0;
}

void ShapeCheck::checkHostEdges() {
  for (std::int32_t n = 0; n < placed_.nodeCount(); ++n) {
    const auto next = placed_.hostEdges.row(n);
    if (std::adjacent_find(next.begin(), next.end(), std::greater_equal<>()) != next.end())
      fault("edges of a node do not ascend, each once", n);
    for (const std::int32_t then : next) {
      if (!isNode(n) || !isNode(then)) {
        fault("an edge has an end that is not a node", n);
      } else if (onDevices(n, then)) {
        fault("the executor keeps an edge of lanes", n);
      }
    }
  }
}

void ShapeCheck::checkLaneEdges(const std::vector<std::pair<std::int32_t, std::int32_t>>& edges,
                                bool within) {
  if (std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>()) != edges.end())
    fault("edges of a lane do not ascend, each once", -1);
  for (const auto& [first, then] : edges) {
    const bool nodes = isNode(first) && isNode(then);
    if (!nodes || !onDevices(first, then) || (placed_.place(first) == placed_.place(then)) != within) {
      fault(within ? "a lane keeps an edge that is not within its device"
                   : "lanes keep an edge that is not between devices",
            first);
    }
  }
}

void ShapeCheck::checkCounts() {
  std::vector<std::int32_t> counts(placed_.hostCounts.size(), 0);
  std::vector<bool> told(counts.size(), false);
  for (std::int32_t n = 0; n < placed_.nodeCount(); ++n) {
    for (const std::int32_t then : placed_.hostEdges.row(n)) {
      if (!isNode(then)) continue;
      ++counts[static_cast<std::size_t>(then)];
      told[static_cast<std::size_t>(n)] = told[static_cast<std::size_t>(then)] = true;
    }
  }
  for (std::int32_t n = 0; n < placed_.nodeCount(); ++n) {
    const auto at = static_cast<std::size_t>(n);
    const bool ofExecutor = isNode(n) && (placed_.place(n) == kOnHost || told[at]);
    if (placed_.hostCounts[at] != (ofExecutor ? counts[at] : -1))
      fault("a count of predecessors is wrong, or a node is the executor's and should not be", n);
  }
}

}  // namespace

bool checkShape(const CompiledGraph& graph, const PlacedGraph& placed, RaceFaults& faults) {
  return ShapeCheck(graph, placed, faults).run();
}

}  // namespace tessera::detail
