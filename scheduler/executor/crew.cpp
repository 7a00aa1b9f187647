#include "scheduler/executor/crew.hpp"

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

Crew::Crew(int workers, FaultPlan* faults) : faults_(faults) {
  for (int w = 0; w < workers; ++w) desks_.push_back(std::make_unique<Desk>());
  for (int from = 0; from < workers; ++from) {
    for (int to = 0; to < workers; ++to) {
      rings_.push_back(from == to ? nullptr : std::make_unique<SpscRing<>>(ringCapacity(workers)));
    }
  }
}

void Crew::open(ReplayState& state) {
  state_ = &state;
  state.next();
  for (auto& desk : desks_) desk->completed.store(0, std::memory_order_relaxed);
  awaited.store(state.waiting, std::memory_order_relaxed);
  stopped_.store(false, std::memory_order_relaxed);
  replay_.store(++replays_, std::memory_order_release);
}

bool Crew::complete() const {
  std::int64_t sum = 0;
  for (const auto& desk : desks_) sum += desk->completed.load(std::memory_order_acquire);
  return sum == state_->total;
}

void Crew::fail(std::unique_ptr<Error> failure) {
  if (!failed_.exchange(true, std::memory_order_acq_rel)) failure_ = std::move(failure);
  stop();
}

void Crew::stop() {
  stopped_.store(true, std::memory_order_seq_cst);
  wakeAll();
}

void Crew::close(double stallSeconds) {
  // Either this thread sees that the watchdog looks, or the watchdog sees that the replay is over.
  replay_.store(0, std::memory_order_seq_cst);
  while (looking_.load(std::memory_order_seq_cst)) std::this_thread::yield();
  if (failed_.load(std::memory_order_acquire)) {
    putRight();
    const std::unique_ptr<Error> failure = std::move(failure_);
    failure->raise();
  }
  if (complete()) return;
  std::string page = stallPage(state_->source, stalled(), stallSeconds);
  page += state_->source.talkToRanks(talkLimit(stallSeconds));
  putRight();
  throw InternalError(page);
}

StalledReplay Crew::stalled() {
  std::vector<std::int32_t> ready;
  for (auto& desk : desks_) {
    for (std::int32_t node = desk->offers.pop(); node >= 0; node = desk->offers.pop()) ready.push_back(node);
  }
  return state_->stalled(ready);
}

WatchedProgress Crew::progress() const {
  WatchedProgress now{replay_.load(std::memory_order_acquire), 0};
  for (const auto& desk : desks_) now.completed += desk->completed.load(std::memory_order_relaxed);
  return now;
}

void Crew::askToGiveUp(std::int64_t replay) {
  givenUp_.store(replay, std::memory_order_seq_cst);
  wakeAll();
}

bool Crew::anyoneRuns() const {
  return std::any_of(desks_.begin(), desks_.end(),
                     [](const auto& desk) { return desk->running.load(std::memory_order_acquire) >= 0; });
}

bool Crew::beginLook(std::int64_t replay) {
  looking_.store(true, std::memory_order_seq_cst);
  if (replay_.load(std::memory_order_seq_cst) == replay) return true;
  endLook();
  return false;
}

std::string Crew::whatRuns() {
  std::string text;
  for (int w = 0; w < size(); ++w) {
    const std::int32_t node = desk(w).running.load(std::memory_order_acquire);
    if (node >= 0) text += "\n  worker " + std::to_string(w) + " is in " + state_->source.describe(node);
  }
  return text;
}

void Crew::putRight() {
  for (auto& ring : rings_) {
    if (ring) ring->clear();
  }
  for (auto& desk : desks_) {
    desk->mail.store(0, std::memory_order_relaxed);
    while (desk->offers.pop() >= 0) {
    }
  }
  state_->rearm();
  failed_.store(false, std::memory_order_relaxed);
}

void Crew::wakeOne(int except) {
  for (int w = 0; w < size() && sleepers.load(std::memory_order_seq_cst) > 0; ++w) {
    if (w != except && desk(w).bed.notify()) {
      sleepers.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
  }
}

void Crew::wakeAll() {
  for (int w = 0; w < size(); ++w) {
    if (desk(w).bed.notify()) sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace tessera::detail
