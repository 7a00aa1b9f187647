#pragma once

#include <cstddef>
#include <cstdint>

#include "scheduler/engine/queues/scoped_atomic.hpp"

namespace tessera::engine {

/// What an allocation or a release found wrong.
enum class MemoryFault : std::uint32_t {
  None,
  Exhausted,   ///< no room for so many bytes
  Foreign,     ///< not the start of anything that this memory gave out
  FreedTwice,  ///< it was given back already
};

/// "the task memory is used up" and so on.
const char* faultText(MemoryFault fault);

/// Sizes of blocks in a page of 64 KiB: 64, 96, 128, 192, 256, 384 ... 32768. A block is less than 1.5 times
/// as large as what was asked for, from 64 bytes on. More than 32768 bytes take whole pages.
struct SlabClasses {
  static constexpr std::uint32_t kCount = 19;
  static constexpr std::uint64_t kPageBytes = 64 * 1024;
  static constexpr std::uint32_t kWordsOfPage = kPageBytes / 64 / 64;  ///< one bit a block
  static constexpr std::uint64_t kLargestBlock = 32768;

  TESSERA_KERNEL static constexpr std::uint32_t blockBytes(std::uint32_t number) {
    return (number % 2 == 0 ? 64U : 96U) << (number / 2);
  }
  TESSERA_KERNEL static constexpr std::uint32_t classOf(std::uint64_t bytes) {
    std::uint32_t number = 0;
    while (blockBytes(number) < bytes) number += blockBytes(number) * 2 < bytes ? 2 : 1;
    return number;
  }
};

/// Memory for the data of tasks, cut out of one piece by many threads at once without a lock. A view: copy
/// it; the memory and its records are its maker's.
///
/// The piece is cut into pages; a page holds blocks of one class, with a bit for each block, or is part of a
/// large allocation. A page none of whose blocks is in use serves any class and any large allocation: that is
/// how free memory grows together again.
///
/// Invariants. The state of a page is class (1 + number; 0: never used) and count. count >= blocks whose bit
/// is set; who has added 1 to the count of a page of the right class that was not full may set one bit, and
/// there is a clear one: bits are cleared before the count goes down. The class changes only by a
/// compare-and-swap of the whole state from count 0, so no bit is set then. Who finds the wrong class, or a
/// full page, takes its 1 back; until then the count is too large, which makes others go elsewhere and
/// nothing worse.
///
/// Memory order. A block's bit is set with acquire and cleared with release: who gets the block sees what its
/// last owner did. The count of a page goes down with release and its class changes with acquire, for the
/// same reason between classes.
template <class Atomics, class Classes = SlabClasses>
struct Slab {
  template <class T>
  using Atomic = typename Atomics::template Atomic<T>;
  /// Where a group of threads found room last, for each class: its first try.
  struct Hints {
    Atomic<std::uint32_t> page[Classes::kCount];
  };
  struct Answer {
    std::uint64_t address = 0;
    MemoryFault fault = MemoryFault::Exhausted;
  };

  Atomic<std::uint64_t>* states = nullptr;  ///< one a page: run in bits 40.., class in 32..39, count below
  Atomic<std::uint64_t>* bits = nullptr;    ///< Classes::kWordsOfPage a page
  std::uint64_t base = 0;                   ///< the address of the first page
  std::uint32_t pages = 0;

  /// `seed` says where a search begins, so that threads with different ones do not meet.
  TESSERA_KERNEL Answer allocate(std::uint64_t bytes, Hints& hints, std::uint32_t seed) const {
    if (bytes > Classes::kLargestBlock) return allocatePages(bytes);
    const std::uint32_t number = Classes::classOf(bytes);
    const std::uint32_t hinted = hints.page[number].load(std::memory_order_relaxed);
    if (hinted < pages && reserve(hinted, number)) return {blockOf(hinted, number, seed), MemoryFault::None};
    std::uint32_t page = hinted < pages ? hinted : (seed * 7919U) % pages;
    for (std::uint32_t n = 0; n < pages; ++n, page = page + 1 == pages ? 0 : page + 1) {
      const std::uint64_t seen = states[page].load(std::memory_order_relaxed);
      const bool fits = classOfState(seen) == number + 1 && countOf(seen) < blocksOf(number);
      if (!(fits ? reserve(page, number) : assign(page, number, seen))) continue;
      hints.page[number].store(page, std::memory_order_relaxed);
      return {blockOf(page, number, seed), MemoryFault::None};
    }
    return {};
  }

  TESSERA_KERNEL MemoryFault release(std::uint64_t address) const {
    if (address < base || address >= base + pages * Classes::kPageBytes) return MemoryFault::Foreign;
    const auto page = static_cast<std::uint32_t>((address - base) / Classes::kPageBytes);
    const std::uint64_t offset = (address - base) % Classes::kPageBytes;
    const std::uint64_t seen = states[page].load(std::memory_order_relaxed);
    if (classOfState(seen) == kLarge) return releasePages(page, offset, seen);
    if (classOfState(seen) == kWasLarge && offset == 0) return MemoryFault::FreedTwice;
    if (classOfState(seen) == 0 || classOfState(seen) >= kWasLarge) return MemoryFault::Foreign;
    const std::uint32_t block = Classes::blockBytes(classOfState(seen) - 1);
    if (offset % block != 0 || offset / block >= blocksOf(classOfState(seen) - 1))
      return MemoryFault::Foreign;
    const auto bit = static_cast<std::uint32_t>(offset / block);
    const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
    const std::uint64_t before =
        bits[page * Classes::kWordsOfPage + bit / 64].fetch_and(~mask, std::memory_order_release);
    if ((before & mask) == 0) return MemoryFault::FreedTwice;
    states[page].fetch_add(~std::uint64_t{0}, std::memory_order_release);
    return MemoryFault::None;
  }

  /// Bytes in blocks and pages that are in use; while others allocate, about so many.
  std::uint64_t bytesInUse() const {
    std::uint64_t bytes = 0;
    for (std::uint32_t page = 0; page < pages; ++page) {
      const std::uint64_t state = states[page].load(std::memory_order_relaxed);
      const std::uint32_t number = classOfState(state);
      if (number == kLarge) bytes += (state >> 40) * Classes::kPageBytes;
      if (number != 0 && number < kWasLarge) bytes += countOf(state) * Classes::blockBytes(number - 1);
    }
    return bytes;
  }

 private:
  static constexpr std::uint32_t kWasLarge = 253;  ///< free; a large allocation began here
  static constexpr std::uint32_t kInside = 254;    ///< a page of a large allocation, not its first
  static constexpr std::uint32_t kLarge = 255;

  TESSERA_KERNEL static std::uint32_t classOfState(std::uint64_t state) { return (state >> 32) & 255U; }
  TESSERA_KERNEL static std::uint32_t countOf(std::uint64_t state) {
    return static_cast<std::uint32_t>(state);
  }
  TESSERA_KERNEL static std::uint32_t blocksOf(std::uint32_t number) {
    return static_cast<std::uint32_t>(Classes::kPageBytes / Classes::blockBytes(number));
  }

  TESSERA_KERNEL bool reserve(std::uint32_t page, std::uint32_t number) const {
    const std::uint64_t before = states[page].fetch_add(1, std::memory_order_acquire);
    if (classOfState(before) == number + 1 && countOf(before) < blocksOf(number)) return true;
    states[page].fetch_add(~std::uint64_t{0}, std::memory_order_relaxed);
    return false;
  }

  TESSERA_KERNEL bool assign(std::uint32_t page, std::uint32_t number, std::uint64_t seen) const {
    if (countOf(seen) != 0 || classOfState(seen) >= kInside) return false;
    return states[page].compare_exchange_strong(seen, (std::uint64_t{number} + 1) << 32 | 1,
                                                std::memory_order_acq_rel);
  }

  /// Sets a clear bit of a page in which one is reserved. The number of tries is that of the others that got
  /// one.
  TESSERA_KERNEL std::uint64_t blockOf(std::uint32_t page, std::uint32_t number, std::uint32_t seed) const {
    const std::uint32_t blocks = blocksOf(number);
    const std::uint32_t words = (blocks + 63) / 64;
    const std::uint32_t start = seed * 2654435761U >> 8;
    for (std::uint32_t n = start % words, shift = start / words % 64;;
         n = n + 1 == words ? 0 : n + 1, shift = 0) {
      const std::uint32_t valid = blocks - n * 64 < 64 ? blocks - n * 64 : 64;
      const std::uint64_t full = valid == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid) - 1;
      Atomic<std::uint64_t>& word = bits[page * Classes::kWordsOfPage + n];
      // The first try asks for one bit without a look: where the page is half empty that is one trip to
      // memory.
      std::uint32_t bit = shift % valid;
      std::uint64_t before = word.fetch_or(std::uint64_t{1} << bit, std::memory_order_acquire);
      while ((before >> bit & 1) != 0 && (~before & full) != 0) {
        bit = lowest(~before & full);
        before = word.fetch_or(std::uint64_t{1} << bit, std::memory_order_acquire);
      }
      if ((before >> bit & 1) == 0) {
        return base + page * Classes::kPageBytes + (n * 64 + bit) * Classes::blockBytes(number);
      }
    }
  }

  TESSERA_KERNEL static std::uint32_t lowest(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint32_t>(__ffsll(static_cast<long long>(word)) - 1);
#else
    return static_cast<std::uint32_t>(__builtin_ctzll(word));
#endif
  }

  /// A run of pages: taken one by one, given back where one is in the way. The first page's state has the
  /// length.
  TESSERA_KERNEL Answer allocatePages(std::uint64_t bytes) const {
    const std::uint64_t run = (bytes + Classes::kPageBytes - 1) / Classes::kPageBytes;
    for (std::uint32_t first = 0; first + run <= pages;) {
      std::uint32_t taken = 0;
      for (; taken < run; ++taken) {
        std::uint64_t seen = states[first + taken].load(std::memory_order_relaxed);
        const std::uint64_t mine =
            taken == 0 ? run << 40 | std::uint64_t{kLarge} << 32 : std::uint64_t{kInside} << 32;
        if (countOf(seen) != 0 || classOfState(seen) >= kInside) break;
        if (!states[first + taken].compare_exchange_strong(seen, mine, std::memory_order_acq_rel)) break;
      }
      if (taken == run) return {base + first * Classes::kPageBytes, MemoryFault::None};
      for (std::uint32_t n = 0; n < taken; ++n) leave(first + n);
      first += taken + 1;
    }
    return {};
  }

  TESSERA_KERNEL MemoryFault releasePages(std::uint32_t page, std::uint64_t offset,
                                          std::uint64_t seen) const {
    if (offset != 0) return MemoryFault::Foreign;
    const auto run = static_cast<std::uint32_t>(seen >> 40);
    // The first page says whose release it is: a second one at the same time finds it gone.
    while (!states[page].compare_exchange_strong(seen, std::uint64_t{kWasLarge} << 32 | countOf(seen),
                                                 std::memory_order_acq_rel)) {
      if (classOfState(seen) != kLarge) return MemoryFault::FreedTwice;
    }
    for (std::uint32_t n = 1; n < run; ++n) leave(page + n);
    return MemoryFault::None;
  }

  /// Makes a page of a large allocation free; what a passing `reserve` has added to its count stays.
  TESSERA_KERNEL void leave(std::uint32_t page) const {
    std::uint64_t seen = states[page].load(std::memory_order_relaxed);
    while (!states[page].compare_exchange_strong(seen, countOf(seen), std::memory_order_acq_rel)) {
    }
  }
};

}  // namespace tessera::engine
