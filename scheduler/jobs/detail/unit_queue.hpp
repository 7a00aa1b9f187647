#pragma once

#include <cstddef>
#include <cstdint>

#include "scheduler/engine/queues/ticket_queue.hpp"
#include "scheduler/jobs/task_input.hpp"

namespace tessera::jobs::detail {

/// Between two looks at memory that another thread is about to change.
TESSERA_KERNEL inline void pauseBriefly() {
#if defined(__CUDA_ARCH__)
  __nanosleep(100);
#endif
}

TESSERA_KERNEL inline void noteFault(TaskWords& words, TaskFault fault) {
  std::uint32_t none = 0;
  static_cast<void>(words.fault.compare_exchange_strong(none, static_cast<std::uint32_t>(fault),
                                                        std::memory_order_relaxed));
}
TESSERA_KERNEL inline bool hasFault(const TaskWords& words) {
  return words.fault.load(std::memory_order_relaxed) != 0;
}

/// What a thread, or a block, has done since it last told the task.
struct Tally {
  std::int64_t calls = 0;
  std::int64_t ended = 0;
  std::int64_t pushed = 0;

  TESSERA_KERNEL void tell(const TaskInput& input) {
    TaskWords& words = *input.words;
    words.calls.fetch_add(calls, std::memory_order_relaxed);
    words.ended.fetch_add(ended, std::memory_order_relaxed);
    if (pushed != 0 &&
        words.pushed.fetch_add(pushed, std::memory_order_relaxed) + pushed > input.limits.pushed) {
      noteFault(words, TaskFault::PushedTooMany);
    }
    calls = ended = pushed = 0;
  }
};

/// The queue that all blocks of a task share: the engine's, in the scratch memory of the task. Its permits
/// are `TaskWords::room`.
template <class Unit>
struct SharedUnits {
  using Queue = engine::TicketQueue<Unit, engine::ScopedAtomics<engine::Scope::Device>>;
  using Ring = typename Queue::Ring;

  Queue queue;
  TaskWords* words = nullptr;

  static constexpr std::int64_t kCounterBytes = 512;
  static std::int64_t bytes(std::int64_t places) {
    return kCounterBytes + places * static_cast<std::int64_t>(sizeof(typename Ring::Word) + sizeof(Unit));
  }
  TESSERA_KERNEL explicit SharedUnits(const TaskInput& input) : words(input.words) {
    static_assert(sizeof(typename Queue::Counters) <= kCounterBytes);
    queue.counters = reinterpret_cast<typename Queue::Counters*>(input.scratch);
    queue.ring.words = reinterpret_cast<typename Ring::Word*>(input.scratch + kCounterBytes);
    queue.ring.items = reinterpret_cast<Unit*>(input.scratch + kCounterBytes +
                                               input.limits.queue * sizeof(typename Ring::Word));
    queue.ring.mask = static_cast<std::uint64_t>(input.limits.queue) - 1;
  }

  /// False: there is no place, which is a fault of the task.
  TESSERA_KERNEL bool push(const Unit& unit) const {
    if (words->room.fetch_add(-1, std::memory_order_relaxed) <= 0) {
      words->room.fetch_add(1, std::memory_order_relaxed);
      noteFault(*words, TaskFault::QueueFull);
      return false;
    }
    const std::uint64_t ticket = queue.tickets(1);
    while (!queue.ring.isFree(ticket)) pauseBriefly();
    queue.ring.put(ticket, unit);
    queue.published(1);
    words->shared.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  TESSERA_KERNEL Unit take(std::uint64_t ticket) const {
    while (!queue.ring.isFull(ticket)) pauseBriefly();
    const Unit unit = queue.ring.take(ticket);
    words->room.fetch_add(1, std::memory_order_relaxed);
    return unit;
  }
  TESSERA_KERNEL bool isEmpty() const { return queue.counters->filled.load(std::memory_order_relaxed) <= 0; }
};

}  // namespace tessera::jobs::detail
