#include "scheduler/device_step/rank_devices.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "scheduler/graph_replay/replay_segments.hpp"
#include "scheduler/placement.hpp"
#include "taskgraph/moves/node_access.hpp"

namespace tessera::detail {

RankDevices::RankDevices(const CompiledGraphs& graphs, DataWarehouse& data, const DeviceOptions& options,
                         Trace* trace)
    : graphs_(graphs),
      options_(options),
      sides_(makeDeviceSides(data, options, trace)),
      patches_(graphs, static_cast<int>(sides_.size())) {
  place(0.0);
  for (std::size_t plan = 0; plan < graphs.plans.size(); ++plan) addEntries(plan);
  for (const LabelId label : options.alsoHas) {
    for (std::size_t local = 0; local < data.ownPatches().size(); ++local)
      if (data.ownPatches()[local] >= 0 && data.has(label, local))
        addEntry(label, static_cast<std::int32_t>(local));
  }
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

std::optional<DeviceAccess> RankDevices::access() const {
  for (const auto& side : sides_)
    if (side->pager() != nullptr) return std::nullopt;
  DeviceSide& first = *sides_.front();
  return DeviceAccess{*first.backend, first.values, first.tables, first.pinned,
                      [this](std::int32_t local) -> const DeviceStore& { return storeOf(local); }};
}

void RankDevices::crossDeviceBarrier(DeviceLane::Barrier barrier) const {
  std::vector<DeviceLane*> lanes;
  for (const auto& side : sides_) lanes.push_back(&side->lane);
  DeviceLane::crossDeviceBarrier(lanes, barrier);
}

/// What nodes on devices work on or take from: values on the device of their patch, buffers where they are
/// gathered.
void RankDevices::addEntries(std::size_t plan) {
  const MoveBuilder moves(graphs_, plan);
  const PlacedGraph& placed = placed_[plan];
  for (const PlacedBlock& block : placed.blocks) {
    if (block.place == kOnHost) continue;
    const NodeBlock& original = graphs_.plans[plan].blocks[static_cast<std::size_t>(block.block)];
    DeviceStore& store = sides_[static_cast<std::size_t>(block.place)]->store;
    for (std::int32_t number = block.firstNumber; number < block.firstNumber + block.count; ++number) {
      if (block.kind == PlacedKind::CopyIn || block.kind == PlacedKind::CopyOut) {
        addEntry(block.label, original.firstLocal + number);
        continue;
      }
      forEachAccess(moves, original.firstNode + number, [&](const NodeAccess& access) {
        const bool elsewhere =
            access.item >= 0 && placed.packPlaces[static_cast<std::size_t>(access.item)] != block.place;
        if (elsewhere) return;
        if (access.memory.in == MoveRef::In::Entry) addEntry(access.label, access.memory.number);
        if (access.memory.in == MoveRef::In::Gather)
          store.addGather(plan, static_cast<std::size_t>(access.memory.number));
      });
    }
  }
}

void RankDevices::addEntry(LabelId label, std::int32_t local) {
  storeOf(local).addEntry(label, static_cast<std::size_t>(local));
}

}  // namespace tessera::detail
