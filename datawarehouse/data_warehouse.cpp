#include "datawarehouse/data_warehouse.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <unistd.h>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "datawarehouse/inherited_memory.hpp"
#include "datawarehouse/moves/region_op.hpp"

namespace tessera {
namespace {

std::size_t pageBytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

constexpr int kUnset = 0xFF;  ///< of each byte: NaN for both floating-point types

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
                             std::span<const std::vector<GatherLayout>> gathers, MemoryPieces pieces)
    : hierarchy_(std::move(hierarchy)),
      labels_(&labels),
      piece_(pieces == MemoryPieces::Pages ? pageBytes() : kBufferAlignment),
      ownPatches_(ownPatches.begin(), ownPatches.end()),
      entries_(static_cast<std::size_t>(labels.count()) * ownPatches.size()),
      gathersWanted_(gathers.begin(), gathers.end()) {
  noteSlots();
  layOut(entries);
  layOutGathers(gathers);
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

std::size_t DataWarehouse::localOf(PatchId patch) const {
  const std::int32_t local = localOfPatch_.at(static_cast<std::size_t>(patch));
  TESSERA_EXPECT(local >= 0, "ask for memory on own patches only");
  return static_cast<std::size_t>(local);
}

void DataWarehouse::layOut(std::span<const EntryLayout> entries) {
  struct Planned {
    const EntryLayout* first = nullptr;
    Box window;
    int entries = 0;
  };
  std::vector<Planned> planned;
  std::map<std::pair<LabelId, std::int32_t>, std::int32_t> groups;
  for (const EntryLayout& wanted : entries) {
    auto number = static_cast<std::int32_t>(planned.size());
    if (wanted.group >= 0) number = groups.try_emplace({wanted.label, wanted.group}, number).first->second;
    if (number == static_cast<std::int32_t>(planned.size())) {
      planned.insert(planned.end(), wanted.hasOld ? 2 : 1, Planned{&wanted, {}, 0});
    }
    Entry& e = entry(wanted.label, localOf(wanted.patch));
    TESSERA_EXPECT(e.generation[0] < 0, "one entry for each label and patch");
    e = {{number, wanted.hasOld ? number + 1 : number}, planned[static_cast<std::size_t>(number)].entries};
    for (std::int32_t n = e.generation[0]; n <= e.generation[1]; ++n) {
      Planned& p = planned[static_cast<std::size_t>(n)];
      TESSERA_EXPECT(p.first->hasOld == wanted.hasOld, "share memory of as many generations");
      p.window = boundingBox(p.window, wanted.window);
      if (wanted.patch < p.first->patch) p.first = &wanted;
      ++p.entries;
    }
  }
  descriptions_ = std::vector<Description>(planned.size());
  memoryOf_.assign(planned.size(), nullptr);
  for (std::size_t n = 0; n < planned.size(); ++n) {
    Description& d = descriptions_[n];
    d.layout = layoutOf(planned[n].window);
    d.label = planned[n].first->label;
    d.patch = planned[n].first->patch;
    d.entries = planned[n].entries;
    d.bytes = paddedBytes(d.layout.elements() * labels_->info(d.label).type.bytes(), piece_);
    TESSERA_EXPECT(planned[n].first->slot < 0 || d.entries == 1, "share memory by slot or by group");
    addRoom(d, planned[n].first->slot);
    if (d.entries > 1) {
      d.values = std::make_unique<Status[]>(static_cast<std::size_t>(d.entries));  // NOLINT: see there
    }
  }
}

void DataWarehouse::addRoom(Description& d, std::int32_t slot) {
  d.allocation = static_cast<std::int32_t>(allocations_.size());
  if (slot >= 0) d.allocation = allocationOfSlot_.try_emplace({slot, d.patch}, d.allocation).first->second;
  if (d.allocation == static_cast<std::int32_t>(allocations_.size())) allocations_.emplace_back();
  Allocation& allocation = allocations_[static_cast<std::size_t>(d.allocation)];
  allocatedBytes_ += std::max(allocation.bytes, d.bytes) - allocation.bytes;
  allocation.bytes = std::max(allocation.bytes, d.bytes);
  ++allocation.users;
}

void DataWarehouse::inherit(DataWarehouse& before, std::span<const OldValues> needed) {
  detail::InheritedMemory(before, *this, needed).take();
}

void DataWarehouse::populate(int part, int parts) {
  TESSERA_EXPECT(part >= 0 && part < parts, "populate one of the parts");
  if (part == 0) allocateGathers();
  for (const std::vector<std::size_t>& own : localsOfLevel_) {
    // As the scheduler gives homes: to each worker a stretch of the patches of each level.
    const auto firstOf = [&](int n) {
      const auto share = own.size() * static_cast<std::size_t>(n) + static_cast<std::size_t>(parts) - 1;
      return share / static_cast<std::size_t>(parts);
    };
    const std::size_t begin = firstOf(part);
    const std::size_t end = firstOf(part + 1);
    for (LabelId label = 0; label < labels_->count(); ++label) {
      for (std::size_t n = begin; n < end; ++n) {
        const Entry& e = entry(label, own[n]);
        if (e.generation[0] < 0) continue;
        for (const std::int32_t d : e.generation)
          claimAndAllocate(descriptions_[static_cast<std::size_t>(d)]);
      }
    }
  }
}

void DataWarehouse::claimAndAllocate(Description& d) {
  // Of a shared description the first part to come makes it; the others go on with the next one.
  if (!d.status.claimAllocation(kHost)) return;
  allocate(d);
  memoryOf_[static_cast<std::size_t>(&d - descriptions_.data())] = d.data;
  d.status.finishAllocation(kHost);
  d.status.markValid(kHost);
  if (!d.values) return;
  for (Status& values : std::span(d.values.get(), static_cast<std::size_t>(d.entries))) {
    if (!values.claimAllocation(kHost)) continue;
    values.finishAllocation(kHost);
    values.markValid(kHost);
  }
}

Layout DataWarehouse::layoutOf(const Box& window) const {
  const Geometry& geometry = hierarchy_->geometry();
  return {window, !geometry.hasHalo(1), !geometry.hasHalo(2)};
}

void DataWarehouse::layOutGathers(std::span<const std::vector<GatherLayout>> gathers) {
  std::int64_t most = 0;
  for (const auto& plan : gathers) {
    std::int64_t bytes = 0;
    layOutGathersOf(plan, bytes);
    most = std::max(most, bytes);
  }
  gatherBytes_ = paddedBytes(most, piece_);
  allocatedBytes_ += gatherBytes_;
}

void DataWarehouse::allocateGathers() {
  if (gatherBytes_ == 0) return;
  if (gatherMemory_.data() == nullptr) {
    // Room for the next mesh: nothing touches it until then, so it takes no memory.
    gatherCapacity_ = paddedBytes(gatherBytes_ + gatherBytes_ / 4, piece_);
    gatherMemory_ = AlignedMemory(gatherCapacity_, piece_);
  }
  if (gatherSet_ >= gatherBytes_) return;
  // What no patch covers shows when it is used.
  std::memset(gatherMemory_.data() + gatherSet_, kUnset, static_cast<std::size_t>(gatherBytes_ - gatherSet_));
  gatherSet_ = gatherBytes_;
}

void DataWarehouse::layOutGathersOf(std::span<const GatherLayout> plan, std::int64_t& bytes) {
  std::vector<std::int64_t> offsets{0};  // by slot: first its size, then where it begins
  for (const GatherLayout& wanted : plan) {
    const auto after = static_cast<std::size_t>(wanted.slot) + 1;
    if (offsets.size() <= after) offsets.resize(after + 1, 0);
    const std::int64_t allocation =
        paddedBytes(layoutOf(wanted.window).elements() * labels_->info(wanted.label).type.bytes());
    offsets[after] = std::max(offsets[after], allocation);
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  bytes = offsets.back();
  gathers_.emplace_back();
  for (const GatherLayout& wanted : plan) {
    gathers_.back().push_back({layoutOf(wanted.window), offsets[static_cast<std::size_t>(wanted.slot)]});
  }
}

void DataWarehouse::reportNoMemory(Description& d) const {
  d.status.abandonAllocation(kHost);
  throw InternalError(
      Message("memory runs out")
          .line("for   ", labels_->info(d.label).name, " on patch ", asText(hierarchy_->patch(d.patch)))
          .line("asks  ", d.bytes, " bytes of ", allocatedBytes_, " bytes for all variables of this rank")
          .line("fix   use more ranks on more hosts, or fewer cells")
          .text());
}

void DataWarehouse::allocate(Description& d) {
  const LabelInfo& info = labels_->info(d.label);
  // Descriptions of one room are on one patch, so it is one thread that gets here for all of them.
  Allocation& allocation = allocations_[static_cast<std::size_t>(d.allocation)];
  if (allocation.memory.data() == nullptr) {
    try {
      allocation.memory = AlignedMemory(allocation.bytes, piece_);
      allocation.capacity = allocation.bytes;
    } catch (const std::bad_alloc&) {
      reportNoMemory(d);
    }
  }
  if (!allocation.isSet && allocation.users == 1) {
    fillUnset(allocation.memory.data(), allocation.bytes, info.type.scalar);
  } else if (!allocation.isSet) {
    std::memset(allocation.memory.data(), kUnset, static_cast<std::size_t>(allocation.bytes));
  }
  allocation.isSet = true;
  d.data = allocation.memory.data();
}

bool DataWarehouse::persists(LabelId label) const {
  for (std::size_t local = 0; local < ownPatches_.size(); ++local) {
    if (has(label, local)) return entry(label, local).hasOld();
  }
  return false;
}

void DataWarehouse::promote(std::span<const LevelLabel> written) {
  for (const auto& [label, number] : written) {
    for (const std::size_t local : localsOfLevel_[static_cast<std::size_t>(number)]) {
      Entry& e = entry(label, local);
      std::swap(e.generation[0], e.generation[1]);
    }
  }
}

std::vector<std::span<std::byte>> DataWarehouse::memory() {
  std::vector<std::span<std::byte>> pieces;
  const auto add = [&](std::byte* memory, std::int64_t bytes) {
    if (memory != nullptr) pieces.emplace_back(memory, static_cast<std::size_t>(bytes));
  };
  for (const Allocation& allocation : allocations_) add(allocation.memory.data(), allocation.bytes);
  add(gatherMemory_.data(), gatherBytes_);
  return pieces;
}

Box DataWarehouse::ownedBox(LabelId label, std::size_t local) const {
  const Patch& patch = hierarchy_->patch(ownPatches_[local]);
  return hierarchy_->level(patch.level).closedBox(patch, labels_->info(label).centering);
}

void DataWarehouse::packOwned(LabelId label, std::size_t local, std::span<std::byte> packed) const {
  const Box box = ownedBox(label, local);
  const ElementType type = labels_->info(label).type;
  TESSERA_EXPECT(static_cast<std::int64_t>(packed.size()) == box.volume() * type.bytes(),
                 "give room for the owned indices");
  runRegion(copyOp(Layout(box, false, false), layout(label, local), box, {}, type), packed.data(),
            data(Generation::Old, label, local));
}

void DataWarehouse::packComponent(LabelId label, std::size_t local, std::int32_t component,
                                  std::span<std::byte> packed) const {
  const Box box = ownedBox(label, local);
  const ElementType type = labels_->info(label).type;
  TESSERA_EXPECT(component >= 0 && component < type.planes(), "ask for a component that there is");
  TESSERA_EXPECT(static_cast<std::int64_t>(packed.size()) == box.volume() * type.elementBytes(),
                 "give room for the owned indices");
  const ElementType one{type.scalar, type.together()};
  const Layout& from = layout(label, local);
  runRegion(copyOp(Layout(box, false, false), from, box, {}, one), packed.data(),
            data(Generation::Old, label, local) + component * from.strideC * type.elementBytes());
}

void DataWarehouse::unpackOwned(LabelId label, std::size_t local, std::span<const std::byte> packed) {
  const Box box = ownedBox(label, local);
  const ElementType type = labels_->info(label).type;
  TESSERA_EXPECT(static_cast<std::int64_t>(packed.size()) == box.volume() * type.bytes(),
                 "give the owned indices");
  runRegion(copyOp(layout(label, local), Layout(box, false, false), box, {}, type),
            data(Generation::Old, label, local), packed.data());
}

}  // namespace tessera
