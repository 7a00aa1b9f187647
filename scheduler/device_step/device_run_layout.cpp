// How a DeviceRun lays out its part of a plan as tasks of a lane.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/text/contracts.hpp"
#include "scheduler/device_step/device_run.hpp"

namespace tessera::detail {

/// Whether a node takes values out of memory of the host, which the next step may overwrite as soon as it
/// begins: the buffers of messages, or what host tasks write. This step may not end before.
bool DeviceRun::readsHost(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node) const {
  if (placed.kind == PlacedKind::CopyIn) return true;
  if (block.kind != NodeKind::Fill) return false;
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(block.item)];
  const std::int32_t row = placed_.numberOf(node);
  const auto coarse = fill.coarse.row(row);
  return !fill.pieces.row(row).empty() ||
         std::any_of(coarse.begin(), coarse.end(), [](const CoarsePiece& p) { return p.message >= 0; });
}

/// Whether a node moves values between memories, for somebody else who waits: the next rank, or the host.
bool DeviceRun::crossesTheBus(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node) const {
  return placed.kind == PlacedKind::Pack || placed.kind == PlacedKind::CopyOut ||
         readsHost(placed, block, node);
}

/// What the lane is to know of a node, but for its kind. A fill of Old that takes from no other device starts
/// beside the end of the others' last step: nobody but this device touches its halo or wrote what it takes.
/// One that does take from another crosses a link, which lasts longer: it goes ahead of the rest.
LaneTask DeviceRun::laneTask(const PlacedBlock& placed, const NodeBlock& block, std::int32_t node) const {
  LaneTask task;
  task.urgent = crossesTheBus(placed, block, node);
  task.reports = readsHost(placed, block, node) || !placed_.hostEdges.row(node).empty();
  if (block.kind == NodeKind::Fill && hasPeers_) {
    const FillPlan& fill = graph_.fills[static_cast<std::size_t>(block.item)];
    const bool reaches = moves_.takesFromPeers(block.item, placed_.numberOf(node));
    task.apart = !reaches && fill.generation == Generation::Old && fill.reach == Reach::Patch;
    task.urgent = task.urgent || reaches;
  }
  if (placed.kind == PlacedKind::Original && block.kind == NodeKind::Task) {
    const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
    const TaskDeclaration& declared = graph_.plan->tasks()[static_cast<std::size_t>(unit.task)];
    task.streams = std::clamp(declared.streams, 1, side_.lane.options().streams);
    task.reports = task.reports || unit.contributions.size() > 0;
  }
  return task;
}

/// Numbers the nodes of this device as the lane's tasks, in the order of the graph. What a placement has cut,
/// because patches in between are another device's, is launched together all the same.
LanePlan DeviceRun::layOut() {
  LanePlan lane;
  std::map<std::tuple<PlacedKind, std::int32_t, LabelId, bool, bool>, std::int32_t> kindOf;
  taskOf_.assign(placed_.blockOf.size(), -1);
  for (std::int32_t node = 0; node < placed_.nodeCount(); ++node) {
    const std::int32_t number = placed_.blockOf[static_cast<std::size_t>(node)];
    if (number < 0 || placed_.place(node) != side_.slot) continue;
    const PlacedBlock& block = placed_.block(node);
    LaneTask task = laneTask(block, graph_.blocks[static_cast<std::size_t>(block.block)], node);
    const auto [found, isNew] = kindOf.try_emplace(
        {block.kind, block.block, block.label, task.urgent, task.apart}, std::ssize(kinds_));
    if (isNew) kinds_.push_back(number);
    task.kind = found->second;
    taskOf_[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(nodes_.size());
    if (!placed_.ofExecutor(node)) {
      const std::int64_t first = std::ssize(nodes_);
      if (first_.empty() || first_.back().end != first) first_.push_back({first, first});
      ++first_.back().end;
    }
    nodes_.push_back(node);
    reports_.push_back(task.reports ? 1 : 0);
    lane.tasks.push_back(task);
  }
  startsApart_ = std::any_of(lane.tasks.begin(), lane.tasks.end(), [](const LaneTask& t) { return t.apart; });
  addEdges(lane);
  work_ = side_.lane.prepare(lane);
  return lane;
}

void DeviceRun::addEdges(LanePlan& lane) const {
  const auto taskOf = [&](std::int32_t node) { return taskOf_[static_cast<std::size_t>(node)]; };
  for (const auto& [before, after] : placed_.deviceEdges) {
    if (taskOf(before) >= 0 && taskOf(after) >= 0) lane.edges.emplace_back(taskOf(before), taskOf(after));
  }
  if (placed_.peerEdges.empty()) return;
  // Each lane numbers its nodes in the order of the graph.
  std::vector<std::int32_t> numberOf(placed_.blockOf.size(), -1);
  std::map<NodePlace, std::int32_t> counts;  // by device
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

void DeviceRun::join(std::span<const std::unique_ptr<DeviceRun>> runs) {
  std::vector<LaneWork*> works;
  std::vector<LaneWork*> replays;
  for (const auto& run : runs) {
    works.push_back(run->work_.get());
    if (run->replay_) replays.push_back(&run->replay_->work());
  }
  LaneWork::join(works);
  TESSERA_EXPECT(replays.empty() || replays.size() == works.size(), "replay a plan on all devices or none");
  LaneWork::join(replays);
}

}  // namespace tessera::detail
