#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/lock_free/atomics.hpp"

namespace tessera::detail {

/// Hands numbers below a bound, each at most once until it is taken, from any threads to one at a time;
/// ranges of numbers at the price of one.
///
/// A stack whose links lie ready, one a number; the taker takes all at once, so that no number is ever popped
/// alone and the compare-and-swap of `push` cannot be deceived by one that came back.
///
/// Memory order. A pusher writes its link, then swaps itself in as the first with release: the swaps form one
/// release sequence, so the taker's acquire exchange sees the links, and all that each pusher did before.
template <class Atomics = RealAtomics>
class Submissions {
 public:
  explicit Submissions(std::size_t bound) : next_(bound), count_(bound) {}

  /// Any thread: numbers `number`, `number` + 1, ..., `count` of them, at least one.
  void push(std::int32_t number, std::int32_t count = 1) {
    count_[static_cast<std::size_t>(number)] = count;
    std::int32_t first = first_.load(std::memory_order_relaxed);
    do {
      next_[static_cast<std::size_t>(number)] = first;
    } while (!first_.compare_exchange_strong(first, number, std::memory_order_acq_rel));
  }

  /// One thread at a time: calls `take(number)` for all, the last pushed first, those of a range in rising
  /// order.
  template <class Take>
  void takeAll(const Take& take) {
    if (first_.load(std::memory_order_relaxed) == kEnd) return;
    std::int32_t number = first_.exchange(kEnd, std::memory_order_acquire);
    while (number != kEnd) {
      const std::int32_t next = next_[static_cast<std::size_t>(number)];
      const std::int32_t end = number + count_[static_cast<std::size_t>(number)];
      for (std::int32_t n = number; n < end; ++n) take(n);
      number = next;
    }
  }

 private:
  static constexpr std::int32_t kEnd = -1;

  std::vector<typename Atomics::template Plain<std::int32_t>> next_;
  std::vector<typename Atomics::template Plain<std::int32_t>> count_;  ///< by the first of a range
  alignas(kCacheLine) typename Atomics::template Atomic<std::int32_t> first_{kEnd};
};

}  // namespace tessera::detail
