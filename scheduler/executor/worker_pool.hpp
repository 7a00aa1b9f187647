#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/fault_point.hpp"
#include "core/lock_free/atomics.hpp"
#include "core/text/error.hpp"
#include "scheduler/diagnostics/stall_report.hpp"
#include "scheduler/diagnostics/watchdog.hpp"
#include "scheduler/executor/event_count.hpp"
#include "scheduler/executor/replay_state.hpp"
#include "scheduler/executor/spsc_ring.hpp"
#include "scheduler/executor/work_deque.hpp"

namespace tessera::detail {

/// The part of a worker that others touch.
struct WorkerSlot {
  using Deque = WorkDeque<64>;

  /// Bit v % 64: worker v has put something into its ring to this worker since the bit was last cleared.
  alignas(kCacheLine) std::atomic<std::uint64_t> mail{0};
  /// Nodes that this worker has completed in the running replay; it alone writes.
  alignas(kCacheLine) std::atomic<std::int64_t> completed{0};
  /// The node that it runs; -1 while it has none. For the watchdog.
  std::atomic<std::int32_t> running{-1};
  alignas(kCacheLine) EventCount<> parking;
  Deque stealable;  ///< ready nodes that thieves may take
};

/// What the workers of one executor share: each other's slots, a ring for each ordered pair, and the state of
/// the running replay.
///
/// A replay is over when the sum of all `completed` is the number of nodes. Each of them only grows, so that
/// a sum of values read one after the other is never too large. One worker has to see the whole sum, or all
/// would sleep for ever: a worker stores its count before it prepares to sleep and sums up afterwards, and
/// preparing is a read-modify-write of `sleepers`, so of two workers the later one sees the earlier one's
/// count. The worker that sees it stores `stopped_`, a seq_cst store as EventCount asks for.
class WorkerPool {
 public:
  explicit WorkerPool(int workers, FaultPlan* faults = nullptr);

  int size() const { return static_cast<int>(slots_.size()); }
  WorkerSlot& slot(int worker) { return *slots_[static_cast<std::size_t>(worker)]; }
  SpscRing<>& ring(int from, int to) {
    return *rings_[static_cast<std::size_t>(from) * slots_.size() + static_cast<std::size_t>(to)];
  }

  /// Sets what the workers do next. The calling thread calls it while no worker runs.
  void open(ReplayState& state);
  ReplayState& state() { return *state_; }

  /// Whether all nodes have completed.
  bool complete() const;
  /// Lets all workers leave the replay: it is over, or something has failed.
  void stop();
  bool stopped(std::memory_order order = std::memory_order_relaxed) const { return stopped_.load(order); }
  /// Keeps the first failure; no worker begins another node.
  void fail(std::unique_ptr<Error> failure);
  /// Throws the failure, if any, after all workers have come to rest, and resets everything for the next
  /// replay. `stallSeconds`: for the stall report, if the workers were asked to give up.
  void close(double stallSeconds);

  // For the watchdog, on any thread.
  WatchedProgress progress() const;
  /// Asks the workers to leave replay number `replay`; in any other one it has no effect.
  void askToGiveUp(std::int64_t replay);
  bool askedToGiveUp(std::memory_order order = std::memory_order_relaxed) const {
    return givenUp_.load(order) == replay_.load(std::memory_order_relaxed);
  }
  /// Keeps replay number `replay` from coming to an end until `endLook`, so that one may read what belongs to
  /// it. False: it has ended.
  bool beginLook(std::int64_t replay);
  void endLook() { looking_.store(false, std::memory_order_seq_cst); }
  /// The nodes that workers run at the moment, for the report; between beginLook and endLook.
  std::string whatRuns();
  bool anyoneRuns() const;

  /// A planned fault of tests: a worker is not woken.
  bool forgetsToWake() {
    return faults_ != nullptr && faults_->hit("scheduler.wake").effect == FaultEffect::Fail;
  }

  /// Wakes one worker that sleeps, if any.
  void wakeOne(int except);

  /// Workers that sleep, or are about to. The thread that ends a sleep counts it down.
  alignas(kCacheLine) std::atomic<int> sleepers{0};
  /// Whether a worker is inside `NodeSource::poll`.
  alignas(kCacheLine) std::atomic<bool> polling{false};
  /// Nodes that `poll` has to finish in this replay; changed by the worker that polls.
  std::atomic<std::int64_t> awaited{0};
  /// Whether an idle worker polls messages at short intervals, so that others may sleep.
  std::atomic<bool> watching{false};

 private:
  void wakeAll();
  void putRight();
  StalledReplay stalled();

  std::vector<std::unique_ptr<WorkerSlot>> slots_;
  std::vector<std::unique_ptr<SpscRing<>>> rings_;
  ReplayState* state_ = nullptr;
  alignas(kCacheLine) std::atomic<bool> stopped_{false};
  std::atomic<bool> failed_{false};
  FaultPlan* const faults_;
  std::atomic<std::int64_t> replay_{0};    ///< number of the running replay; 0: none
  std::atomic<std::int64_t> givenUp_{-1};  ///< the replay to leave
  std::atomic<bool> looking_{false};
  std::int64_t replays_ = 0;
  std::unique_ptr<Error>
      failure_;  ///< written by the thread that set `failed_`, read after all have come to rest
};

}  // namespace tessera::detail
