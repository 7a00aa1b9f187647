#include "scheduler/device_step/rank_devices.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "scheduler/graph_replay/replay_segments.hpp"
#include "scheduler/placement.hpp"

namespace tessera::detail {

RankDevices::RankDevices(const CompiledGraphs& graphs, DataWarehouse& data, const DeviceOptions& options,
                         Trace* trace)
    : graphs_(graphs),
      options_(options),
      sides_(makeDeviceSides(data, options, trace)),
      patches_(graphs, static_cast<int>(sides_.size())) {
  place(0.0);
  for (std::size_t plan = 0; plan < graphs.plans.size(); ++plan) addEntries(plan);
  for (const auto& side : sides_) {
    side->backend->bindThread();
    side->store.allocate();
    side->backend->synchronize(side->storeStream);
  }
}

RankDevices::~RankDevices() { synchronize(); }

/// With nothing for the host devices have memory for all that any other part asks for.
void RankDevices::place(double hostPart) {
  const PatchPlaces patches = patchPlaces(graphs_, static_cast<int>(sides_.size()), hostPart);
  const PlaceTask place = makePlacement(options_, patches);
  placed_.clear();
  segments_.clear();
  for (std::size_t plan = 0; plan < graphs_.plans.size(); ++plan) {
    placed_.push_back(placeGraph(graphs_, plan, place, patches_.places()));
    if (options_.graphs) segments_.push_back(replaySegments(graphs_.plans[plan], placed_.back()));
  }
  hostPart_ = patches.hostPart;
}

void RankDevices::pin(std::span<const std::span<std::byte>> memory) {
  sides_.front()->backend->bindThread();
  pinned_.emplace(*sides_.front()->backend, memory);
}

void RankDevices::unpin() {
  synchronize();
  pinned_.reset();
}

void RankDevices::synchronize() noexcept {
  for (const auto& side : sides_) {
    try {
      side->lane.synchronize();
    } catch (const Error&) {
      continue;  // it was said when it happened
    }
  }
}

void RankDevices::crossDeviceBarrier(DeviceLane::Barrier barrier) const {
  std::vector<DeviceLane*> lanes;
  for (const auto& side : sides_) lanes.push_back(&side->lane);
  DeviceLane::crossDeviceBarrier(lanes, barrier);
}

/// What nodes on devices work on or take from, on the device of its patch.
void RankDevices::addEntries(std::size_t plan) {
  const PlacedGraph& placed = placed_[plan];
  for (const PlacedBlock& block : placed.blocks) {
    if (block.place == kOnHost) continue;
    const NodeBlock& original = graphs_.plans[plan].blocks[static_cast<std::size_t>(block.block)];
    for (std::int32_t number = block.firstNumber; number < block.firstNumber + block.count; ++number) {
      if (block.kind == PlacedKind::CopyIn || block.kind == PlacedKind::CopyOut) {
        addEntry(block.label, original.firstLocal + number);
      } else if (block.kind == PlacedKind::Pack) {
        addPack(plan, block.place, original.item + number);
      } else if (original.kind == NodeKind::Task) {
        addTask(plan, original, number);
      } else {
        addFill(plan, block.place, original, number);
      }
    }
  }
}

void RankDevices::addEntry(LabelId label, std::int32_t local) {
  storeOf(local).addEntry(label, static_cast<std::size_t>(local));
}

void RankDevices::addTask(std::size_t plan, const NodeBlock& block, std::int32_t number) {
  const CompiledGraph& graph = graphs_.plans[plan];
  const TaskUnit& unit = graph.units[static_cast<std::size_t>(block.item)];
  for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
    const UnitAccess& access = graph.accesses[static_cast<std::size_t>(a)];
    if (access.reach == Reach::Patch) addEntry(access.label, block.firstLocal + number);
  }
}

/// Memory of its row, and of all that it takes from.
void RankDevices::addFill(std::size_t plan, DeviceAssignment place, const NodeBlock& block,
                          std::int32_t number) {
  const FillPlan& fill = graphs_.plans[plan].fills[static_cast<std::size_t>(block.item)];
  DeviceStore& store = sides_[static_cast<std::size_t>(place)]->store;
  if (fill.reach == Reach::WholeLevel) {
    if (fill.firstGather >= 0) store.addGather(plan, static_cast<std::size_t>(fill.firstGather));
    return addSources(plan, fill, 0);
  }
  if (fill.firstGather >= 0) {
    store.addGather(plan, static_cast<std::size_t>(fill.firstGather + number));
    return addSources(plan, fill, number);
  }
  addEntry(fill.label, block.firstLocal + number);
  // The row of a first member works for its whole group, wherever the others are read.
  for (std::int64_t s = fill.shared.begin; s < fill.shared.end; ++s) {
    const SharedWindow& shared = graphs_.shared[static_cast<std::size_t>(s)];
    if (shared.members.front() != block.firstLocal + number) continue;
    for (const std::int32_t member : shared.members) addSources(plan, fill, member - block.firstLocal);
    return;
  }
  addSources(plan, fill, number);
}

void RankDevices::addSources(std::size_t plan, const FillPlan& fill, std::int32_t row) {
  for (const Neighbour& n : graphs_.plans[plan].tables[static_cast<std::size_t>(fill.table)].row(row)) {
    addEntry(fill.label, n.source);
  }
  for (const CoarsePiece& piece : fill.coarse.row(row)) {
    if (piece.source >= 0) addEntry(fill.label, piece.source);
  }
}

void RankDevices::addPack(std::size_t plan, DeviceAssignment place, std::int32_t send) {
  const CompiledGraph& graph = graphs_.plans[plan];
  const Range items = graph.sends[static_cast<std::size_t>(send)].items;
  for (std::int64_t n = items.begin; n < items.end; ++n) {
    if (placed_[plan].packPlaces[static_cast<std::size_t>(n)] != place) continue;
    const PackItem& item = graph.packItems[static_cast<std::size_t>(n)];
    addEntry(item.label, item.source);
  }
}

}  // namespace tessera::detail
