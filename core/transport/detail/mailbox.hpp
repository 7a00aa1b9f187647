#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tessera::detail {

/// The two words by which a message passes again and again from one process to another through two slots of
/// memory that both see. Rounds are numbered from 1; round k uses slot `slotOf(k)`.
///
/// Receiver, round k: `open(k)`; once `isFull(k)` it reads the slot; `open(k + 1)` says that it has done so.
/// Sender, round k: writes the slot, `fill(k)`; once `isOpen(k)` its round is over, and it may begin the next
/// one.
///
/// Invariant: opened and filled only grow, by one; filled <= opened + 1. The slot of round k belongs to the
/// sender from isOpen(k - 1) to fill(k), then to the receiver until open(k + 1).
///
/// Memory order. The sender writes the slot, then releases `filled`; the receiver acquires it before it
/// reads: it sees the bytes. The receiver reads the slot of round k - 2, then releases `opened` = k - 1; the
/// sender acquires that (its round k - 1 is over) before it writes the same slot in round k: nothing is
/// written that the receiver still reads.
///
/// All zero is the state before the first round. `Atomic` is a parameter so that the model test runs this
/// very code.
template <template <class> class Atomic = std::atomic>
class Mailbox {
 public:
  static constexpr std::size_t slotOf(std::int64_t round) { return static_cast<std::size_t>(round & 1); }

  // Receiver.
  void open(std::int64_t round) { opened_.store(round, std::memory_order_release); }
  bool isFull(std::int64_t round) const { return filled_.load(std::memory_order_acquire) >= round; }

  // Sender.
  void fill(std::int64_t round) { filled_.store(round, std::memory_order_release); }
  bool isOpen(std::int64_t round) const { return opened_.load(std::memory_order_acquire) >= round; }

 private:
  alignas(64) Atomic<std::int64_t> opened_{0};
  alignas(64) Atomic<std::int64_t> filled_{0};
};

// Between processes an atomic must not use a lock, which would be another one in each of them.
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

}  // namespace tessera::detail
