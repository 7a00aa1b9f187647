#include "datawarehouse/device_store.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "core/text/contracts.hpp"

namespace tessera {
namespace {

/// Bytes in which a GPU moves memory.
constexpr std::int64_t kSectorBytes = kSectorElements * 8;
constexpr std::int64_t kMemoryGrain = 256;

/// Elements after which begins of elements and of sectors meet again.
std::int64_t sectorOf(std::int64_t elementBytes) {
  return kSectorBytes / std::gcd(kSectorBytes, elementBytes);
}

/// Of a shared description: the words of its entries.
std::span<Status> valuesOf(Description& d) {
  if (!d.values) return {};
  return {d.values.get(), static_cast<std::size_t>(d.entries)};
}

}  // namespace

DeviceStore::DeviceStore(DataWarehouse& data, int slot, DeviceMemory& memory)
    : data_(data),
      space_(deviceSlot(slot)),
      memory_(memory),
      added_(static_cast<std::size_t>(data.labels().count()) * data.ownPatches().size(), 0) {
  layOutEntries();
  layOutGathers();
}

DeviceStore::~DeviceStore() {
  forgetWanted();
  for (std::size_t n = 0; n < windows_.size(); ++n) {
    if (windows_[n].room < 0) continue;
    Description& d = data_.description(static_cast<std::int32_t>(n));
    d.status.release(space_);
    for (Status& values : valuesOf(d)) values.release(space_);
  }
  for (const std::vector<Room>* rooms : {&rooms_, &gatherRooms_}) {
    for (const Room& room : *rooms) {
      if (room.memory != nullptr) memory_.free(room.memory);
    }
  }
}

void DeviceStore::layOutEntries() {
  for (std::int32_t n = 0; n < data_.descriptionCount(); ++n) {
    const Description& d = data_.description(n);
    const LabelInfo& info = data_.labels().info(d.label);
    const Patch& patch = data_.hierarchy().patch(d.patch);
    const Box owned = data_.hierarchy().level(patch.level).ownedBy(patch, info.centering);
    Window window;
    window.aligned = alignRows(d.layout, owned, sectorOf(info.type.bytes()));
    rooms_.resize(std::max(rooms_.size(), static_cast<std::size_t>(d.room) + 1));
    Room& room = rooms_[static_cast<std::size_t>(d.room)];
    room.bytes = std::max(room.bytes, window.aligned.elements * info.type.bytes());
    windows_.push_back(window);
  }
}

void DeviceStore::layOutGathers() {
  for (const std::vector<GatherLayout>& plan : data_.gathers()) {
    std::vector<Window>& windows = gathers_.emplace_back();
    for (const GatherLayout& wanted : plan) {
      const std::int64_t elementBytes = data_.labels().info(wanted.label).type.bytes();
      Window window;
      window.aligned = alignRows(data_.gatherLayout(gathers_.size() - 1, windows.size()), wanted.window,
                                 sectorOf(elementBytes));
      const auto slot = static_cast<std::size_t>(wanted.slot);
      gatherRooms_.resize(std::max(gatherRooms_.size(), slot + 1));
      Room& room = gatherRooms_[slot];
      room.bytes = std::max(room.bytes, window.aligned.elements * elementBytes);
      windows.push_back(window);
    }
  }
}

void DeviceStore::addEntry(LabelId label, std::size_t local) {
  TESSERA_EXPECT(data_.has(label, local), "add entries that the warehouse has");
  added_[numberOf(label, local)] = 1;
  addDescription(label, 0, data_.descriptionOf(Generation::Old, label, local));
  addDescription(label, 1, data_.descriptionOf(Generation::New, label, local));
}

void DeviceStore::addDescription(LabelId label, int generation, std::int32_t number) {
  Window& window = windows_[static_cast<std::size_t>(number)];
  Description& d = data_.description(number);
  if (window.room >= 0 || !d.status.claimAllocation(space_)) return;
  window.room = d.room;
  wanted_.push_back({label, generation, number});
  want(rooms_[static_cast<std::size_t>(d.room)]);
}

void DeviceStore::addGather(std::size_t plan, std::size_t n) {
  const std::int32_t slot = data_.gathers()[plan][n].slot;
  Window& window = gathers_[plan][n];
  if (window.room >= 0) return;
  window.room = slot;
  wantedGathers_.emplace_back(plan, n);
  want(gatherRooms_[static_cast<std::size_t>(slot)]);
}

void DeviceStore::want(Room& room) {
  if (room.isWanted) return;
  room.isWanted = true;
  wantedBytes_ += (room.bytes + kMemoryGrain - 1) / kMemoryGrain * kMemoryGrain;
}

void DeviceStore::bring() {
  if (wanted_.empty() && wantedGathers_.empty()) return;
  std::sort(wanted_.begin(), wanted_.end());
  std::reverse(wanted_.begin(), wanted_.end());
  try {
    memory_.expect(wantedBytes_);
    for (; !wanted_.empty(); wanted_.pop_back()) bringDescription(wanted_.back().description);
    for (; !wantedGathers_.empty(); wantedGathers_.pop_back()) {
      bringGather(wantedGathers_.back().first, wantedGathers_.back().second);
    }
  } catch (...) {
    forgetWanted();
    throw;
  }
  wantedBytes_ = 0;
}

void DeviceStore::forgetWanted() {
  for (const Wanted& w : wanted_) {
    Window& window = windows_[static_cast<std::size_t>(w.description)];
    Room& room = rooms_[static_cast<std::size_t>(window.room)];
    room.isWanted = room.memory != nullptr;
    window.room = -1;
    data_.description(w.description).status.abandonAllocation(space_);
  }
  for (const auto& [plan, n] : wantedGathers_) {
    Room& room = gatherRooms_[static_cast<std::size_t>(gathers_[plan][n].room)];
    room.isWanted = room.memory != nullptr;
    gathers_[plan][n].room = -1;
  }
  wanted_.clear();
  wantedGathers_.clear();
  wantedBytes_ = 0;
}

void DeviceStore::bringDescription(std::int32_t number) {
  Window& window = windows_[static_cast<std::size_t>(number)];
  Description& d = data_.description(number);
  const LabelInfo& info = data_.labels().info(d.label);
  Room& room = rooms_[static_cast<std::size_t>(window.room)];
  bringRoom(room, info.name + " on patch " + asText(data_.hierarchy().patch(d.patch)));
  window.data = static_cast<std::byte*>(room.memory) + window.aligned.lead * info.type.bytes();
  for (Status& values : valuesOf(d)) {
    if (values.claimAllocation(space_)) values.finishAllocation(space_);
  }
  d.status.finishAllocation(space_);
}

void DeviceStore::bringGather(std::size_t plan, std::size_t n) {
  const GatherLayout& wanted = data_.gathers()[plan][n];
  Window& window = gathers_[plan][n];
  const LabelInfo& info = data_.labels().info(wanted.label);
  Room& room = gatherRooms_[static_cast<std::size_t>(window.room)];
  bringRoom(room, info.name + ", gathered over " + asText(wanted.window));
  window.data = static_cast<std::byte*>(room.memory) + window.aligned.lead * info.type.bytes();
}

void DeviceStore::bringRoom(Room& room, std::string_view owner) {
  if (room.memory != nullptr) return;
  room.memory = memory_.allocate(room.bytes, owner);
  bytes_ += room.bytes;
}

}  // namespace tessera
