// What a DeviceRun does for steps that are replayed as graphs of the device.
#include "scheduler/device_step/device_run.hpp"
#include "scheduler/device_step/replay_segments.hpp"

namespace tessera::detail {

void DeviceRun::makeReplay(const LanePlan& lane, const std::vector<std::int32_t>& segments) {
  for (const std::int32_t node : nodes_) segments_.push_back(segments[static_cast<std::size_t>(node)]);
  const std::int32_t watched = watch_.add("replay of " + graph_.plan->name(), DeviceWork::Kernel);
  ReplaySource& source = *this;
  const SegmentPeers peers = segmentPeers(placed_, segments, static_cast<NodePlace>(side_.slot));
  replay_ = std::make_unique<PlanReplay>(side_, lane, segments_, peers, source, inputs_, watch_, watched);
  nodesOf_.assign(static_cast<std::size_t>(replay_->segmentCount()), 0);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (placed_.ofExecutor(nodes_[n])) ++nodesOf_[static_cast<std::size_t>(segments_[n])];
  }
  missing_ = std::vector<std::atomic<std::int32_t>>(nodesOf_.size());
}

void DeviceRun::beginReplay() {
  side_.lane.begin(replay_->work(), *replay_);
  for (std::size_t s = 0; s < nodesOf_.size(); ++s) missing_[s].store(nodesOf_[s], std::memory_order_relaxed);
  for (std::int32_t s = 0; s < replay_->segmentCount(); ++s) {
    if (nodesOf_[static_cast<std::size_t>(s)] == 0) side_.lane.submit(s);
  }
}

/// What others have come to is before the launch.
void DeviceRun::comeTo(std::int32_t task) {
  const std::int32_t segment = segments_[static_cast<std::size_t>(task)];
  std::atomic<std::int32_t>& missing = missing_[static_cast<std::size_t>(segment)];
  if (missing.fetch_sub(1, std::memory_order_acq_rel) == 1) side_.lane.submit(segment);
}

bool DeviceRun::hasBodies(std::int32_t kind) const {
  const PlacedBlock& placed = placedOf(kind);
  return placed.kind == PlacedKind::Original &&
         graph_.blocks[static_cast<std::size_t>(placed.block)].kind == NodeKind::Task;
}

void DeviceRun::callBody(std::int32_t kind, std::int32_t task, DeviceLoops& loops) {
  callBody(placedOf(kind), task, loops);
}

DeviceMoves::KeptValues DeviceRun::keepValues(std::int32_t kind, std::span<const std::int32_t> tasks,
                                              DeviceStream stream) {
  const PlacedBlock& placed = placedOf(kind);
  if (!isFill(placed)) return {};
  setNumbers(tasks, 0);
  return moves_.keepValues(graph_.blocks[static_cast<std::size_t>(placed.block)].item, numbers_, stream);
}

void DeviceRun::giveValues(const DeviceMoves::KeptValues& kept, DeviceStream stream) {
  moves_.giveValues(kept, stream);
}

void DeviceRun::evaluate(std::int32_t kind, std::span<const std::int32_t> tasks,
                         const DeviceMoves::KeptValues& kept) {
  const PlacedBlock& placed = placedOf(kind);
  const std::int32_t fill = graph_.blocks[static_cast<std::size_t>(placed.block)].item;
  setNumbers(tasks, 0);
  moves_.evaluate(fill, numbers_, timeOf(graph_.fills[static_cast<std::size_t>(fill)]), kept);
}

std::int64_t DeviceRun::captureMoves(std::int32_t kind, std::span<const std::int32_t> tasks,
                                     const DeviceMoves::KeptValues& kept, DeviceStream stream) {
  const PlacedBlock& placed = placedOf(kind);
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  const std::int64_t before = moves_.counts().bytesMoved();
  if (isFill(placed)) {
    setNumbers(tasks, 0);
    moves_.captureFill(block.item, numbers_, kept, stream);
  } else if (placed.kind == PlacedKind::Pack) {
    setNumbers(tasks, block.item);
    moves_.launchPack(numbers_, stream);
  } else {
    setNumbers(tasks, block.firstLocal);
    putCopies(placed, stream);
  }
  return moves_.counts().bytesMoved() - before;
}

void DeviceRun::noteLaunched(std::int32_t kind, std::span<const std::int32_t> tasks) {
  const PlacedBlock& placed = placedOf(kind);
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  if (hasBodies(kind)) {
    const TaskUnit& unit = graph_.units[static_cast<std::size_t>(block.item)];
    for (const std::int32_t task : tasks) {
      noteWritten(data_, graph_, unit, block.firstLocal + numberOf(task), side_.space());
    }
  } else if (isFill(placed)) {
    setNumbers(tasks, 0);
    moves_.noteFilled(block.item, numbers_);
  } else if (placed.kind != PlacedKind::Pack) {
    setNumbers(tasks, block.firstLocal);
    noteCopied(placed);
  }
}

/// Of those kinds that have no bodies.
bool DeviceRun::isFill(const PlacedBlock& placed) const {
  return placed.kind == PlacedKind::Original || placed.kind == PlacedKind::Twin;
}

}  // namespace tessera::detail
