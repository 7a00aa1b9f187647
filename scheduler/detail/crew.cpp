#include "scheduler/detail/crew.hpp"

#include <algorithm>
#include <bit>

namespace tessera::detail {
namespace {

/// Large enough that a producer seldom finds a ring full, small enough for many workers.
std::size_t ringCapacity(int workers) {
  return std::clamp<std::size_t>(65536 / std::bit_ceil(static_cast<std::size_t>(workers)), 128, 2048);
}

}  // namespace

Crew::Crew(int workers) {
  for (int w = 0; w < workers; ++w) desks_.push_back(std::make_unique<Desk>());
  for (int from = 0; from < workers; ++from) {
    for (int to = 0; to < workers; ++to) {
      rings_.push_back(from == to ? nullptr : std::make_unique<SpscRing<>>(ringCapacity(workers)));
    }
  }
}

void Crew::open(ReplayState& state) {
  state_ = &state;
  for (auto& desk : desks_) desk->completed.store(0, std::memory_order_relaxed);
  awaited.store(state.waiting, std::memory_order_relaxed);
  stopped_.store(false, std::memory_order_relaxed);
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

void Crew::close() {
  if (!failed_.load(std::memory_order_acquire)) return;
  putRight();
  const std::unique_ptr<Error> failure = std::move(failure_);
  failure->raise();
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
  for (int w = 0; w < size() && sleepers.load(std::memory_order_relaxed) > 0; ++w) {
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
