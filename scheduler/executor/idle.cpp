// What a worker does without a node to run: looks around, steals, and at last sleeps.
#include <algorithm>

#include "scheduler/executor/pause.hpp"
#include "scheduler/executor/worker.hpp"

namespace tessera::detail {
namespace {

/// Looks before it steals: an arrival is likely, and its data are in this worker's cache.
constexpr int kLooksBeforeStealing = 32;
/// Looks between two steps aside, to other threads of the machine.
constexpr int kLooksBetweenYields = 64;
/// How long it looks around before it sleeps; waking up costs the waker and the woken some microseconds.
constexpr std::chrono::microseconds kLookFor{50};
/// How long the watcher, which polls messages of other ranks, searches before it naps.
constexpr std::chrono::microseconds kWatchFor{500};
/// Naps of the watcher, since messages wake no worker: the first and the longest.
constexpr std::chrono::microseconds kFirstNap{20};
constexpr std::chrono::microseconds kLongestNap{1000};

}  // namespace

std::int32_t Worker::idle() {
  std::int32_t node = kNone;
  Clock::time_point since{};
  Clock::time_point awake{};
  nap_ = kFirstNap;
  for (int round = 0;; ++round) {
    if (crew_.stopped()) break;
    node = look(round);
    if (node != kNone) break;
    if (round % kLooksBetweenYields != kLooksBetweenYields - 1) {
      pause();
      continue;
    }
    if (crew_.complete() || crew_.askedToGiveUp()) crew_.stop();
    if (crew_.stopped()) break;
    startWatching();
    const Clock::time_point now = Clock::now();
    if (since == Clock::time_point{}) since = awake = now;
    if (now - awake < (watching_ ? kWatchFor : kLookFor) && !stepAside_.crowded()) {
      stepAside_();
      continue;
    }
    sleep();
    // Woken up for a reason: it looks around for a while. Woken up by the clock: once, before the next nap.
    awake = watching_ ? awake : Clock::now();
  }
  stopWatching();
  if (since != Clock::time_point{}) waited_ += Clock::now() - since;
  return node;
}

std::int32_t Worker::look(int round) {
  if (desk_.mail.load(std::memory_order_relaxed) != 0) drain();
  if (hasMessages_ && round % 8 == 0 && hand_ == kNone) poll();
  if (hand_ != kNone) return takeHand();
  if (const std::int32_t node = lanes_->pop(); node != kNone) return node;
  return round >= kLooksBeforeStealing ? steal() : kNone;
}

std::int32_t Worker::steal() {
  for (int tries = 1; tries < crew_.size(); ++tries) {
    victim_ = victim_ + 1 == crew_.size() ? 0 : victim_ + 1;
    if (victim_ == me_) continue;
    if (const std::int32_t node = crew_.desk(victim_).offers.steal(); node != kNone) return node;
  }
  return kNone;
}

void Worker::sleep() {
  const EventCount<>::Ticket ticket = desk_.bed.prepare();
  crew_.sleepers.fetch_add(1, std::memory_order_seq_cst);
  bool notified = false;
  if (somethingToDo()) {
    notified = desk_.bed.cancel();
  } else if (watching_) {
    notified = desk_.bed.sleepFor(ticket, nap_);
    nap_ = std::min(2 * nap_, kLongestNap);
  } else {
    desk_.bed.sleep(ticket);
    notified = true;
  }
  if (!notified) crew_.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

/// After `prepare`: a thread that makes one of these true from now on also wakes this worker.
bool Worker::somethingToDo() {
  if (crew_.stopped(std::memory_order_seq_cst) || crew_.askedToGiveUp(std::memory_order_seq_cst) ||
      desk_.mail.load(std::memory_order_seq_cst) != 0 || crew_.complete())
    return true;
  if (!watching_ && crew_.awaited.load(std::memory_order_seq_cst) > 0 &&
      !crew_.watching.load(std::memory_order_seq_cst)) {
    return true;
  }
  for (int w = 0; w < crew_.size(); ++w) {
    if (w != me_ && !crew_.desk(w).offers.looksEmpty()) return true;
  }
  return false;
}

void Worker::startWatching() {
  if (watching_ || crew_.awaited.load(std::memory_order_relaxed) == 0) return;
  watching_ = !crew_.watching.exchange(true, std::memory_order_seq_cst);
}

/// This worker has watched and now has work, so another one takes over.
void Worker::stopWatching() {
  if (!watching_) return;
  watching_ = false;
  crew_.watching.store(false, std::memory_order_seq_cst);
  if (crew_.awaited.load(std::memory_order_relaxed) > 0) crew_.wakeOne(me_);
}

}  // namespace tessera::detail
