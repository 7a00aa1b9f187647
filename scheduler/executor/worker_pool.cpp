#include "scheduler/executor/worker_pool.hpp"

#include <algorithm>
#include <bit>
#include <thread>

namespace tessera::detail {
namespace {

/// Large enough that a producer seldom finds a ring full, small enough for many workers.
std::size_t ringCapacity(int workers) {
  return std::clamp<std::size_t>(65536 / std::bit_ceil(static_cast<std::size_t>(workers)), 128, 2048);
}

}  // namespace

WorkerPool::WorkerPool(int workers, FaultPlan* faults) : faults_(faults) {
  for (int w = 0; w < workers; ++w) slots_.push_back(std::make_unique<WorkerSlot>());
  for (int from = 0; from < workers; ++from) {
    for (int to = 0; to < workers; ++to) {
      rings_.push_back(from == to ? nullptr : std::make_unique<SpscRing<>>(ringCapacity(workers)));
    }
  }
}

void WorkerPool::open(ReplayState& state) {
  state_ = &state;
  state.next();
  for (auto& slot : slots_) slot->completed.store(0, std::memory_order_relaxed);
  awaited.store(state.waiting, std::memory_order_relaxed);
  stopped_.store(false, std::memory_order_relaxed);
  replay_.store(++replays_, std::memory_order_release);
}

bool WorkerPool::complete() const {
  std::int64_t sum = 0;
  for (const auto& slot : slots_) sum += slot->completed.load(std::memory_order_acquire);
  return sum == state_->total;
}

void WorkerPool::fail(std::unique_ptr<Error> failure) {
  if (!failed_.exchange(true, std::memory_order_acq_rel)) failure_ = std::move(failure);
  stop();
}

void WorkerPool::stop() {
  stopped_.store(true, std::memory_order_seq_cst);
  wakeAll();
}

void WorkerPool::close(double stallSeconds) {
  // Either this thread sees that the watchdog looks, or the watchdog sees that the replay is over.
  replay_.store(0, std::memory_order_seq_cst);
  while (looking_.load(std::memory_order_seq_cst)) std::this_thread::yield();
  if (failed_.load(std::memory_order_acquire)) {
    putRight();
    const std::unique_ptr<Error> failure = std::move(failure_);
    failure->raise();
  }
  if (complete()) return;
  std::string page = stallReport(state_->source, stalled(), stallSeconds);
  page += state_->source.detectDeadlock(talkLimit(stallSeconds));
  putRight();
  throw InternalError(page);
}

StalledReplay WorkerPool::stalled() {
  std::vector<std::int32_t> ready;
  for (auto& slot : slots_) {
    for (std::int32_t node = slot->stealable.pop(); node >= 0; node = slot->stealable.pop())
      ready.push_back(node);
  }
  return state_->stalled(ready);
}

WatchedProgress WorkerPool::progress() const {
  WatchedProgress now{replay_.load(std::memory_order_acquire), 0};
  for (const auto& slot : slots_) now.completed += slot->completed.load(std::memory_order_relaxed);
  return now;
}

void WorkerPool::askToGiveUp(std::int64_t replay) {
  givenUp_.store(replay, std::memory_order_seq_cst);
  wakeAll();
}

bool WorkerPool::anyoneRuns() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const auto& slot) { return slot->running.load(std::memory_order_acquire) >= 0; });
}

bool WorkerPool::beginLook(std::int64_t replay) {
  looking_.store(true, std::memory_order_seq_cst);
  if (replay_.load(std::memory_order_seq_cst) == replay) return true;
  endLook();
  return false;
}

std::string WorkerPool::whatRuns() {
  std::string text;
  for (int w = 0; w < size(); ++w) {
    const std::int32_t node = slot(w).running.load(std::memory_order_acquire);
    if (node >= 0) text += "\n  worker " + std::to_string(w) + " is in " + state_->source.describe(node);
  }
  return text;
}

void WorkerPool::putRight() {
  for (auto& ring : rings_) {
    if (ring) ring->clear();
  }
  for (auto& slot : slots_) {
    slot->mail.store(0, std::memory_order_relaxed);
    while (slot->stealable.pop() >= 0) {
    }
  }
  state_->rearm();
  failed_.store(false, std::memory_order_relaxed);
}

void WorkerPool::wakeOne(int except) {
  for (int w = 0; w < size() && sleepers.load(std::memory_order_seq_cst) > 0; ++w) {
    if (w != except && slot(w).parking.notify()) {
      sleepers.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
  }
}

void WorkerPool::wakeAll() {
  for (int w = 0; w < size(); ++w) {
    if (slot(w).parking.notify()) sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace tessera::detail
