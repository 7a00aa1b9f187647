#include "scheduler/device_step/lane_layout.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tessera::detail {

LaneLayout::LaneLayout(const CompiledGraph& graph, const PlacedGraph& placed, DeviceAssignment device,
                       std::int32_t streams, const TakesFromPeers& takesFromPeers)
    : graph_(graph), placed_(placed), streams_(streams), taskOf_(placed.blockOf.size(), -1) {
  std::map<std::tuple<PlacedKind, std::int32_t, LabelId, bool, bool>, std::int32_t> kindOf;
  for (std::int32_t node = 0; node < placed_.nodeCount(); ++node) {
    const std::int32_t number = placed_.blockOf[static_cast<std::size_t>(node)];
    if (number < 0 || placed_.place(node) != device) continue;
    const PlacedBlock& block = placed_.block(node);
    LaneTask task =
        laneTask(block, graph_.blocks[static_cast<std::size_t>(block.block)], node, takesFromPeers);
    const auto [found, isNew] = kindOf.try_emplace(
        {block.kind, block.block, block.label, task.urgent, task.independentOfPeers}, std::ssize(kinds_));
    if (isNew) kinds_.push_back(number);
    task.kind = found->second;
    taskOf_[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(nodes_.size());
    if (!placed_.ofExecutor(node)) {
      const std::int64_t first = std::ssize(nodes_);
      if (first_.empty() || first_.back().end != first) first_.push_back({first, first});
      ++first_.back().end;
    }
    nodes_.push_back(node);
    tasks_.push_back(task);
    startsIndependent_ = startsIndependent_ || task.independentOfPeers;
  }
}

/// Whether a node takes values out of memory of the host, which the next step may overwrite as soon as it
/// begins: the buffers of messages, or what host tasks write. This step may not end before.
bool LaneLayout::readsHost(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node) const {
  if (placed.kind == PlacedKind::CopyIn) return true;
  if (block.kind != NodeKind::Fill) return false;
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(block.item)];
  const std::int32_t row = placed_.numberOf(node);
  const auto coarse = fill.coarse.row(row);
  return !fill.pieces.row(row).empty() ||
         std::any_of(coarse.begin(), coarse.end(), [](const CoarsePiece& p) { return p.message >= 0; });
}

/// Whether a node moves values between memories, for somebody else who waits: the next rank, or the host.
bool LaneLayout::crossesTheBus(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node) const {
  return placed.kind == PlacedKind::Pack || placed.kind == PlacedKind::CopyOut ||
         readsHost(placed, block, node);
}

/// What the lane is to know of a node, but for its kind. A fill of Old that takes from no other device starts
/// beside the end of the others' last step: nobody but this device touches its halo or wrote what it takes.
/// One that does take from another crosses a link, which lasts longer: it goes ahead of the rest.
LaneTask LaneLayout::laneTask(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node,
                              const TakesFromPeers& takesFromPeers) const {
  LaneTask task;
  task.urgent = crossesTheBus(placed, block, node);
  task.reports = readsHost(placed, block, node) || !placed_.hostEdges.row(node).empty();
  if (block.kind == NodeKind::Fill && takesFromPeers) {
    const FillPlan& fill = graph_.fills[static_cast<std::size_t>(block.item)];
    const bool reaches = takesFromPeers(block.item, placed_.numberOf(node));
    task.independentOfPeers = !reaches && fill.generation == Generation::Old && fill.reach == Reach::Patch;
    task.urgent = task.urgent || reaches;
  }
  if (placed.kind == PlacedKind::Original && block.kind == NodeKind::Task) {
    const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
    const TaskDeclaration& declared = graph_.plan->tasks()[static_cast<std::size_t>(unit.task)];
    task.streams = std::clamp(declared.streams, 1, streams_);
    task.reports = task.reports || unit.contributions.size() > 0;
  }
  return task;
}

LanePlan LaneLayout::plan() const {
  LanePlan lane;
  lane.tasks = tasks_;
  for (const auto& [before, after] : placed_.deviceEdges) {
    if (taskOf(before) >= 0 && taskOf(after) >= 0) lane.edges.emplace_back(taskOf(before), taskOf(after));
  }
  if (!placed_.peerEdges.empty()) addPeerEdges(lane);
  return lane;
}

void LaneLayout::addPeerEdges(LanePlan& lane) const {
  // Each lane numbers its nodes in the order of the graph.
  std::vector<std::int32_t> numberOf(placed_.blockOf.size(), -1);
  std::map<DeviceAssignment, std::int32_t> counts;  // by device
  for (std::int32_t node = 0; node < placed_.nodeCount(); ++node) {
    const auto n = static_cast<std::size_t>(node);
    if (placed_.blockOf[n] < 0 || placed_.place(node) == kOnHost) continue;
    numberOf[n] = counts[placed_.place(node)]++;
  }
  lane.peerPredecessors.assign(lane.tasks.size(), 0);
  for (const auto& [before, after] : placed_.peerEdges) {
    if (taskOf(before) >= 0) {
      lane.peerEdges.push_back(
          {taskOf(before), placed_.place(after), numberOf[static_cast<std::size_t>(after)]});
    }
    if (taskOf(after) >= 0) ++lane.peerPredecessors[static_cast<std::size_t>(taskOf(after))];
  }
}

}  // namespace tessera::detail
