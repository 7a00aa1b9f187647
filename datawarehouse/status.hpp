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
  None,        ///< no memory
  Allocating,  ///< one thread is getting memory
  Allocated,   ///< memory without values
  Valid,       ///< owned indices have their values
};

/// The atomic status word of a description: two bits a space.
///
///   call                from              to           caller
///   claimAllocation     None              Allocating   one of those that ask
///   finishAllocation    Allocating        Allocated    the claimer
///   abandonAllocation   Allocating        None         the claimer, where no memory is to be had
///   markValid           Allocated         Valid        the thread that wrote or copied the values
///   wrote               Allocated, Valid  Valid        the thread that wrote the values; all other spaces
///   that
///                                                      have some become Allocated in the same transition
///   release             Allocated, Valid  None         the thread that frees the memory
///
/// A claim made too late (the state is a later one) is refused: the loser takes other work, it never waits.
/// Any other transition from a wrong state is a contract fault and throws InternalError. Any thread may call
/// anything at any time; docs/design/data.md has the memory-order arguments. `Atomic` is a parameter so
/// that the model test explores the very code that ships.
template <template <class> class Atomic>
class BasicStatus {
 public:
  BasicStatus() = default;

  SpaceState state(MemorySpace space) const { return stateIn(load(), space); }

  /// True for exactly one caller, which then has to finish or abandon.
  [[nodiscard]] bool claimAllocation(MemorySpace space) {
    Word seen = load();
    while (stateIn(seen, space) == SpaceState::None) {
      if (swap(seen, withState(seen, space, SpaceState::Allocating))) return true;
    }
    return false;
  }
  void finishAllocation(MemorySpace space) { move(space, SpaceState::Allocating, SpaceState::Allocated); }
  void abandonAllocation(MemorySpace space) { move(space, SpaceState::Allocating, SpaceState::None); }
  void markValid(MemorySpace space) { move(space, SpaceState::Allocated, SpaceState::Valid); }

  /// New values were written in this space, and those of all others are old now. The caller knows that
  /// nothing reads the old ones or copies them.
  void wrote(MemorySpace space) {
    Word seen = load();
    Word next = 0;
    do {
      TESSERA_EXPECT(stateIn(seen, space) >= SpaceState::Allocated, "write only into memory that is there");
      next = seen;
      for (int other = 0; other <= kDeviceSlots; ++other) {
        if (stateIn(seen, {other}) == SpaceState::Valid)
          next = withState(next, {other}, SpaceState::Allocated);
      }
      next = withState(next, space, SpaceState::Valid);
    } while (!swap(seen, next));
  }
  /// The caller frees the memory afterwards, and alone. Nothing reads the values.
  void release(MemorySpace space) {
    Word seen = load();
    do {
      TESSERA_EXPECT(stateIn(seen, space) >= SpaceState::Allocated, "release only memory that is there");
    } while (!swap(seen, withState(seen, space, SpaceState::None)));
  }

 private:
  using Word = std::uint32_t;
  static constexpr int kBitsOfSpace = 2;
  static_assert((1 + kDeviceSlots) * kBitsOfSpace <= 32);

  static int shiftOf(MemorySpace space) {
    TESSERA_EXPECT(space.number >= 0 && space.number <= kDeviceSlots, "name the host or device slot 0 to 7");
    return space.number * kBitsOfSpace;
  }
  static SpaceState stateIn(Word word, MemorySpace space) {
    return static_cast<SpaceState>((word >> shiftOf(space)) & 3U);
  }
  static Word withState(Word word, MemorySpace space, SpaceState state) {
    const int at = shiftOf(space);
    return (word & ~(Word{3} << at)) | (static_cast<Word>(state) << at);
  }

  /// Acquire: a thread that sees a state sees all that was done before it was reached.
  Word load() const { return word_.load(std::memory_order_acquire); }
  /// Release for what the caller did under its claim, acquire for what others did before.
  bool swap(Word& seen, Word next) {
    return word_.compare_exchange_strong(seen, next, std::memory_order_acq_rel, std::memory_order_acquire);
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
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace tessera
