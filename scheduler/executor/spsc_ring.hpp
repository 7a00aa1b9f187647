#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/lock_free/atomics.hpp"

namespace tessera::detail {

/// A bounded queue of node numbers from one thread to one other: the producer calls `stage` and `publish`,
/// the consumer `drain`.
///
/// Invariant: head <= tail <= staged <= head + capacity, all only ever growing (64 bits do not wrap). Slots
/// in [head, tail) belong to the consumer, all others to the producer.
///
/// Memory order. The producer writes a slot, then stores `tail` with release; the consumer loads `tail` with
/// acquire before it reads the slot, so it sees the slot and all that the producer did before. The consumer
/// reads a slot, then stores `head` with release; the producer loads `head` with acquire before it uses the
/// slot again. Nothing here tells the consumer to look: the publisher does so afterwards by a
/// read-modify-write that the consumer reads before it drains (Worker::publish).
template <class Atomics = RealAtomics>
class SpscRing {
 public:
  /// `capacity` is rounded up to a power of two.
  explicit SpscRing(std::size_t capacity)
      : slots_(std::bit_ceil(capacity)), mask_(static_cast<std::int64_t>(slots_.size()) - 1) {}

  /// Producer: adds `value`, still unseen by the consumer. False: the ring is full.
  bool stage(std::int32_t value) {
    if (staged_ - headSeen_ > mask_) {
      headSeen_ = head_.load(std::memory_order_acquire);
      if (staged_ - headSeen_ > mask_) return false;
    }
    slots_[static_cast<std::size_t>(staged_ & mask_)] = value;
    ++staged_;
    return true;
  }

  /// Producer: hands over all that is staged.
  void publish() { tail_.store(staged_, std::memory_order_release); }

  /// Consumer: calls `take(value)` for all that is published, in order.
  template <class Take>
  void drain(const Take& take) {
    const std::int64_t tail = tail_.load(std::memory_order_acquire);
    for (std::int64_t n = taken_; n < tail; ++n) take(slots_[static_cast<std::size_t>(n & mask_)]);
    if (tail != taken_) head_.store(tail, std::memory_order_release);
    taken_ = tail;
  }

  /// Forgets what is in the ring; no other thread uses it meanwhile.
  void clear() {
    drain([](std::int32_t) {});
    staged_ = taken_;
  }

 private:
  std::vector<typename Atomics::template Plain<std::int32_t>> slots_;
  std::int64_t mask_;
  alignas(kCacheLine) typename Atomics::template Atomic<std::int64_t> head_{0};
  std::int64_t taken_ = 0;  ///< the consumer's own copy of `head_`
  alignas(kCacheLine) typename Atomics::template Atomic<std::int64_t> tail_{0};
  std::int64_t staged_ = 0;    ///< the producer's own
  std::int64_t headSeen_ = 0;  ///< the producer's last look at `head_`
};

}  // namespace tessera::detail
