#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/geometry/box.hpp"
#include "datawarehouse/description.hpp"
#include "grid/generation.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"

namespace tessera {

namespace detail {
class InheritedMemory;
}

/// What the warehouse has to hold of one variable on one patch of this rank; made from the compiled graphs.
struct EntryLayout {
  LabelId label = -1;
  PatchId patch = 0;
  Box window;          ///< owned indices and the largest halo that any task reads
  bool hasOld = true;  ///< some plan reads it as Old, so two generations are kept
  /// Entries of one label with the same number share one description over all their windows. -1: one for
  /// this entry alone.
  std::int32_t group = -1;
  /// Entries of one slot on one patch are never in use at the same time and share memory, which is as large
  /// as the largest of them; one generation only, and in no group. -1: memory of its own.
  std::int32_t slot = -1;
};

/// A buffer for cells of another level or of a whole level, valid from its fill to its last reader.
struct GatherLayout {
  LabelId label = -1;
  Box window;
  std::int32_t slot = 0;  ///< buffers of one slot of a plan share memory; slots count from 0
};

/// What memory of the warehouse begins at and is made up to.
enum class MemoryPieces {
  CacheLines,
  Pages,  ///< to be locked in place for devices, whatever else of the process lies beside it
};

/// The data of this rank. An entry is (label, own patch); it names a description a generation: layout, memory
/// and status, halo included and filled in place. Where large halos overlap, several entries name one shared
/// description. Variables that are never in use at the same time may share memory. New memory holds NaN, so
/// that an unwritten value shows.
///
/// Thread rules: `populate` and the accessors may be called from any thread; `promote` only between
/// steps.
class DataWarehouse {
 public:
  /// Lays out the memory but takes none of it for entries: `populate` does. `entries` in any order; at most
  /// one for each (label, patch). Throws InternalError naming label and bytes when memory runs out.
  DataWarehouse(std::shared_ptr<const Hierarchy> hierarchy, const LabelTable& labels,
                std::span<const PatchId> ownPatches, std::span<const EntryLayout> entries,
                std::span<const std::vector<GatherLayout>> gathers = {},
                MemoryPieces pieces = MemoryPieces::CacheLines);

  /// Old values of a patch that somebody still has to read.
  struct OldValues {
    LabelId label = -1;
    PatchId patch = -1;
    friend auto operator<=>(const OldValues&, const OldValues&) = default;
  };
  /// Takes over the memory of the warehouse that the rank had for another mesh, before `populate`, so that
  /// little has to be allocated and touched for the first time. A patch of the same cells that both have
  /// keeps its variables where they are (`stays`), New ones as well. What else there is goes to other
  /// patches, filled with NaN by `populate`, but for Old of `needed`, which can be read as long as both
  /// warehouses are there. Nothing else of `before` may be used any more.
  void inherit(DataWarehouse& before, std::span<const OldValues> needed);
  /// Whether Old of the entry already is what the patch had on the mesh before.
  bool stays(LabelId label, std::size_t local) const {
    return !stays_.empty() && stays_[static_cast<std::size_t>(label) * ownPatches_.size() + local];
  }

  /// Allocates and fills with NaN what the entries of part `part` of `parts` need; home worker `part` calls
  /// it, so that the memory comes to lie near it. Each part once, at the same time if you like: a description
  /// that several parts share is made by the first thread that reaches it; the others continue with the next
  /// one. The accessors may be used when all parts have returned. Throws like the constructor.
  void populate(int part = 0, int parts = 1);

  const Hierarchy& hierarchy() const { return *hierarchy_; }
  const LabelTable& labels() const { return *labels_; }
  /// This rank's patches, as the graphs number them; -1 where a number is spare (nothing is kept for it).
  std::span<const PatchId> ownPatches() const { return ownPatches_; }
  /// Whether memory is kept for the label on own patch number `local` (position in `ownPatches`).
  bool has(LabelId label, std::size_t local) const { return entry(label, local).generation[0] >= 0; }
  /// Whether the label lives from one step to the next (and so belongs into a checkpoint).
  bool persists(LabelId label) const;

  std::byte* data(Generation generation, LabelId label, std::size_t local) {
    const Entry& e = entry(label, local);
    return memoryOf_[static_cast<std::size_t>(e.generation[generation == Generation::Old ? 0 : 1])];
  }
  const std::byte* data(Generation generation, LabelId label, std::size_t local) const {
    return const_cast<DataWarehouse*>(this)->data(generation, label, local);
  }
  /// The layout of both generations. The window may be larger than what the patch needs.
  const Layout& layout(LabelId label, std::size_t local) const {
    return descriptions_[static_cast<std::size_t>(entry(label, local).generation[0])].layout;
  }
  /// Whether other patches' entries use the same description.
  bool isShared(LabelId label, std::size_t local) const {
    return descriptions_[static_cast<std::size_t>(entry(label, local).generation[0])].entries > 1;
  }
  Status& status(Generation generation, LabelId label, std::size_t local) {
    return description(generation, label, local).status;
  }
  /// Where the owned indices of one entry are valid: what `wroteOn`, `copiedTo` and `needsCopyTo` are about.
  /// The word of its description where it has that for itself, else a word of its own beside it.
  Status& valueStatus(Generation generation, LabelId label, std::size_t local) {
    Description& d = description(generation, label, local);
    return d.values ? d.values[static_cast<std::size_t>(entry(label, local).member)] : d.status;
  }
  /// The number of the description behind an entry. It stays with its memory and status: after `promote` the
  /// other generation has it. Counts from 0 to `descriptionCount()`.
  std::int32_t descriptionOf(Generation generation, LabelId label, std::size_t local) const {
    return entry(label, local).generation[generation == Generation::Old ? 0 : 1];
  }
  std::int32_t descriptionCount() const { return static_cast<std::int32_t>(descriptions_.size()); }
  Description& description(std::int32_t number) { return descriptions_[static_cast<std::size_t>(number)]; }

  /// Buffer number `n` of a step plan. Plans do not run at the same time, so their buffers share memory.
  std::byte* gatherData(std::size_t plan, std::size_t n) {
    return gatherMemory_.data() + gathers_[plan][n].offset;
  }
  const Layout& gatherLayout(std::size_t plan, std::size_t n) const { return gathers_[plan][n].layout; }
  /// The buffers of each plan, as the constructor was given them.
  std::span<const std::vector<GatherLayout>> gathers() const { return gathersWanted_; }

  /// All memory of entries and gathers, each piece once, to be locked in place for devices. After `populate`.
  std::vector<std::span<std::byte>> memory();

  /// End of a step: the New value of each of these labels, on its level, becomes its Old one. The others keep
  /// theirs.
  void promote(std::span<const LevelLabel> written);

  /// Copies what the patch stores itself of Old (`Level::closedBox`), packed, x fastest, components one
  /// behind the other: what a checkpoint holds.
  void packOwned(LabelId label, std::size_t local, std::span<std::byte> packed) const;
  /// The same of one component; of a variable without components all numbers, as component 0.
  void packComponent(LabelId label, std::size_t local, std::int32_t component,
                     std::span<std::byte> packed) const;
  /// The reverse, for a restart.
  void unpackOwned(LabelId label, std::size_t local, std::span<const std::byte> packed);
  /// The indices that `packOwned` copies: cells, or all nodes or faces on their borders.
  Box ownedBox(LabelId label, std::size_t local) const;

  /// Bytes of entries and gathers, as laid out.
  std::int64_t allocatedBytes() const { return allocatedBytes_; }

 private:
  friend class detail::InheritedMemory;

  /// Descriptions of Old and New: the same one twice where only one generation is kept; -1: no memory.
  struct Entry {
    std::int32_t generation[2] = {-1, -1};
    std::int32_t member = 0;  ///< which of the entries of its description it is
    bool hasOld() const { return generation[0] != generation[1]; }
  };
  struct Gather {
    Layout layout;
    std::int64_t offset = 0;  ///< bytes
  };
  Entry& entry(LabelId label, std::size_t local) {
    return entries_[static_cast<std::size_t>(label) * ownPatches_.size() + local];
  }
  const Entry& entry(LabelId label, std::size_t local) const {
    return entries_[static_cast<std::size_t>(label) * ownPatches_.size() + local];
  }
  Description& description(Generation generation, LabelId label, std::size_t local) {
    const Entry& e = entry(label, local);
    return descriptions_[static_cast<std::size_t>(e.generation[generation == Generation::Old ? 0 : 1])];
  }
  /// Memory of one description, or of several that are never in use at the same time.
  struct Allocation {
    AlignedMemory memory;
    std::int64_t bytes = 0;
    std::int64_t capacity = 0;  ///< of `memory`, which may have been made for something larger
    int users = 0;
    bool isSet = false;  ///< it holds values, or NaN
    void takeFrom(Allocation& other) {
      memory = std::move(other.memory);
      capacity = other.capacity;
      isSet = std::exchange(other.isSet, false);
    }
  };
  /// Notes where each own patch stands.
  void noteSlots();
  void layOut(std::span<const EntryLayout> entries);
  std::size_t localOf(PatchId patch) const;
  void addRoom(Description& description, std::int32_t slot);
  void claimAndAllocate(Description& description);
  void allocate(Description& description);
  Allocation& roomOf(const Description& d) { return allocations_[static_cast<std::size_t>(d.allocation)]; }
  [[noreturn]] void reportNoMemory(Description& description) const;
  void layOutGathers(std::span<const std::vector<GatherLayout>> gathers);
  void allocateGathers();
  void layOutGathersOf(std::span<const GatherLayout> plan, std::int64_t& bytes);
  Layout layoutOf(const Box& window) const;

  std::shared_ptr<const Hierarchy> hierarchy_;
  const LabelTable* labels_;
  const std::size_t piece_;  ///< bytes
  std::vector<PatchId> ownPatches_;
  std::vector<std::int32_t> localOfPatch_;  ///< -1: another rank's
  std::vector<std::vector<std::size_t>> localsOfLevel_;
  std::vector<Entry> entries_;
  std::vector<Description> descriptions_;
  /// The data of each description, close together: a halo asks for those of 26 neighbours.
  std::vector<std::byte*> memoryOf_;
  std::vector<Allocation> allocations_;
  std::map<std::pair<std::int32_t, PatchId>, std::int32_t> allocationOfSlot_;
  std::vector<std::vector<Gather>> gathers_;  ///< by plan
  std::vector<std::vector<GatherLayout>> gathersWanted_;
  AlignedMemory gatherMemory_;
  std::int64_t gatherBytes_ = 0;
  std::int64_t allocatedBytes_ = 0;
  std::int64_t gatherCapacity_ = 0;  ///< of `gatherMemory_`, bytes
  std::int64_t gatherSet_ = 0;       ///< so many of them hold NaN or something that was gathered
  std::vector<bool> stays_;          ///< as `entries_`; empty: none
};

}  // namespace tessera
