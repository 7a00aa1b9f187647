#include "scheduler/executor/worker.hpp"

#include <algorithm>
#include <new>

#include "scheduler/executor/pause.hpp"

namespace tessera::detail {
namespace {

/// Between two looks after messages of a worker that has tasks to run.
constexpr std::chrono::microseconds kPollEvery{20};

/// Looks before it steals: an arrival is likely, and its data are in this worker's cache.
constexpr int kLooksBeforeStealing = 32;
/// Looks between two steps aside, to other threads of the machine.
constexpr int kLooksBetweenYields = 64;
/// How long it looks around before it sleeps; waking up costs the waker and the woken some microseconds.
constexpr std::chrono::microseconds kLookFor{50};
/// The same for the one who watches for messages of other ranks.
constexpr std::chrono::microseconds kWatchFor{500};
/// A nap of the one who watches for messages, which wake nobody: the first and the longest.
constexpr std::chrono::microseconds kFirstNap{20};
constexpr std::chrono::microseconds kLongestNap{1000};

/// Turns whatever `work` throws into a plain value: exceptions do not cross threads.
template <class Work>
std::unique_ptr<Error> capture(const Work& work) {
  try {
    work();
    return nullptr;
  } catch (const Error& error) {
    return error.copy();
  } catch (const std::bad_alloc&) {
    return std::make_unique<InternalError>("a task failed: the memory of this machine is used up");
  } catch (const std::exception& error) {
    return std::make_unique<InternalError>(std::string("a task failed: ") + error.what());
  } catch (...) {
    return std::make_unique<InternalError>("a task failed with an exception of unknown type; throw an Error");
  }
}

}  // namespace

Worker::Worker(WorkerPool& pool, int number)
    : pool_(pool),
      slot_(pool.slot(number)),
      me_(number),
      stealableWanted_(pool.size() == 1 ? 0 : std::clamp(2 * (pool.size() - 1), 2, 32)),
      isUnpublished_(static_cast<std::size_t>(pool.size()), 0),
      victim_(number) {
  unpublished_.reserve(static_cast<std::size_t>(pool.size()));
}

void Worker::replay() {
  begin();
  std::unique_ptr<Error> failure = capture([this] { loop(); });
  if (!failure) return;
  pool_.fail(std::move(failure));
  for (const std::uint16_t home : unpublished_) isUnpublished_[home] = 0;
  unpublished_.clear();
  slot_.running.store(kNone, std::memory_order_relaxed);
  stopWatching();
}

void Worker::begin() {
  ReplayState& state = pool_.state();
  ReplayState::Share& share = state.shares[static_cast<std::size_t>(me_)];
  source_ = &state.source;
  lanes_ = &share.lanes;
  nodes_ = state.nodes.data();
  base_ = state.base;
  nextBase_ = state.nextBase;
  next_ = kNone;
  completed_ = 0;
  hasMessages_ = state.waiting > 0;
  for (const std::int32_t node : share.first) lanes_->push(node, nodes_[node].lane);
}

void Worker::loop() {
  while (true) {
    const std::int32_t node = next();
    if (node == kNone) return;
    slot_.running.store(node, std::memory_order_relaxed);
    if (source_->run(node, me_)) complete(node);
    if (hasMessages_) pollNowAndThen();
  }
}

std::int32_t Worker::next() {
  if (pool_.stopped()) return kNone;
  if (slot_.mail.load(std::memory_order_relaxed) != 0) drain();
  std::int32_t node = next_ != kNone ? takeNext() : lanes_->pop();
  if (node == kNone && slot_.stealable.size() > 0) node = slot_.stealable.pop();
  if (node == kNone) {
    slot_.running.store(kNone, std::memory_order_relaxed);
    return idle();
  }
  offer();
  return node;
}

/// The node in hand, unless something more urgent has become ready meanwhile. Less slack alone is no reason
/// to leave data that are in the cache.
std::int32_t Worker::takeNext() {
  const std::int32_t node = next_;
  next_ = kNone;
  if (!lanes_->hasMoreUrgent(nodes_[node].urgent)) return node;
  const std::int32_t urgent = lanes_->pop();
  lanes_->push(node, nodes_[node].lane);
  return urgent;
}

void Worker::complete(std::int32_t node) {
  for (const std::int32_t next : source_->successors(node)) {
    const std::uint16_t home = nodes_[next].home;
    if (home == me_) {
      arrive(next);
    } else {
      send(next, home);
    }
  }
  if (!unpublished_.empty()) publish();
  // After the arrivals: when all counts together are whole, nothing is under way.
  slot_.completed.store(++completed_, std::memory_order_release);
}

void Worker::arrive(std::int32_t node) {
  ReplayState::Node& it = nodes_[node];
  if (--it.left != base_) return;
  it.left = nextBase_ + it.armed;
  makeReady(node);
}

void Worker::makeReady(std::int32_t node) {
  const unsigned lane = nodes_[node].lane;
  if (next_ == kNone) {
    next_ = node;
  } else if (lane < nodes_[next_].lane) {
    lanes_->push(next_, nodes_[next_].lane);
    next_ = node;
  } else {
    lanes_->push(node, lane);
  }
}

void Worker::send(std::int32_t node, std::uint16_t home) {
  SpscRing<>& ring = pool_.ring(me_, home);
  if (isUnpublished_[home] == 0) {
    isUnpublished_[home] = 1;
    unpublished_.push_back(home);
  }
  while (!ring.stage(node)) {
    // Two workers with full rings to each other would wait for ever if they did not read theirs meanwhile.
    publish();
    if (pool_.stopped()) return;
    if (slot_.mail.load(std::memory_order_relaxed) != 0) drain();
    stepAside_();
    isUnpublished_[home] = 1;
    unpublished_.push_back(home);
  }
}

void Worker::publish() {
  const std::uint64_t bit = std::uint64_t{1} << (static_cast<unsigned>(me_) % 64U);
  for (const std::uint16_t home : unpublished_) {
    isUnpublished_[home] = 0;
    pool_.ring(me_, home).publish();
    if (pool_.forgetsToWake()) continue;
    WorkerSlot& slot = pool_.slot(home);
    // Even where the bit is set: its owner may just be clearing it, and has to see the ring's new tail then.
    // A read-modify-write comes before that, and takes the tail along, or after it, and sets the bit again.
    slot.mail.fetch_or(bit, std::memory_order_seq_cst);
    if (slot.parking.notify()) pool_.sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  unpublished_.clear();
}

void Worker::drain() {
  std::uint64_t senders = slot_.mail.exchange(0, std::memory_order_seq_cst);
  while (senders != 0) {
    const int first = std::countr_zero(senders);
    senders &= senders - 1;
    for (int from = first; from < pool_.size(); from += 64) {
      if (from != me_) pool_.ring(from, me_).drain([this](std::int32_t node) { arrive(node); });
    }
  }
}

/// Lays what is furthest from the cache out for thieves, so that they need not wait for the end of a long
/// task.
void Worker::offer() {
  if (stealableWanted_ == 0) return;
  while (!lanes_->empty() && slot_.stealable.size() < stealableWanted_)
    slot_.stealable.push(lanes_->popOldest());
  // A thief that is just lying down may be missed here, but not for longer than one task.
  if (pool_.sleepers.load(std::memory_order_relaxed) > 0 && slot_.stealable.size() > 0) pool_.wakeOne(me_);
}

/// Polls messages unless another worker does. Returns whether something has completed.
bool Worker::poll() {
  if (pool_.awaited.load(std::memory_order_relaxed) == 0) return false;
  if (pool_.polling.load(std::memory_order_relaxed) ||
      pool_.polling.exchange(true, std::memory_order_acquire)) {
    return false;
  }
  struct Leave {
    ~Leave() { polling.store(false, std::memory_order_release); }
    std::atomic<bool>& polling;
  } const leave{pool_.polling};
  const std::span<const std::int32_t> done = source_->poll();
  if (done.empty()) return false;
  pool_.awaited.fetch_sub(static_cast<std::int64_t>(done.size()), std::memory_order_relaxed);
  for (const std::int32_t node : done) complete(node);
  return true;
}

void Worker::pollNowAndThen() {
  const Clock::time_point now = Clock::now();
  if (now < nextPoll_) return;
  poll();
  nextPoll_ = now + kPollEvery;
}

std::int32_t Worker::idle() {
  std::int32_t node = kNone;
  Clock::time_point since{};
  Clock::time_point awake{};
  nap_ = kFirstNap;
  for (int round = 0;; ++round) {
    if (pool_.stopped()) break;
    node = look(round);
    if (node != kNone) break;
    if (round % kLooksBetweenYields != kLooksBetweenYields - 1) {
      pause();
      continue;
    }
    if (pool_.complete() || pool_.askedToGiveUp()) pool_.stop();
    if (pool_.stopped()) break;
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
  if (slot_.mail.load(std::memory_order_relaxed) != 0) drain();
  if (hasMessages_ && round % 8 == 0 && next_ == kNone) poll();
  if (next_ != kNone) return takeNext();
  if (const std::int32_t node = lanes_->pop(); node != kNone) return node;
  return round >= kLooksBeforeStealing ? steal() : kNone;
}

std::int32_t Worker::steal() {
  for (int tries = 1; tries < pool_.size(); ++tries) {
    victim_ = victim_ + 1 == pool_.size() ? 0 : victim_ + 1;
    if (victim_ == me_) continue;
    if (const std::int32_t node = pool_.slot(victim_).stealable.steal(); node != kNone) return node;
  }
  return kNone;
}

void Worker::sleep() {
  const EventCount<>::Ticket ticket = slot_.parking.prepare();
  pool_.sleepers.fetch_add(1, std::memory_order_seq_cst);
  bool notified = false;
  if (somethingToDo()) {
    notified = slot_.parking.cancel();
  } else if (watching_) {
    notified = slot_.parking.sleepFor(ticket, nap_);
    nap_ = std::min(2 * nap_, kLongestNap);
  } else {
    slot_.parking.sleep(ticket);
    notified = true;
  }
  if (!notified) pool_.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

/// After `prepare`: whoever makes one of these true from now on also wakes this worker.
bool Worker::somethingToDo() {
  if (pool_.stopped(std::memory_order_seq_cst) || pool_.askedToGiveUp(std::memory_order_seq_cst) ||
      slot_.mail.load(std::memory_order_seq_cst) != 0 || pool_.complete())
    return true;
  if (!watching_ && pool_.awaited.load(std::memory_order_seq_cst) > 0 &&
      !pool_.watching.load(std::memory_order_seq_cst)) {
    return true;
  }
  for (int w = 0; w < pool_.size(); ++w) {
    if (w != me_ && !pool_.slot(w).stealable.looksEmpty()) return true;
  }
  return false;
}

void Worker::startWatching() {
  if (watching_ || pool_.awaited.load(std::memory_order_relaxed) == 0) return;
  watching_ = !pool_.watching.exchange(true, std::memory_order_seq_cst);
}

/// The one who watched has got something to do, so another one takes over.
void Worker::stopWatching() {
  if (!watching_) return;
  watching_ = false;
  pool_.watching.store(false, std::memory_order_seq_cst);
  if (pool_.awaited.load(std::memory_order_relaxed) > 0) pool_.wakeOne(me_);
}

}  // namespace tessera::detail
