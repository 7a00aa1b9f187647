#include "scheduler/engine/detail/result_slots.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/text/error.hpp"

namespace tessera::engine {

ResultSlots::ResultSlots(EngineSide& side, std::int64_t capacity)
    : side_(side),
      slots_(new Slot[static_cast<std::size_t>(capacity)]),
      kept_(static_cast<std::size_t>(capacity)),
      free_(static_cast<std::size_t>(capacity)) {
  const auto& queue = free_.view();
  const std::uint64_t first = queue.tickets(capacity);
  for (std::int64_t n = 0; n < capacity; ++n) {
    queue.ring.put(first + static_cast<std::uint64_t>(n), static_cast<std::uint32_t>(n));
  }
  queue.published(capacity);
}

std::vector<std::uint32_t> ResultSlots::open(std::int64_t most) {
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(most));
  ids.resize(static_cast<std::size_t>(open(std::span<std::uint32_t>(ids))));
  return ids;
}

std::int64_t ResultSlots::open(std::span<std::uint32_t> ids) {
  const auto& queue = free_.view();
  const Claim claim = queue.tryClaim(std::ssize(ids), 1);
  for (std::int64_t n = 0; n < claim.count; ++n) {
    const std::uint64_t ticket = claim.first + static_cast<std::uint64_t>(n);
    while (!queue.ring.isFull(ticket)) pauseBriefly();
    ids[static_cast<std::size_t>(n)] = queue.ring.take(ticket);
  }
  if (claim.count == 0) return 0;
  opened_.fetch_add(claim.count, std::memory_order_relaxed);
  return claim.count;
}

void ResultSlots::giveBack(std::span<const std::uint32_t> ids) {
  if (ids.empty()) return;
  opened_.fetch_sub(std::ssize(ids), std::memory_order_relaxed);
  freeSlots(ids);
}

void ResultSlots::freeSlots(std::span<const std::uint32_t> ids) {
  const auto& queue = free_.view();
  const std::int64_t count = std::ssize(ids);
  std::uint64_t ticket = queue.tickets(count);
  for (const std::uint32_t id : ids) {
    while (!queue.ring.isFree(ticket)) pauseBriefly();
    queue.ring.put(ticket++, id);
  }
  queue.published(count);
}

void ResultSlots::tag(std::uint32_t id, std::uint64_t tag) {
  slots_[id].tag.store(tag, std::memory_order_relaxed);
  slots_[id].state.store(State::Polled, std::memory_order_relaxed);
}

std::uint32_t ResultSlots::keep(std::uint32_t id) {
  slots_[id].tag.store(id, std::memory_order_relaxed);
  slots_[id].state.store(State::Kept, std::memory_order_relaxed);
  return slots_[id].generation.load(std::memory_order_relaxed);
}

template <class Take>
std::int64_t ResultSlots::empty(std::int64_t most, const Take& take) {
  std::int64_t count = 0;
  Completion arrived[32];
  std::int64_t got = -1;
  while (count < most && got != 0) {
    got = side_.fetch({arrived, static_cast<std::size_t>(std::min<std::int64_t>(most - count, 32))});
    count += got;
    for (std::int64_t n = 0; n < got; ++n) {
      const Completion& completion = arrived[n];
      Slot& slot = slots_[completion.ticket];
      if (slot.state.load(std::memory_order_relaxed) == State::Polled) {
        take(completion);
        continue;
      }
      kept_[completion.ticket] = completion;
      slot.state.store(State::Done, std::memory_order_release);
    }
  }
  if (count > 0) arrived_.fetch_add(count, std::memory_order_relaxed);
  return count;
}

std::int64_t ResultSlots::collect() {
  if (collecting_.exchange(true, std::memory_order_acquire)) return 0;
  const std::int64_t count = empty(
      std::int64_t{1} << 62, [this](const Completion& completion) { forPolling_.push_back(completion); });
  collecting_.store(false, std::memory_order_release);
  return count;
}

void ResultSlots::deliver(const Completion& completion, Finished& finished) const {
  finished.tag = slots_[completion.ticket].tag.load(std::memory_order_relaxed);
  finished.status = completion.status;
  finished.kind = completion.kind;
  finished.code = completion.code;
  std::memcpy(finished.result, completion.result, sizeof(finished.result));
}

std::int64_t ResultSlots::poll(std::span<Finished> finished) {
  if (finished.empty() || collecting_.exchange(true, std::memory_order_acquire)) return 0;
  std::uint32_t ids[64];
  std::size_t filled = 0;
  std::int64_t count = 0;
  const auto hand = [&](const Completion& completion) {
    deliver(completion, finished[static_cast<std::size_t>(count++)]);
    ids[filled++] = completion.ticket;
    if (filled < std::size(ids)) return;
    freeSlots(ids);
    filled = 0;
  };
  while (count < std::ssize(finished) && !forPolling_.empty()) {
    hand(forPolling_.front());
    forPolling_.pop_front();
  }
  empty(std::ssize(finished) - count, hand);
  if (filled > 0) freeSlots({ids, filled});
  collecting_.store(false, std::memory_order_release);
  return count;
}

void ResultSlots::expect(std::uint32_t id, std::uint32_t generation) const {
  if (id < kept_.size() && slots_[id].generation.load(std::memory_order_relaxed) == generation) return;
  throw UsageError("this ticket is spent; the outcome of a task can be fetched once");
}

bool ResultSlots::isDone(std::uint32_t id) const {
  return slots_[id].state.load(std::memory_order_acquire) == State::Done;
}

Finished ResultSlots::fetch(std::uint32_t id) {
  Finished finished;
  deliver(kept_[id], finished);
  slots_[id].generation.fetch_add(1, std::memory_order_relaxed);
  slots_[id].state.store(State::Free, std::memory_order_relaxed);
  freeSlots({&id, 1});
  return finished;
}

}  // namespace tessera::engine
