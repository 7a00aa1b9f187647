#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "scheduler/engine/detail/engine_side.hpp"
#include "scheduler/engine/engine.hpp"
#include "scheduler/engine/queues/host_memory.hpp"

namespace tessera::engine {

/// A slot for each task that the host may have under way. A slot's number is the task's ticket, so the number
/// of slots bounds what is in the queues and in the outbox. Slots are opened by any thread without a lock;
/// one thread at a time empties the outbox, and others that come meanwhile go away again.
class ResultSlots {
 public:
  /// `side` outlives the slots.
  ResultSlots(EngineSide& side, std::int64_t capacity);

  /// Up to `most` slots, as many as are free.
  std::vector<std::uint32_t> open(std::int64_t most);
  std::int64_t open(std::span<std::uint32_t> ids);
  void giveBack(std::span<const std::uint32_t> ids);
  /// The result is for `poll`, with this tag.
  void tag(std::uint32_t id, std::uint64_t tag);
  /// The result is kept for `fetch`; returns the slot's generation.
  std::uint32_t keep(std::uint32_t id);

  /// Takes what has arrived; how many.
  std::int64_t collect();
  std::int64_t poll(std::span<Finished> finished);
  /// Throws UsageError where the slot serves another task by now.
  void expect(std::uint32_t id, std::uint32_t generation) const;
  bool isDone(std::uint32_t id) const;
  /// Of a slot that is done; the slot is free afterwards.
  Finished fetch(std::uint32_t id);

  std::uint64_t tagOf(std::uint32_t id) const { return slots_[id].tag; }
  /// Tasks whose outcome has not arrived.
  std::int64_t underWay() const {
    return opened_.load(std::memory_order_relaxed) - arrived_.load(std::memory_order_relaxed);
  }
  bool allDone() const { return underWay() == 0; }
  /// All slots ever opened and not given back.
  std::uint64_t opened() const { return static_cast<std::uint64_t>(opened_.load(std::memory_order_relaxed)); }
  /// True once in a while.
  bool countEmptyPoll() { return ++emptyPolls_ % 4096 == 0; }

 private:
  enum class State : std::uint32_t { Free, Polled, Kept, Done };
  struct Slot {
    std::atomic<State> state{State::Free};
    std::atomic<std::uint32_t> generation{0};
    std::atomic<std::uint64_t> tag{0};
  };

  void freeSlots(std::span<const std::uint32_t> ids);
  /// Hands the next result to its slot, or to `take` where it is for polling.
  template <class Take>
  std::int64_t empty(std::int64_t most, const Take& take);
  void deliver(const Completion& completion, Finished& finished) const;

  EngineSide& side_;
  std::unique_ptr<Slot[]> slots_;
  std::vector<Completion> kept_;
  HostQueue<std::uint32_t, ScopedAtomics<Scope::System>> free_;
  std::atomic<bool> collecting_{false};
  std::deque<Completion> forPolling_;  ///< collected while waiting for something else; likewise
  std::atomic<std::int64_t> opened_{0};
  std::atomic<std::int64_t> arrived_{0};
  std::atomic<std::uint32_t> emptyPolls_{0};
};

}  // namespace tessera::engine
