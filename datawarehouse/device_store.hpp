#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/moves/aligned_layout.hpp"

namespace tessera {

/// Memory of one device, as this module may know it; the scheduler has one made of a DevicePool.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  virtual ~DeviceMemory() = default;

  /// Said before memory for a store is allocated: how much that will be, each piece rounded up to 256 bytes.
  virtual void expect(std::int64_t /*bytes*/) {}
  /// Each byte is 0xFF, so that unwritten floating-point numbers are NaN. At least 256-byte aligned.
  /// Throws the device's own error, with `owner`, the bytes and the limit, where so much is not to be had.
  virtual void* allocate(std::int64_t bytes, std::string_view owner) = 0;
  virtual void free(void* memory) = 0;
};

/// What a warehouse's variables have in the memory of one device: for each description that the device uses a
/// window of its own, whose rows begin at sectors, and its state in the description's status word.
///
///   DeviceStore store(data, 0, memory);
///   store.addEntry(temperature, local);                       // before the first step: Old and New
///   store.bring();                                            // memory for all that was added
///   Field<double> T(reinterpret_cast<double*>(store.data(Generation::Old, temperature, local)),
///                   store.layout(temperature, local));        // a kernel of the device may use it
///
/// It follows `DataWarehouse::promote`: memory belongs to a description, and the warehouse says whose it is
/// now. Entries that share a description on the host share it here. Descriptions that take turns with one
/// piece of memory there do so here.
///
/// It copies nothing, and does not say that there are values: `wroteOn` and `copiedTo` do, and are for
/// whoever launches. Thread rule: one thread at a time, the one that serves the device's lane; the accessors
/// also for others once all is added.
class DeviceStore {
 public:
  /// `slot` of 0 to kDeviceSlots - 1 is the device's in the status words. The warehouse is populated; it and
  /// `memory` outlive the store.
  DeviceStore(DataWarehouse& data, int slot, DeviceMemory& memory);
  /// Nothing on the device uses the memory any more, and values that are valid nowhere else are lost.
  ~DeviceStore();
  DeviceStore(const DeviceStore&) = delete;
  DeviceStore& operator=(const DeviceStore&) = delete;

  MemorySpace space() const { return space_; }

  /// `allocate` will take memory for both generations of an entry of the warehouse; nothing where it is
  /// there.
  void addEntry(LabelId label, std::size_t local);
  /// Whether `addEntry` was called for this very entry.
  bool isAdded(LabelId label, std::size_t local) const { return added_[numberOf(label, local)] != 0; }
  /// Whether `addEntry` was called for it, or for an entry that it shares its memory with.
  bool has(LabelId label, std::size_t local) const {
    return data_.has(label, local) && windowOf(Generation::Old, label, local).allocation >= 0;
  }
  /// The element at the begin of the layout's window.
  std::byte* data(Generation generation, LabelId label, std::size_t local) const {
    return windowOf(generation, label, local).data;
  }
  /// The layout of both generations.
  const Layout& layout(LabelId label, std::size_t local) const {
    return windowOf(Generation::Old, label, local).aligned.layout;
  }

  /// Buffer number `n` of a plan, as the warehouse has it. Buffers that share memory there do so here.
  void addGather(std::size_t plan, std::size_t n);
  bool hasGather(std::size_t plan, std::size_t n) const { return gathers_[plan][n].allocation >= 0; }
  std::byte* gatherData(std::size_t plan, std::size_t n) const { return gathers_[plan][n].data; }
  const Layout& gatherLayout(std::size_t plan, std::size_t n) const {
    return gathers_[plan][n].aligned.layout;
  }

  /// Takes memory for all that was added since. Windows that one task after another comes to, those of a
  /// variable's generation on neighbouring patches, follow each other. Throws what `DeviceMemory::allocate`
  /// does, with label and patch; what has no memory then counts as not added.
  void allocate();
  /// Bytes of entries and gathers that have memory.
  std::int64_t bytes() const { return bytes_; }

  /// The memory that an entry's window lies in, as `DeviceMemory` gave it: windows that take turns have the
  /// same.
  const void* memoryOf(Generation generation, LabelId label, std::size_t local) const {
    return allocations_[static_cast<std::size_t>(windowOf(generation, label, local).allocation)].memory;
  }
  const void* gatherMemory(std::size_t plan, std::size_t n) const {
    return gatherAllocations_[static_cast<std::size_t>(gathers_[plan][n].allocation)].memory;
  }

 private:
  /// The window of one description, or of a gather.
  struct Window {
    AlignedLayout aligned;
    std::byte* data = nullptr;
    std::int32_t allocation = -1;  ///< -1: not added
  };
  /// Memory of one description or gather, or of several that take turns.
  struct Allocation {
    void* memory = nullptr;
    std::int64_t bytes = 0;  ///< that the largest of them needs
    bool isWanted = false;
  };
  /// A description that was added and has no memory yet, in the order in which it will get it.
  struct Wanted {
    LabelId label = -1;
    int generation = 0;  ///< entries of a variable swap theirs together
    std::int32_t description = -1;
    friend auto operator<=>(const Wanted&, const Wanted&) = default;
  };

  const Window& windowOf(Generation generation, LabelId label, std::size_t local) const {
    return windows_[static_cast<std::size_t>(data_.descriptionOf(generation, label, local))];
  }
  std::size_t numberOf(LabelId label, std::size_t local) const {
    return static_cast<std::size_t>(label) * data_.ownPatches().size() + local;
  }
  void layOutEntries();
  void layOutGathers();
  void addDescription(LabelId label, int generation, std::int32_t number);
  void want(Allocation& allocation);
  void allocateDescription(std::int32_t number);
  void allocateGather(std::size_t plan, std::size_t n);
  void allocateMemory(Allocation& allocation, std::string_view owner);
  void forgetWanted();

  DataWarehouse& data_;
  MemorySpace space_;
  DeviceMemory& memory_;
  std::vector<char> added_;              ///< by label and own patch
  std::vector<Window> windows_;          ///< by description
  std::vector<Allocation> allocations_;  ///< as the warehouse numbers them
  std::vector<std::vector<Window>> gathers_;
  std::vector<Allocation> gatherAllocations_;  ///< by slot; plans do not run at the same time
  std::vector<Wanted> wanted_;
  std::vector<std::pair<std::size_t, std::size_t>> wantedGathers_;  ///< plan, number
  std::int64_t wantedBytes_ = 0;
  std::int64_t bytes_ = 0;
};

/// The owned indices of an entry were written in `space`, or are by work that goes before all that reads
/// them: they are valid there, and nowhere else. Every writer of a variable that a device has says so, also
/// the host.
inline void wroteOn(Status& status, MemorySpace space) { status.wrote(space); }

/// Whether the owned indices have to be copied to `space` before something reads them there.
inline bool needsCopyTo(const Status& status, MemorySpace space) {
  return status.state(space) < SpaceState::Valid;
}

/// The owned indices were copied to `space`, or are by work that goes before all that reads them. Nothing
/// where they are valid.
inline void copiedTo(Status& status, MemorySpace space) {
  if (needsCopyTo(status, space)) status.markValid(space);
}

}  // namespace tessera
