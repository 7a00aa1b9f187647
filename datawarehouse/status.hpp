#pragma once

#include <atomic>
#include <cstdint>

#include "core/text/contracts.hpp"

namespace tessera {

/// Where a copy of a description's values may lie: the host, or device slot 0 to 7 of the rank.
struct MemorySpace {
  int number = 0;
  friend constexpr bool operator==(MemorySpace, MemorySpace) = default;
};
inline constexpr MemorySpace kHost{0};
inline constexpr int kDeviceSlots = 8;
constexpr MemorySpace deviceSlot(int n) { return {1 + n}; }

/// What is in one space, in the order in which it comes about.
enum class SpaceState : std::uint8_t {
  None,           ///< no memory
  Allocating,     ///< one thread is getting memory
  Allocated,      ///< memory without values
  CopyingIn,      ///< one thread is copying values from another space
  Valid,          ///< owned indices have their values
  GatheringHalo,  ///< one thread is filling what lies around them
  ValidWithHalo,  ///< that as well
};

/// Whether the description serves one entry or several.
enum class MergeState : std::uint8_t { Alone, Merging, Merged };

/// The 64-bit atomic status word of a description: four bits a space, two for merging, sixteen for the number
/// of entries that share it.
///
///   call                from            to              winner
///   claimAllocation     None            Allocating      one caller
///   finishAllocation    Allocating      Allocated       the claimer
///   abandonAllocation   Allocating      None            the claimer, where no memory is to be had
///   claimCopy           Allocated       CopyingIn       one caller
///   finishCopy          CopyingIn       Valid           the claimer
///   markValid           Allocated       Valid           the writer of the values in place
///   claimGather         Valid           GatheringHalo   one caller
///   finishGather        GatheringHalo   ValidWithHalo   the claimer
///   outdateHalo         ValidWithHalo   Valid           the thread that changes neighbouring values
///   outdate             Valid, ValidWithHalo  Allocated the thread that knows of newer values elsewhere
///   wrote               Allocated, Valid, ValidWithHalo  Valid  the writer of the values there; at once in
///                                                       all other spaces as `outdate`, where there are
///                                                       values
///   release             Allocated       None            the thread that frees the memory
///   claimMerge          Alone           Merging         one caller
///   finishMerge(n)      Merging         Merged, n shares  the claimer
///   leave               Merged          one share less; Alone when it was the last
///
/// A claim made too late (the state is a later one) is refused: the loser takes other work, it never waits.
/// A claim made too early, and any other transition from a wrong state, is a contract fault and throws
/// InternalError. Any thread may call anything at any time; docs/datawarehouse.md has the memory-order
/// arguments. `Atomic` is a parameter so that the model test explores the very code that ships.
template <template <class> class Atomic>
class BasicStatus {
 public:
  BasicStatus() = default;

  SpaceState state(MemorySpace space) const { return stateIn(load(), space); }
  MergeState mergeState() const { return mergeIn(load()); }
  /// Entries that share the description; 0 while it serves one.
  int shares() const { return sharesIn(load()); }
  /// Whether a reader of the halo may start.
  bool hasHalo(MemorySpace space) const { return state(space) == SpaceState::ValidWithHalo; }

  /// True for exactly one caller, which then has to finish or abandon.
  [[nodiscard]] bool claimAllocation(MemorySpace s) {
    return claim(s, SpaceState::None, SpaceState::Allocating);
  }
  void finishAllocation(MemorySpace s) { move(s, SpaceState::Allocating, SpaceState::Allocated); }
  void abandonAllocation(MemorySpace s) { move(s, SpaceState::Allocating, SpaceState::None); }

  /// True for exactly one caller, which then has to copy the values in and finish.
  [[nodiscard]] bool claimCopy(MemorySpace s) {
    return claim(s, SpaceState::Allocated, SpaceState::CopyingIn);
  }
  void finishCopy(MemorySpace s) { move(s, SpaceState::CopyingIn, SpaceState::Valid); }
  /// The values were written in place; no copy was needed.
  void markValid(MemorySpace s) { move(s, SpaceState::Allocated, SpaceState::Valid); }

  /// True for exactly one caller, which then has to fill the halo and finish.
  [[nodiscard]] bool claimGather(MemorySpace s) {
    return claim(s, SpaceState::Valid, SpaceState::GatheringHalo);
  }
  void finishGather(MemorySpace s) { move(s, SpaceState::GatheringHalo, SpaceState::ValidWithHalo); }

  /// Neighbouring values have changed, so the halo has to be gathered again. The caller knows that no thread
  /// reads.
  void outdateHalo(MemorySpace s) { move(s, SpaceState::ValidWithHalo, SpaceState::Valid); }
  /// Newer values are elsewhere; the memory stays. The caller knows that no thread reads.
  void outdate(MemorySpace s) {
    const SpaceState seen = state(s);
    move(s, seen == SpaceState::ValidWithHalo ? seen : SpaceState::Valid, SpaceState::Allocated);
  }
  /// New values were written in this space, and those of all others are old now, in one transition. The
  /// caller knows that no thread reads, copies or gathers the old values.
  void wrote(MemorySpace s) {
    Word seen = load();
    Word next = 0;
    do {
      TESSERA_EXPECT(isAtRest(stateIn(seen, s)) && stateIn(seen, s) != SpaceState::None,
                     "write only into memory that is there and that nobody fills");
      next = seen;
      for (int other = 0; other <= kDeviceSlots; ++other) {
        const SpaceState state = stateIn(seen, {other});
        TESSERA_EXPECT(isAtRest(state) || state == SpaceState::Allocating,
                       "write only while nobody copies or gathers in another space");
        if (state >= SpaceState::Valid) next = withState(next, {other}, SpaceState::Allocated);
      }
      next = withState(next, s, SpaceState::Valid);
    } while (!swap(seen, next));
  }
  /// The caller frees the memory afterwards, and alone.
  void release(MemorySpace s) { move(s, SpaceState::Allocated, SpaceState::None); }

  /// True for exactly one caller, which then has to make the shared description and finish.
  [[nodiscard]] bool claimMerge() {
    Word seen = load();
    while (mergeIn(seen) == MergeState::Alone) {
      if (swap(seen, withMerge(seen, MergeState::Merging, 0))) return true;
    }
    return false;
  }
  /// `shares`: the entries that use it from now on, the claimer's among them.
  void finishMerge(int shares) {
    TESSERA_EXPECT(shares >= 2 && shares <= kMaxShares, "merge 2 to 65,535 entries");
    Word seen = load();
    do {
      TESSERA_EXPECT(mergeIn(seen) == MergeState::Merging, "finish only what you have claimed");
    } while (!swap(seen, withMerge(seen, MergeState::Merged, shares)));
  }
  /// One entry uses the shared description no longer. True for the last one, which may free it.
  [[nodiscard]] bool leave() {
    Word seen = load();
    for (;;) {
      TESSERA_EXPECT(mergeIn(seen) == MergeState::Merged, "leave only what is shared, and once");
      const int left = sharesIn(seen) - 1;
      if (swap(seen, withMerge(seen, left == 0 ? MergeState::Alone : MergeState::Merged, left))) {
        return left == 0;
      }
    }
  }

  static constexpr int kMaxShares = 0xFFFF;

 private:
  using Word = std::uint64_t;
  static constexpr int kBitsOfSpace = 4;
  static constexpr int kMergeShift = 36;
  static constexpr int kShareShift = 48;
  static_assert((1 + kDeviceSlots) * kBitsOfSpace <= kMergeShift);

  static int shiftOf(MemorySpace space) {
    TESSERA_EXPECT(space.number >= 0 && space.number <= kDeviceSlots, "name the host or device slot 0 to 7");
    return space.number * kBitsOfSpace;
  }
  static SpaceState stateIn(Word word, MemorySpace space) {
    return static_cast<SpaceState>((word >> shiftOf(space)) & 0xFU);
  }
  static Word withState(Word word, MemorySpace space, SpaceState state) {
    const int at = shiftOf(space);
    return (word & ~(Word{0xF} << at)) | (static_cast<Word>(state) << at);
  }
  /// Whether no claim is open in the space.
  static constexpr bool isAtRest(SpaceState state) {
    return state != SpaceState::Allocating && state != SpaceState::CopyingIn &&
           state != SpaceState::GatheringHalo;
  }
  static MergeState mergeIn(Word word) { return static_cast<MergeState>((word >> kMergeShift) & 3U); }
  static int sharesIn(Word word) { return static_cast<int>((word >> kShareShift) & 0xFFFFU); }
  static Word withMerge(Word word, MergeState state, int shares) {
    const Word cleared = word & ~(Word{3} << kMergeShift) & ~(Word{0xFFFF} << kShareShift);
    return cleared | (static_cast<Word>(state) << kMergeShift) | (static_cast<Word>(shares) << kShareShift);
  }

  /// Acquire: a thread that sees a state sees all that was done before it was reached.
  Word load() const { return word_.load(std::memory_order_acquire); }
  /// Release for what the caller did under its claim, acquire for what others did before.
  bool swap(Word& seen, Word next) {
    return word_.compare_exchange_strong(seen, next, std::memory_order_acq_rel, std::memory_order_acquire);
  }
  bool claim(MemorySpace space, SpaceState from, SpaceState to) {
    Word seen = load();
    while (stateIn(seen, space) == from) {
      if (swap(seen, withState(seen, space, to))) return true;
    }
    TESSERA_EXPECT(stateIn(seen, space) > from,
                   "bring the description into the state that a claim starts from");
    return false;
  }
  void move(MemorySpace space, SpaceState from, SpaceState to) {
    Word seen = load();
    do {
      TESSERA_EXPECT(stateIn(seen, space) == from, "make only the transitions of the table in status.hpp");
    } while (!swap(seen, withState(seen, space, to)));
  }

  Atomic<Word> word_{0};
};

using Status = BasicStatus<std::atomic>;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace tessera
