#pragma once

#include <cstdint>

#include "scheduler/engine/queues/scoped_atomic.hpp"

namespace tessera::engine {

/// A ring of places that tickets name: ticket t has place t modulo the capacity, a power of two from 2 on.
/// Who holds a ticket waits for its place and for nothing else.
///
/// Invariant. The word of a place is t where the place is free for ticket t, and t + 1 where the item of
/// ticket t lies in it. It goes from t to t + 1 by the one producer that holds ticket t, and from t + 1 to t
/// + capacity by the one consumer that holds ticket t. It starts as the place's number.
///
/// Memory order. The producer writes the item, then stores the word with release; the consumer loads the word
/// with acquire before it reads the item, so it sees the item and all that the producer did before. The
/// consumer reads the item, then stores the word with release; the next producer loads it with acquire before
/// it writes.
template <class T, class Atomics>
struct TicketRing {
  using Word = typename Atomics::template Atomic<std::uint64_t>;
  using Item = typename Atomics::template Plain<T>;

  Word* words = nullptr;
  Item* items = nullptr;
  std::uint64_t mask = 0;  ///< capacity - 1

  TESSERA_KERNEL std::uint64_t capacity() const { return mask + 1; }
  TESSERA_KERNEL Item& item(std::uint64_t ticket) const { return items[ticket & mask]; }
  TESSERA_KERNEL bool isFree(std::uint64_t ticket) const {
    return words[ticket & mask].load(std::memory_order_acquire) == ticket;
  }
  TESSERA_KERNEL bool isFull(std::uint64_t ticket) const {
    return words[ticket & mask].load(std::memory_order_acquire) == ticket + 1;
  }
  TESSERA_KERNEL void markFull(std::uint64_t ticket) const {
    words[ticket & mask].store(ticket + 1, std::memory_order_release);
  }
  TESSERA_KERNEL void markFree(std::uint64_t ticket) const {
    words[ticket & mask].store(ticket + mask + 1, std::memory_order_release);
  }
  TESSERA_KERNEL void put(std::uint64_t ticket, const T& value) const {
    item(ticket) = value;
    markFull(ticket);
  }
  TESSERA_KERNEL T take(std::uint64_t ticket) const {
    const T value = item(ticket);
    markFree(ticket);
    return value;
  }
};

/// Tickets first ... first + count - 1.
struct Claim {
  std::uint64_t first = 0;
  std::int64_t count = 0;
};

/// A bounded queue of many producers and many consumers, without a lock. A view: copy it; the memory is its
/// maker's. Up to 32 tickets are taken at once, by one thread for a whole warp.
///
/// Producer, with a permit for each item: `tickets(n)`; for each ticket, once `ring.isFree(t)`,
/// `ring.put(t, item)`; `published(n)`. Permits bound what is in the queue: there are no more than the ring
/// has places, and one is given back after its item was taken. (The engine's permits are the host's result
/// slots and the bound of spawned tasks: who gets none is told so, and nothing has happened.) Consumer:
/// `claim(most, share)`; for each ticket, once `ring.isFull(t)`, `ring.take(t)`. A consumer that finds
/// nothing holds one ticket and waits for its place alone: the next item is handed to it without a race for
/// it. `tryClaim` takes only what is there.
///
/// Invariant: filled = published - claimed by consumers; negative: so many of them wait. Head and tail only
/// grow (64 bits do not wrap).
///
/// Who waits for whom. A producer with ticket t waits for the consumer with ticket t - capacity, which has
/// claimed it already: the `capacity` items from that ticket on would else be in the queue, and there would
/// be no permit. That consumer is copying the item. Where `claim` returns more than one ticket, their items
/// are published or are being written: at least as many were counted by `filled`. So both waits are for a
/// copy that is under way, never for a task that runs.
///
/// Memory order. All counters are relaxed: they say how many, and which ticket; the words of the ring say
/// whether a place may be used.
template <class T, class Atomics>
struct TicketQueue {
  struct Counters {
    alignas(128) typename Atomics::template Atomic<std::uint64_t> tail{0};
    alignas(128) typename Atomics::template Atomic<std::uint64_t> head{0};
    alignas(128) typename Atomics::template Atomic<std::int64_t> filled{0};
  };

  using Ring = TicketRing<T, Atomics>;

  Ring ring;
  Counters* counters = nullptr;

  /// Producer: the first of n tickets.
  TESSERA_KERNEL std::uint64_t tickets(std::int64_t n) const {
    return counters->tail.fetch_add(static_cast<std::uint64_t>(n), std::memory_order_relaxed);
  }

  /// Producer: after n items were put.
  TESSERA_KERNEL void published(std::int64_t n) const {
    counters->filled.fetch_add(n, std::memory_order_relaxed);
  }

  /// Consumer: up to `most` tickets, no more than a `share`-th part of what is there, at least one. A single
  /// one may be for an item that is still to come.
  TESSERA_KERNEL Claim claim(std::int64_t most, std::int64_t share) const { return take(most, share, 1); }

  /// Consumer: as `claim`, but none where nothing is there. May find nothing while another consumer is inside
  /// and something is there.
  TESSERA_KERNEL Claim tryClaim(std::int64_t most, std::int64_t share) const { return take(most, share, 0); }

 private:
  TESSERA_KERNEL Claim take(std::int64_t most, std::int64_t share, std::int64_t least) const {
    const std::int64_t there = counters->filled.fetch_add(-most, std::memory_order_relaxed);
    std::int64_t count = least;
    if (there > 0) {
      count = (there + share - 1) / share;
      count = count < most ? count : most;
    }
    if (count < most) counters->filled.fetch_add(most - count, std::memory_order_relaxed);
    if (count == 0) return {};
    return {counters->head.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed), count};
  }
};

/// Makes the counters and words of a new queue; its memory may hold anything before.
template <class T, class Atomics>
void makeEmpty(const TicketQueue<T, Atomics>& queue) {
  for (std::uint64_t n = 0; n < queue.ring.capacity(); ++n) {
    queue.ring.words[n].store(n, std::memory_order_relaxed);
  }
  queue.counters->tail.store(0, std::memory_order_relaxed);
  queue.counters->head.store(0, std::memory_order_relaxed);
  queue.counters->filled.store(0, std::memory_order_relaxed);
}

}  // namespace tessera::engine
