#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "core/transport/step_aside.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/executor/bind_thread.hpp"
#include "scheduler/executor/pause.hpp"
#include "scheduler/executor/worker.hpp"

namespace tessera {
namespace {

using detail::EventCount;
using detail::ReplayState;
using detail::Watchdog;
using detail::Worker;
using detail::WorkerPool;

/// How long a thread looks for the next replay, or for the end of one, before it sleeps.
constexpr std::chrono::microseconds kLookFor{50};

/// Returns when `condition` holds; `parking` is notified by the thread that makes it hold, by a seq_cst
/// store.
template <class Condition>
void await(EventCount<>& parking, StepAside& stepAside, const Condition& condition) {
  const auto since = std::chrono::steady_clock::now();
  for (int round = 1; !condition(); ++round) {
    if (round % 64 != 0) {
      detail::pause();
      continue;
    }
    if (std::chrono::steady_clock::now() - since < kLookFor && !stepAside.crowded()) {
      stepAside();
      continue;
    }
    const EventCount<>::Ticket ticket = parking.prepare();
    if (condition()) {
      parking.cancel();
    } else {
      parking.sleep(ticket);
    }
  }
}

/// Threads that live as long as the executor: each takes part in one replay after the other. All come to rest
/// before `replay` returns, so that what they share may then be changed.
class ThreadsExecutor : public Executor {
 public:
  ThreadsExecutor(int threads, const ExecutorOptions& options)
      : options_(options), pool_(threads, options.faults), parkings_(static_cast<std::size_t>(threads)) {
    const std::vector<int>& cores = options_.cores;
    for (int n = 0; n < threads; ++n) workers_.push_back(std::make_unique<Worker>(pool_, n));
    if (!cores.empty() && !detail::bindThisThread(cores[0])) {
      throw InternalError("a thread cannot be bound to core " + std::to_string(cores[0]) +
                          "; run with --no-bind, or inside the cores that the launcher gave");
    }
    try {
      for (int n = 1; n < threads; ++n) {
        const int core = cores.empty() ? -1 : cores[static_cast<std::size_t>(n)];
        threads_.emplace_back([this, n, core] { threadMain(n, core); });
      }
      if (options_.stallSeconds > 0.0) startWatchdog();
    } catch (const std::exception& failure) {
      const std::size_t started = threads_.size() + 1;
      leave();
      detail::threadNotStarted(started, threads, failure);
    }
  }

  ~ThreadsExecutor() override {
    watchdog_.reset();
    leave();
  }

  std::unique_ptr<Replay> prepare(NodeSource& source) override {
    return std::make_unique<ThreadsReplay>(*this, source);
  }
  int threads() const override { return pool_.size(); }
  double waitSeconds() const override {
    double sum = 0.0;
    for (const auto& worker : workers_) sum += worker->waitSeconds();
    return sum;
  }

 private:
  class ThreadsReplay : public Replay {
   public:
    ThreadsReplay(ThreadsExecutor& executor, NodeSource& source)
        : executor_(executor), state_(source, executor.threads()) {}
    void run() override { executor_.replay(state_); }

   private:
    ThreadsExecutor& executor_;
    ReplayState state_;
  };

  /// Where a thread waits between replays; worker 0 for the end of one.
  struct alignas(detail::kCacheLine) Parking {
    EventCount<> event;
    StepAside stepAside;  ///< of the thread that waits here
  };

  void replay(ReplayState& state) {
    pool_.open(state);
    atWork_.store(pool_.size() - 1, std::memory_order_relaxed);
    callAll();
    workers_[0]->replay();
    await(parkings_[0].event, parkings_[0].stepAside,
          [this] { return atWork_.load(std::memory_order_seq_cst) == 0; });
    pool_.close(patience());
  }

  void startWatchdog() {
    watchdog_.emplace(std::chrono::duration<double>(options_.stallSeconds),
                      Watchdog::Calls{.look = [this] { return pool_.progress(); },
                                      .stalled = [this](std::int64_t replay,
                                                        double seconds) { stalled(replay, seconds); }});
  }

  /// A rank that waits for another one has the double patience: the one whose fault it is shall speak.
  double patience() const {
    return options_.stallSeconds * (pool_.awaited.load(std::memory_order_relaxed) > 0 ? 2.0 : 1.0);
  }

  /// A worker inside a task cannot give up; otherwise all come to rest, unless one is stuck in a message.
  void stalled(std::int64_t replay, double seconds) {
    if (pool_.anyoneRuns()) return despair(replay);
    if (seconds < patience()) return;
    pool_.askToGiveUp(replay);
    if (seconds > patience() + std::min(options_.stallSeconds, 5.0)) despair(replay);
  }

  void despair(std::int64_t replay) {
    if (!options_.onHopelessStall || !pool_.beginLook(replay)) return;
    std::ostringstream page;
    page << "no task has finished for more than " << options_.stallSeconds << " s" << pool_.whatRuns()
         << "\n  fix  if a task may take longer, raise --watchdog SECONDS; otherwise find out why it does "
            "not finish";
    options_.onHopelessStall(page.str());
    pool_.endLook();
  }

  /// All threads that were started end.
  void leave() {
    leaving_.store(true, std::memory_order_relaxed);
    callAll();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void callAll() {
    call_.fetch_add(1, std::memory_order_seq_cst);
    for (std::size_t n = 1; n < parkings_.size(); ++n) parkings_[n].event.notify();
  }

  void threadMain(int number, int core) {
    if (core >= 0) detail::bindThisThread(core);
    const auto n = static_cast<std::size_t>(number);
    for (std::int64_t seen = 0;; ++seen) {
      await(parkings_[n].event, parkings_[n].stepAside,
            [&] { return call_.load(std::memory_order_seq_cst) != seen; });
      if (leaving_.load(std::memory_order_relaxed)) return;
      workers_[n]->replay();
      if (atWork_.fetch_sub(1, std::memory_order_seq_cst) == 1) parkings_[0].event.notify();
    }
  }

  const ExecutorOptions options_;
  WorkerPool pool_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Parking> parkings_;
  alignas(detail::kCacheLine) std::atomic<std::int64_t> call_{0};  ///< number of replays begun
  alignas(detail::kCacheLine) std::atomic<int> atWork_{0};         ///< threads that have not come to rest
  std::atomic<bool> leaving_{false};
  std::vector<std::thread> threads_;
  std::optional<Watchdog> watchdog_;
};

}  // namespace

std::unique_ptr<Executor> makeThreadsExecutor(int threads, ExecutorOptions options) {
  TESSERA_EXPECT(threads >= 1, "give at least one thread");
  TESSERA_EXPECT(options.cores.empty() || std::ssize(options.cores) == threads,
                 "name a core for each thread, or none");
  return std::make_unique<ThreadsExecutor>(threads, options);
}

}  // namespace tessera
