#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/box.hpp"
#include "datawarehouse/field.hpp"
#include "grid/generation.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"

namespace tessera {

/// What the warehouse has to hold of one variable on one patch of this rank; made from the compiled graphs.
struct EntryLayout {
  LabelId label = -1;
  PatchId patch = 0;
  Box window;          ///< owned indices and the largest halo that any task reads
  bool hasOld = true;  ///< some plan reads it as Old, so two generations are kept
  /// Entries of one slot on one patch are never in use at the same time and share memory, which is as large
  /// as the largest of them; one generation only. -1: memory of its own.
  std::int32_t slot = -1;
};

/// A buffer for cells of another level or of a whole level, valid from its fill to its last reader.
struct GatherLayout {
  LabelId label = -1;
  Box window;
  std::int32_t slot = 0;  ///< buffers of one slot of a plan share memory; slots count from 0
};

/// The data of this rank: for each (label, own patch) one allocation a generation, halo included and filled
/// in place. Variables that are never in use at the same time may share memory. New memory holds NaN, so that
/// a value nobody wrote shows.
///
/// Thread rules: the accessors may be called from any thread; `promote` only between steps.
class DataWarehouse {
 public:
  /// `entries` in any order; at most one for each (label, patch). Throws InternalError naming label and bytes
  /// when memory runs out.
  DataWarehouse(std::shared_ptr<const Hierarchy> hierarchy, const LabelTable& labels,
                std::span<const PatchId> ownPatches, std::span<const EntryLayout> entries,
                std::span<const std::vector<GatherLayout>> gathers = {});

  const Hierarchy& hierarchy() const { return *hierarchy_; }
  const LabelTable& labels() const { return *labels_; }
  /// This rank's patches, as the graphs number them; -1 where a number is spare (nothing is kept for it).
  std::span<const PatchId> ownPatches() const { return ownPatches_; }
  /// Whether memory is kept for the label on own patch number `local` (position in `ownPatches`).
  bool has(LabelId label, std::size_t local) const { return entry(label, local).bytes != nullptr; }
  /// Whether the label lives from one step to the next (and so belongs into a checkpoint).
  bool persists(LabelId label) const;

  std::byte* data(Generation generation, LabelId label, std::size_t local) {
    const Entry& e = entry(label, local);
    return generation == Generation::Old || !e.hasOld ? e.generation[0] : e.generation[1];
  }
  const std::byte* data(Generation generation, LabelId label, std::size_t local) const {
    return const_cast<DataWarehouse*>(this)->data(generation, label, local);
  }
  const Layout& layout(LabelId label, std::size_t local) const { return entry(label, local).layout; }

  /// Buffer number `n` of a step plan. Plans do not run at the same time, so their buffers share memory.
  std::byte* gatherData(std::size_t plan, std::size_t n) {
    return gatherMemory_.get() + gathers_[plan][n].offset;
  }
  const Layout& gatherLayout(std::size_t plan, std::size_t n) const { return gathers_[plan][n].layout; }

  /// End of a step: the New value of each of these labels, on its level, becomes its Old one. The others keep
  /// theirs.
  void promote(std::span<const LevelLabel> written);

  /// Copies the owned indices of Old, packed, x fastest: what a checkpoint or an output file holds.
  void packOwned(LabelId label, std::size_t local, std::span<std::byte> packed) const;
  /// The reverse, for a restart.
  void unpackOwned(LabelId label, std::size_t local, std::span<const std::byte> packed);
  /// The indices that `packOwned` copies.
  Box ownedBox(LabelId label, std::size_t local) const;

  std::int64_t allocatedBytes() const { return allocatedBytes_; }

 private:
  struct Entry {
    Layout layout;
    bool hasOld = true;
    std::byte* generation[2] = {nullptr, nullptr};  ///< Old, New
    std::shared_ptr<std::byte[]> bytes;
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
  /// Notes where each own patch stands.
  void noteSlots();
  /// One allocation for entries that share it.
  void allocate(std::span<const EntryLayout> wanted);
  void allocateGathers(std::span<const std::vector<GatherLayout>> gathers);
  void allocateGathersOf(std::span<const GatherLayout> plan, std::int64_t& bytes);
  Layout layoutOf(const Box& window) const;
  std::size_t localOf(PatchId patch) const;

  std::shared_ptr<const Hierarchy> hierarchy_;
  const LabelTable* labels_;
  std::vector<PatchId> ownPatches_;
  std::vector<std::int32_t> localOfPatch_;  ///< -1: another rank's
  std::vector<std::vector<std::size_t>> localsOfLevel_;
  std::vector<Entry> entries_;
  std::vector<std::vector<Gather>> gathers_;  ///< by plan
  std::shared_ptr<std::byte[]> gatherMemory_;
  std::int64_t allocatedBytes_ = 0;
};

}  // namespace tessera
