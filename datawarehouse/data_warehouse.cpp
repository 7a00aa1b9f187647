#include "datawarehouse/data_warehouse.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>

#include "core/contracts.hpp"
#include "core/error.hpp"
#include "datawarehouse/region_copy.hpp"

namespace tessera {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr int kUnset = 0xFF;  ///< of each byte: NaN for both floating-point types

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
  noteSlots();
  std::vector<EntryLayout> sorted(entries.begin(), entries.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const EntryLayout& a, const EntryLayout& b) {
    return a.slot != b.slot ? a.slot < b.slot : a.slot >= 0 && a.patch < b.patch;
  });
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t end = first + 1;
    const EntryLayout& e = sorted[first];
    while (e.slot >= 0 && end < sorted.size() && sorted[end].slot == e.slot && sorted[end].patch == e.patch)
      ++end;
    allocate(std::span(sorted).subspan(first, end - first));
    first = end;
  }
  allocateGathers(gathers);
}

void DataWarehouse::noteSlots() {
  localOfPatch_.assign(static_cast<std::size_t>(hierarchy_->patchCount()), -1);
  localsOfLevel_.resize(hierarchy_->levels().size());
  for (std::size_t local = 0; local < ownPatches_.size(); ++local) {
    if (ownPatches_[local] < 0) continue;
    localOfPatch_[static_cast<std::size_t>(ownPatches_[local])] = static_cast<std::int32_t>(local);
    localsOfLevel_[static_cast<std::size_t>(hierarchy_->patch(ownPatches_[local]).level)].push_back(local);
  }
}

Layout DataWarehouse::layoutOf(const Box& window) const {
  const Geometry& geometry = hierarchy_->geometry();
  return {window, !geometry.hasHalo(1), !geometry.hasHalo(2)};
}

std::size_t DataWarehouse::localOf(PatchId patch) const {
  const std::int32_t local = localOfPatch_.at(static_cast<std::size_t>(patch));
  TESSERA_EXPECT(local >= 0, "ask for memory on own patches only");
  return static_cast<std::size_t>(local);
}

void DataWarehouse::allocateGathers(std::span<const std::vector<GatherLayout>> gathers) {
  std::int64_t most = 0;
  for (const auto& plan : gathers) {
    std::int64_t bytes = 0;
    allocateGathersOf(plan, bytes);
    most = std::max(most, bytes);
  }
  if (most == 0) return;
  gatherMemory_ = allocateAligned(static_cast<std::size_t>(most));
  allocatedBytes_ += most;
  // What no patch covers shows when it is used.
  std::memset(gatherMemory_.get(), kUnset, static_cast<std::size_t>(most));
}

void DataWarehouse::allocateGathersOf(std::span<const GatherLayout> plan, std::int64_t& bytes) {
  std::vector<std::int64_t> offsets{0};  // by slot: first its size, then where it begins
  for (const GatherLayout& wanted : plan) {
    const auto after = static_cast<std::size_t>(wanted.slot) + 1;
    if (offsets.size() <= after) offsets.resize(after + 1, 0);
    const std::int64_t room =
        padded(layoutOf(wanted.window).elements() * labels_->info(wanted.label).type.bytes());
    offsets[after] = std::max(offsets[after], room);
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  bytes = offsets.back();
  gathers_.emplace_back();
  for (const GatherLayout& wanted : plan) {
    gathers_.back().push_back({layoutOf(wanted.window), offsets[static_cast<std::size_t>(wanted.slot)]});
  }
}

void DataWarehouse::allocate(std::span<const EntryLayout> wanted) {
  std::int64_t room = 0;
  for (const EntryLayout& w : wanted) {
    TESSERA_EXPECT(!has(w.label, localOf(w.patch)), "one entry for each label and patch");
    TESSERA_EXPECT(wanted.size() == 1 || !w.hasOld, "share memory of one generation only");
    room = std::max(room, padded(layoutOf(w.window).elements() * labels_->info(w.label).type.bytes()));
  }
  const EntryLayout& first = wanted.front();
  const LabelInfo& info = labels_->info(first.label);
  const std::int64_t total = first.hasOld ? 2 * room : room;
  std::shared_ptr<std::byte[]> bytes;
  try {
    bytes = allocateAligned(static_cast<std::size_t>(total));
  } catch (const std::bad_alloc&) {
    throw InternalError(
        Message("memory runs out")
            .line("for   ", info.name, " on patch ", asText(hierarchy_->patch(first.patch)))
            .line("asks  ", total, " bytes after ", allocatedBytes_, " bytes for other variables")
            .line("fix   use more ranks on more hosts, or fewer cells")
            .text());
  }
  allocatedBytes_ += total;
  if (wanted.size() == 1) {
    fillUnset(bytes.get(), total, info.type.scalar);
  } else {
    std::memset(bytes.get(), kUnset, static_cast<std::size_t>(total));
  }
  for (const EntryLayout& w : wanted) {
    Entry& e = entry(w.label, localOf(w.patch));
    e = {layoutOf(w.window), w.hasOld, {bytes.get(), w.hasOld ? bytes.get() + room : nullptr}, bytes};
  }
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
