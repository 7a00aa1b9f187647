#pragma once

#include <cstddef>
#include <memory>

#include "scheduler/engine/queues/slab.hpp"
#include "scheduler/engine/queues/ticket_queue.hpp"

namespace tessera::engine {

/// A queue and its memory, on the host: the memory is made with it and goes with it, and views are used
/// no longer than that.
template <class T, class Atomics>
class HostQueue {
 public:
  using Queue = TicketQueue<T, Atomics>;

  explicit HostQueue(std::size_t capacity)
      : words_(new typename Queue::Ring::Word[capacity]),
        items_(new typename Queue::Ring::Item[capacity]),
        counters_(std::make_unique<typename Queue::Counters>()) {
    view_.ring = {words_.get(), items_.get(), capacity - 1};
    view_.counters = counters_.get();
    makeEmpty(view_);
  }
  const Queue& view() const { return view_; }

 private:
  std::unique_ptr<typename Queue::Ring::Word[]> words_;
  std::unique_ptr<typename Queue::Ring::Item[]> items_;
  std::unique_ptr<typename Queue::Counters> counters_;
  Queue view_;
};

/// The records of a slab, on the host; what they describe may lie elsewhere.
template <class Atomics, class Classes = SlabClasses>
class SlabRecords {
 public:
  SlabRecords(std::uint64_t base, std::uint32_t pages)
      : states_(new typename Slab<Atomics, Classes>::template Atomic<std::uint64_t>[pages]),
        bits_(new typename Slab<Atomics, Classes>::template Atomic<std::uint64_t>[std::size_t{pages} *
                                                                                  Classes::kWordsOfPage]) {
    for (std::uint32_t n = 0; n < pages; ++n) states_[n].store(0, std::memory_order_relaxed);
    for (std::uint32_t n = 0; n < pages * Classes::kWordsOfPage; ++n)
      bits_[n].store(0, std::memory_order_relaxed);
    view_ = {states_.get(), bits_.get(), base, pages};
  }
  const Slab<Atomics, Classes>& view() const { return view_; }

 private:
  std::unique_ptr<typename Slab<Atomics, Classes>::template Atomic<std::uint64_t>[]> states_;
  std::unique_ptr<typename Slab<Atomics, Classes>::template Atomic<std::uint64_t>[]> bits_;
  Slab<Atomics, Classes> view_;
};

}  // namespace tessera::engine
