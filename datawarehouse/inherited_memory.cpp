#include "datawarehouse/inherited_memory.hpp"

#include <array>
#include <map>
#include <utility>

namespace tessera::detail {
namespace {

/// Memory that was made for something else is taken where not more than a fifth of it would lie idle.
bool fits(std::int64_t capacity, std::int64_t bytes) {
  return capacity >= bytes && capacity - bytes <= bytes / 4;
}

/// The own patches of a warehouse by level and lower corner.
class PatchesByPlace {
 public:
  explicit PatchesByPlace(const DataWarehouse& data) : data_(data) {
    for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
      if (data.ownPatches()[local] >= 0) locals_[placeOf(patch(local))] = local;
    }
  }
  /// The number of the own patch that has these very cells; -1: none.
  std::int64_t find(const Patch& wanted) const {
    const auto found = locals_.find(placeOf(wanted));
    if (found == locals_.end() || patch(found->second).cells != wanted.cells) return -1;
    return static_cast<std::int64_t>(found->second);
  }

 private:
  using Place = std::array<std::int64_t, 4>;
  const Patch& patch(std::size_t local) const { return data_.hierarchy().patch(data_.ownPatches()[local]); }
  static Place placeOf(const Patch& p) { return {p.level, p.cells.lo.i, p.cells.lo.j, p.cells.lo.k}; }

  const DataWarehouse& data_;
  std::map<Place, std::size_t> locals_;
};

bool isSameLayout(const Layout& a, const Layout& b) {
  return a.window == b.window && a.strideJ == b.strideJ && a.strideK == b.strideK && a.strideC == b.strideC;
}

}  // namespace

InheritedMemory::InheritedMemory(DataWarehouse& before, DataWarehouse& after,
                                 std::span<const DataWarehouse::OldValues> needed)
    : before_(before), after_(after), isNeeded_(before.allocations_.size(), false) {
  for (const DataWarehouse::OldValues& value : needed) {
    const Entry& e = before.entry(value.label, before.localOf(value.patch));
    isNeeded_[static_cast<std::size_t>(before.description(e.generation[0]).allocation)] = true;
  }
}

void InheritedMemory::take() {
  if (before_.piece_ != after_.piece_ || before_.hierarchy().geometry() != after_.hierarchy().geometry())
    return;
  after_.stays_.assign(after_.entries_.size(), false);
  const PatchesByPlace patches(before_);
  for (std::size_t local = 0; local < after_.ownPatches().size(); ++local) {
    if (after_.ownPatches()[local] < 0) continue;
    const std::int64_t same = patches.find(after_.hierarchy().patch(after_.ownPatches()[local]));
    if (same >= 0) keepPatch(local, static_cast<std::size_t>(same));
  }
  keepGathers();
  takeSpares();
}

void InheritedMemory::keepPatch(std::size_t local, std::size_t localBefore) {
  for (LabelId label = 0; label < after_.labels().count(); ++label) {
    const Entry& now = after_.entry(label, local);
    const Entry& then = before_.entry(label, localBefore);
    if (now.generation[0] < 0 || then.generation[0] < 0) continue;
    if (keepEntry(now, then)) {
      after_.stays_[static_cast<std::size_t>(label) * after_.ownPatches().size() + local] = true;
    } else {
      keepSlot(now, then);
    }
  }
}

/// Only what a patch has for itself can stay: other patches of a shared description may have gone.
bool InheritedMemory::keepEntry(const Entry& now, const Entry& then) {
  if (now.hasOld() != then.hasOld()) return false;
  const int generations = now.hasOld() ? 2 : 1;
  for (int g = 0; g < generations; ++g) {
    const Description& to = after_.description(now.generation[g]);
    const Description& from = before_.description(then.generation[g]);
    if (to.entries != 1 || from.entries != 1 || !isSameLayout(to.layout, from.layout)) return false;
    const Allocation& room = after_.roomOf(to);
    const Allocation& roomBefore = before_.roomOf(from);
    if (room.users != 1 || roomBefore.users != 1 || room.bytes != roomBefore.bytes || !roomBefore.isSet)
      return false;
  }
  for (int g = 0; g < generations; ++g) {
    after_.roomOf(after_.description(now.generation[g]))
        .takeFrom(before_.roomOf(before_.description(then.generation[g])));
  }
  return true;
}

/// Memory of several variables that are never in use at the same time: what is in it does not count.
void InheritedMemory::keepSlot(const Entry& now, const Entry& then) {
  const Description& from = before_.description(then.generation[0]);
  Allocation& room = after_.roomOf(after_.description(now.generation[0]));
  Allocation& roomBefore = before_.roomOf(from);
  if (room.users == 1 || roomBefore.users == 1 || room.isSet || !roomBefore.isSet) return;
  if (room.bytes != roomBefore.bytes || isNeeded_[static_cast<std::size_t>(from.allocation)]) return;
  room.takeFrom(roomBefore);
}

/// Buffers are filled before they are read, and plans use the same memory for theirs, so what is in it does
/// not count. Memory of a much larger mesh is given back.
void InheritedMemory::keepGathers() {
  if (before_.gatherCapacity_ < after_.gatherBytes_ || before_.gatherCapacity_ / 4 > after_.gatherBytes_)
    return;
  after_.gatherMemory_ = std::move(before_.gatherMemory_);
  after_.gatherCapacity_ = std::exchange(before_.gatherCapacity_, 0);
  after_.gatherSet_ = before_.gatherSet_;
}

void InheritedMemory::takeSpares() {
  std::multimap<std::int64_t, Allocation*> spares;
  for (std::size_t n = 0; n < before_.allocations_.size(); ++n) {
    Allocation& spare = before_.allocations_[n];
    if (spare.memory.data() != nullptr && !isNeeded_[n]) spares.emplace(spare.capacity, &spare);
  }
  for (Allocation& room : after_.allocations_) {
    if (room.memory.data() != nullptr) continue;
    const auto spare = spares.lower_bound(room.bytes);
    if (spare == spares.end() || !fits(spare->first, room.bytes)) continue;
    room.takeFrom(*spare->second);
    room.isSet = false;
    spares.erase(spare);
  }
}

}  // namespace tessera::detail
