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
    if (windows_[n].allocation < 0) continue;
    Description& d = data_.description(static_cast<std::int32_t>(n));
    d.status.release(space_);
    for (Status& values : valuesOf(d)) values.release(space_);
  }
  for (const std::vector<Allocation>* allocations : {&allocations_, &gatherAllocations_}) {
    for (const Allocation& allocation : *allocations) {
      if (allocation.memory != nullptr) memory_.free(allocation.memory);
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
    allocations_.resize(std::max(allocations_.size(), static_cast<std::size_t>(d.allocation) + 1));
    Allocation& allocation = allocations_[static_cast<std::size_t>(d.allocation)];
    allocation.bytes = std::max(allocation.bytes, window.aligned.elements * info.type.bytes());
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
      gatherAllocations_.resize(std::max(gatherAllocations_.size(), slot + 1));
      Allocation& allocation = gatherAllocations_[slot];
      allocation.bytes = std::max(allocation.bytes, window.aligned.elements * elementBytes);
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
  if (window.allocation >= 0 || !d.status.claimAllocation(space_)) return;
  window.allocation = d.allocation;
  wanted_.push_back({label, generation, number});
  want(allocations_[static_cast<std::size_t>(d.allocation)]);
}

void DeviceStore::addGather(std::size_t plan, std::size_t n) {
  const std::int32_t slot = data_.gathers()[plan][n].slot;
  Window& window = gathers_[plan][n];
  if (window.allocation >= 0) return;
  window.allocation = slot;
  wantedGathers_.emplace_back(plan, n);
  want(gatherAllocations_[static_cast<std::size_t>(slot)]);
}

void DeviceStore::want(Allocation& allocation) {
  if (allocation.isWanted) return;
  allocation.isWanted = true;
  wantedBytes_ += (allocation.bytes + kMemoryGrain - 1) / kMemoryGrain * kMemoryGrain;
}

void DeviceStore::allocate() {
  if (wanted_.empty() && wantedGathers_.empty()) return;
  std::sort(wanted_.begin(), wanted_.end());
  std::reverse(wanted_.begin(), wanted_.end());
  try {
    memory_.expect(wantedBytes_);
    for (; !wanted_.empty(); wanted_.pop_back()) allocateDescription(wanted_.back().description);
    for (; !wantedGathers_.empty(); wantedGathers_.pop_back()) {
      allocateGather(wantedGathers_.back().first, wantedGathers_.back().second);
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
    Allocation& allocation = allocations_[static_cast<std::size_t>(window.allocation)];
    allocation.isWanted = allocation.memory != nullptr;
    window.allocation = -1;
    data_.description(w.description).status.abandonAllocation(space_);
  }
  for (const auto& [plan, n] : wantedGathers_) {
    Allocation& allocation = gatherAllocations_[static_cast<std::size_t>(gathers_[plan][n].allocation)];
    allocation.isWanted = allocation.memory != nullptr;
    gathers_[plan][n].allocation = -1;
  }
  wanted_.clear();
  wantedGathers_.clear();
  wantedBytes_ = 0;
}

void DeviceStore::allocateDescription(std::int32_t number) {
  Window& window = windows_[static_cast<std::size_t>(number)];
  Description& d = data_.description(number);
  const LabelInfo& info = data_.labels().info(d.label);
  Allocation& allocation = allocations_[static_cast<std::size_t>(window.allocation)];
  allocateMemory(allocation, info.name + " on patch " + asText(data_.hierarchy().patch(d.patch)));
  window.data = static_cast<std::byte*>(allocation.memory) + window.aligned.lead * info.type.bytes();
  for (Status& values : valuesOf(d)) {
    if (values.claimAllocation(space_)) values.finishAllocation(space_);
  }
  d.status.finishAllocation(space_);
}

void DeviceStore::allocateGather(std::size_t plan, std::size_t n) {
  const GatherLayout& wanted = data_.gathers()[plan][n];
  Window& window = gathers_[plan][n];
  const LabelInfo& info = data_.labels().info(wanted.label);
  Allocation& allocation = gatherAllocations_[static_cast<std::size_t>(window.allocation)];
  allocateMemory(allocation, info.name + ", gathered over " + asText(wanted.window));
  window.data = static_cast<std::byte*>(allocation.memory) + window.aligned.lead * info.type.bytes();
}

void DeviceStore::allocateMemory(Allocation& allocation, std::string_view owner) {
  if (allocation.memory != nullptr) return;
  allocation.memory = memory_.allocate(allocation.bytes, owner);
  bytes_ += allocation.bytes;
}

}  // namespace tessera
