#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/lock_free/atomics.hpp"

namespace tessera::detail {

/// The Chase-Lev deque of fixed size: its owner pushes and pops at the bottom, any other thread steals at the
/// top, the oldest first.
///
/// After Le, Pop, Cohen and Zappa Nardelli, "Correct and efficient work-stealing for weak memory models"
/// (PPoPP 2013), with their fences replaced by seq_cst operations on `top` and `bottom`, which
/// ThreadSanitizer follows.
///
/// Invariant: top <= bottom + 1, and items are at [top, bottom). `top` only grows, by one, by a successful
/// compare-and-swap: the thread that makes it owns the item that was at the old top. The owner takes the item
/// at the bottom without one only where it has seen top < bottom after lowering bottom.
///
/// Memory order. (1) An item is handed over by `bottom` (release in push, acquire or stronger in steal), with
/// all that the owner did before. (2) pop lowers `bottom`, then reads `top`; steal reads `top`, then
/// `bottom`; all four seq_cst. Were an item taken by both, pop would have read a `top` below it, so before
/// the compare-and-swap that made the thief's `top`; so its lowering of `bottom` precedes the thief's read of
/// `bottom`, which then finds nothing. Where one item is left both use the compare-and-swap. (3) A slot is
/// used again only after push has seen, with acquire, a `top` beyond it: a thief that still reads it will
/// fail.
template <std::size_t kCapacity, class Atomics = RealAtomics>
class WorkDeque {
  static_assert((kCapacity & (kCapacity - 1)) == 0);

 public:
  static constexpr std::int32_t kNone = -1;

  /// Owner. False: full.
  bool push(std::int32_t item) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    const std::int64_t top = top_.load(std::memory_order_acquire);
    if (bottom - top >= static_cast<std::int64_t>(kCapacity)) return false;
    slot(bottom).store(item, std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_release);
    return true;
  }

  /// Owner: the youngest item, or kNone.
  std::int32_t pop() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    bottom_.store(bottom, std::memory_order_seq_cst);
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    if (top > bottom) {
      bottom_.store(bottom + 1, std::memory_order_release);
      return kNone;
    }
    std::int32_t item = slot(bottom).load(std::memory_order_relaxed);
    if (top == bottom) {
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) item = kNone;
      bottom_.store(bottom + 1, std::memory_order_release);
    }
    return item;
  }

  /// Any thread: the oldest item, or kNone where there is none or another thread was faster.
  std::int32_t steal() {
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    const std::int64_t bottom = bottom_.load(std::memory_order_seq_cst);
    if (top >= bottom) return kNone;
    const std::int32_t item = slot(top).load(std::memory_order_relaxed);
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) return kNone;
    return item;
  }

  /// Owner: how many items there are; thieves may have taken some since.
  std::int64_t size() const {
    return bottom_.load(std::memory_order_relaxed) - top_.load(std::memory_order_relaxed);
  }
  /// Any thread: whether it may be worth to steal. Ordered after the caller's seq_cst operations before it.
  bool looksEmpty() const {
    return bottom_.load(std::memory_order_seq_cst) <= top_.load(std::memory_order_seq_cst);
  }

 private:
  typename Atomics::template Atomic<std::int32_t>& slot(std::int64_t n) {
    return slots_[static_cast<std::size_t>(n) & (kCapacity - 1)];
  }

  alignas(kCacheLine) typename Atomics::template Atomic<std::int64_t> top_{0};
  alignas(kCacheLine) typename Atomics::template Atomic<std::int64_t> bottom_{0};
  alignas(kCacheLine) std::array<typename Atomics::template Atomic<std::int32_t>, kCapacity> slots_{};
};

}  // namespace tessera::detail
