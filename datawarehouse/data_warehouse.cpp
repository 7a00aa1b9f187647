#include "datawarehouse/data_warehouse.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "core/contracts.hpp"
#include "core/error.hpp"
#include "datawarehouse/region_copy.hpp"

namespace tessera {
namespace {

constexpr std::size_t kAlignment = 64;

std::shared_ptr<std::byte[]> allocateAligned(std::size_t bytes) {
  auto* p = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kAlignment}));
  return {p, [](std::byte* q) { ::operator delete (q, std::align_val_t{kAlignment}); }};
}

/// Room for `bytes`, so that what follows is aligned as well.
std::int64_t padded(std::int64_t bytes) {
  const auto a = static_cast<std::int64_t>(kAlignment);
  return (bytes + a - 1) / a * a;
}

template <class T>
void fillNan(std::byte* data, std::int64_t bytes) {
  std::fill_n(reinterpret_cast<T*>(data), bytes / static_cast<std::int64_t>(sizeof(T)),
              std::numeric_limits<T>::quiet_NaN());
}

void fillUnset(std::byte* data, std::int64_t bytes, Scalar scalar) {
  switch (scalar) {
    case Scalar::Float64:
      fillNan<double>(data, bytes);
      break;
    case Scalar::Float32:
      fillNan<float>(data, bytes);
      break;
    case Scalar::Int32:
    case Scalar::Int64:
      std::memset(data, 0, static_cast<std::size_t>(bytes));
      break;
  }
}

}  // namespace

DataWarehouse::DataWarehouse(std::shared_ptr<const Hierarchy> hierarchy, const LabelTable& labels,
                             std::span<const PatchId> ownPatches, std::span<const EntryLayout> entries,
                             std::span<const std::vector<GatherLayout>> gathers)
    : hierarchy_(std::move(hierarchy)),
      labels_(&labels),
      ownPatches_(ownPatches.begin(), ownPatches.end()),
      entries_(static_cast<std::size_t>(labels.count()) * ownPatches.size()) {
  const std::vector<std::size_t> slots = slotsOfPatches();
  for (const EntryLayout& wanted : entries) {
    const auto at = static_cast<std::size_t>(wanted.patch);
    TESSERA_EXPECT(at < slots.size() && slots[at] < ownPatches_.size(), "ask for memory on own patches only");
    allocate(wanted, slots[at]);
  }
  allocateGathers(gathers);
}

std::vector<std::size_t> DataWarehouse::slotsOfPatches() {
  std::vector<std::size_t> slots(static_cast<std::size_t>(hierarchy_->patchCount()), ownPatches_.size());
  localsOfLevel_.resize(hierarchy_->levels().size());
  for (std::size_t local = 0; local < ownPatches_.size(); ++local) {
    if (ownPatches_[local] < 0) continue;
    slots[static_cast<std::size_t>(ownPatches_[local])] = local;
    localsOfLevel_[static_cast<std::size_t>(hierarchy_->patch(ownPatches_[local]).level)].push_back(local);
  }
  return slots;
}

Layout DataWarehouse::layoutOf(const Box& window) const {
  const Geometry& geometry = hierarchy_->geometry();
  return {window, !geometry.hasHalo(1), !geometry.hasHalo(2)};
}

void DataWarehouse::allocateGathers(std::span<const std::vector<GatherLayout>> gathers) {
  std::int64_t most = 0;
  for (const auto& plan : gathers) {
    std::int64_t at = 0;
    gathers_.emplace_back();
    for (const GatherLayout& wanted : plan) {
      gathers_.back().push_back({layoutOf(wanted.window), at});
      at += padded(gathers_.back().back().layout.elements() * labels_->info(wanted.label).type.bytes());
    }
    most = std::max(most, at);
  }
  if (most == 0) return;
  gatherMemory_ = allocateAligned(static_cast<std::size_t>(most));
  allocatedBytes_ += most;
  // All bits set is NaN for both floating-point types: what no patch covers shows when it is used.
  std::memset(gatherMemory_.get(), 0xFF, static_cast<std::size_t>(most));
}

void DataWarehouse::allocate(const EntryLayout& wanted, std::size_t local) {
  Entry& e = entry(wanted.label, local);
  TESSERA_EXPECT(e.bytes == nullptr, "one entry for each label and patch");
  const LabelInfo& info = labels_->info(wanted.label);
  e.layout = layoutOf(wanted.window);
  e.hasOld = wanted.hasOld;
  const std::int64_t room = padded(e.layout.elements() * info.type.bytes());
  const std::int64_t total = wanted.hasOld ? 2 * room : room;
  try {
    e.bytes = allocateAligned(static_cast<std::size_t>(total));
  } catch (const std::bad_alloc&) {
    throw InternalError(
        Message("memory runs out")
            .line("for   ", info.name, " on patch ", asText(hierarchy_->patch(wanted.patch)))
            .line("asks  ", total, " bytes after ", allocatedBytes_, " bytes for other variables")
            .line("fix   use more ranks on more hosts, or fewer cells")
            .text());
  }
  allocatedBytes_ += total;
  e.generation[0] = e.bytes.get();
  e.generation[1] = wanted.hasOld ? e.bytes.get() + room : nullptr;
  fillUnset(e.bytes.get(), total, info.type.scalar);
}

bool DataWarehouse::persists(LabelId label) const {
  for (std::size_t local = 0; local < ownPatches_.size(); ++local) {
    if (has(label, local)) return entry(label, local).hasOld;
  }
  return false;
}

void DataWarehouse::promote(std::span<const LevelLabel> written) {
  for (const auto& [label, number] : written) {
    for (const std::size_t local : localsOfLevel_[static_cast<std::size_t>(number)]) {
      Entry& e = entry(label, local);
      if (e.hasOld) std::swap(e.generation[0], e.generation[1]);
    }
  }
}

Box DataWarehouse::ownedBox(LabelId label, std::size_t local) const {
  const Patch& patch = hierarchy_->patch(ownPatches_[local]);
  return hierarchy_->level(patch.level).ownedBy(patch, labels_->info(label).centering);
}

void DataWarehouse::packOwned(LabelId label, std::size_t local, std::span<std::byte> packed) const {
  const Box box = ownedBox(label, local);
  const std::int64_t size = labels_->info(label).type.bytes();
  TESSERA_EXPECT(static_cast<std::int64_t>(packed.size()) == box.volume() * size,
                 "give room for the owned indices");
  packRegion(packed, data(Generation::Old, label, local), layout(label, local), box, size);
}

void DataWarehouse::unpackOwned(LabelId label, std::size_t local, std::span<const std::byte> packed) {
  const Box box = ownedBox(label, local);
  const std::int64_t size = labels_->info(label).type.bytes();
  TESSERA_EXPECT(static_cast<std::int64_t>(packed.size()) == box.volume() * size, "give the owned indices");
  unpackRegion(data(Generation::Old, label, local), layout(label, local), box, packed, size);
}

}  // namespace tessera
