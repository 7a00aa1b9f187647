#pragma once

#include <chrono>
#include <cstdint>

#include "core/lock_free/atomics.hpp"
#include "scheduler/executor/futex.hpp"

namespace tessera::detail {

/// Where one thread sleeps until another has made something true. The sleeper:
///
///   const auto ticket = event.prepare();
///   if (somethingIsTrue()) event.cancel(); else event.sleep(ticket);
///
/// and the thread that makes it true, by a seq_cst store: `event.notify()`, one load while no thread sleeps.
///
/// Invariant: the lowest bit of the word says that the sleeper is between `prepare` and its waking up; the
/// rest counts notifications. Only the sleeper sets the bit; the thread that clears it, sleeper or notifier,
/// does so by one atomic operation, so one of them alone.
///
/// No wake-up is lost. `prepare` is a seq_cst read-modify-write of the word, and the sleeper then reads the
/// condition; the notifier stores the condition and then reads the word, all seq_cst. In their total order
/// either the notifier's read comes after `prepare`, sees the bit and changes the word, so that `sleep`
/// returns at once or is woken (the kernel compares the word under its own lock); or it comes before, and
/// then so does its store of the condition, which the sleeper sees.
template <class Atomics = RealAtomics, class Kernel = Futex>
class EventCount {
 public:
  using Ticket = std::uint32_t;

  Ticket prepare() { return word_.fetch_or(1U, std::memory_order_seq_cst) | 1U; }
  /// True: a notification came in between.
  bool cancel() { return (word_.fetch_and(~1U, std::memory_order_seq_cst) & 1U) == 0; }
  /// Until notified.
  void sleep(Ticket ticket) {
    while (word_.load(std::memory_order_seq_cst) == ticket) Kernel::wait(word_, ticket);
  }
  /// Until notified, or about so long. True: notified.
  bool sleepFor(Ticket ticket, std::chrono::microseconds limit) {
    if (word_.load(std::memory_order_seq_cst) == ticket) Kernel::waitFor(word_, ticket, limit);
    return word_.load(std::memory_order_seq_cst) != ticket || cancel();
  }
  /// True: there was a sleeper, and this call is the one that wakes it up.
  bool notify() {
    std::uint32_t seen = word_.load(std::memory_order_seq_cst);
    while ((seen & 1U) != 0) {
      if (word_.compare_exchange_strong(seen, seen + 1U, std::memory_order_seq_cst)) {
        Kernel::wake(word_);
        return true;
      }
    }
    return false;
  }

 private:
  typename Atomics::template Atomic<std::uint32_t> word_{0};
};

}  // namespace tessera::detail
