#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <queue>
#include <thread>
#include <vector>

#include "core/contracts.hpp"
#include "core/error.hpp"
#include "scheduler/executor.hpp"

namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Workers around one queue of ready nodes, ordered by priority. Whoever finds nothing to run looks after the
/// messages, one worker at a time. Everything shared is guarded by one mutex.
class ThreadsExecutor : public Executor {
 public:
  explicit ThreadsExecutor(int threads) {
    TESSERA_EXPECT(threads >= 1, "give at least one thread");
    for (int n = 1; n < threads; ++n) workers_.emplace_back([this] { workerMain(); });
  }

  ~ThreadsExecutor() override {
    {
      const std::lock_guard lock(mutex_);
      leaving_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int threads() const override { return static_cast<int>(workers_.size()) + 1; }
  double waitSeconds() const override { return waitSeconds_; }

  void execute(NodeSource& source) override {
    std::unique_lock lock(mutex_);
    source_ = &source;
    const auto counts = source.predecessorCounts();
    left_.assign(counts.begin(), counts.end());
    unfinished_ = std::count_if(left_.begin(), left_.end(), [](std::int32_t n) { return n >= 0; });
    failure_.reset();
    for (std::size_t n = 0; n < left_.size(); ++n) {
      if (left_[n] == 0) pushReady(static_cast<std::int32_t>(n));
    }
    ++epoch_;
    changed_.notify_all();
    workUntilDone(lock);
    changed_.wait(lock, [this] { return inside_ == 0; });
    source_ = nullptr;
    ready_ = {};
    if (failure_) failure_->raise();
  }

 private:
  struct Ready {
    int priority = 0;
    std::int32_t node = 0;
    bool operator<(const Ready& o) const {
      return priority != o.priority ? priority < o.priority : node > o.node;
    }
  };

  void workerMain() {
    std::unique_lock lock(mutex_);
    std::int64_t seen = 0;
    while (true) {
      changed_.wait(lock, [&] { return leaving_ || (epoch_ != seen && source_ != nullptr); });
      if (leaving_) return;
      seen = epoch_;
      ++inside_;
      workUntilDone(lock);
      --inside_;
      changed_.notify_all();
    }
  }

  bool done() const { return unfinished_ == 0 || failure_ != nullptr; }

  void workUntilDone(std::unique_lock<std::mutex>& lock) {
    while (!done()) {
      if (!ready_.empty()) {
        const std::int32_t node = ready_.top().node;
        ready_.pop();
        runNode(node, lock);
      } else if (pending_ > 0 && !polling_) {
        pollMessages(lock);
      } else {
        const auto start = Clock::now();
        // A bound, so that a worker takes over the messages when the one who looked after them got work.
        changed_.wait_for(lock, std::chrono::microseconds(200));
        waitSeconds_ += secondsSince(start);
      }
    }
  }

  void runNode(std::int32_t node, std::unique_lock<std::mutex>& lock) {
    ++pending_;  // a node that goes on after run() stays pending until poll reports it
    lock.unlock();
    bool finished = false;
    std::unique_ptr<Error> failure = capture([&] { finished = source_->run(node); });
    lock.lock();
    if (failure) return fail(std::move(failure));
    if (finished) {
      --pending_;
      finish(node);
    }
  }

  void pollMessages(std::unique_lock<std::mutex>& lock) {
    polling_ = true;
    lock.unlock();
    const auto start = Clock::now();
    std::vector<std::int32_t> arrived;
    std::unique_ptr<Error> failure =
        capture([&] { source_->poll([&](std::int32_t node) { arrived.push_back(node); }); });
    if (arrived.empty()) std::this_thread::yield();
    lock.lock();
    if (arrived.empty()) waitSeconds_ += secondsSince(start);
    polling_ = false;
    if (failure) return fail(std::move(failure));
    for (const std::int32_t node : arrived) {
      --pending_;
      finish(node);
    }
  }

  void finish(std::int32_t node) {
    --unfinished_;
    for (const std::int32_t next : source_->successors(node)) {
      if (--left_[static_cast<std::size_t>(next)] == 0) pushReady(next);
    }
    if (ready_.size() > 1 || done()) changed_.notify_all();
  }

  void fail(std::unique_ptr<Error> failure) {
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }

  void pushReady(std::int32_t node) { ready_.push({source_->priority(node), node}); }

  /// Turns whatever `work` throws into a plain value: exceptions do not cross threads.
  template <class Work>
  static std::unique_ptr<Error> capture(Work&& work) {
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
      return std::make_unique<InternalError>(
          "a task failed with an exception of unknown type; throw an Error");
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> workers_;
  NodeSource* source_ = nullptr;
  std::vector<std::int32_t> left_;
  std::priority_queue<Ready> ready_;
  std::int64_t unfinished_ = 0;
  std::int64_t pending_ = 0;
  std::int64_t epoch_ = 0;
  int inside_ = 0;
  bool polling_ = false;
  bool leaving_ = false;
  double waitSeconds_ = 0.0;
  std::unique_ptr<Error> failure_;
};

}  // namespace

std::unique_ptr<Executor> makeThreadsExecutor(int threads) {
  return std::make_unique<ThreadsExecutor>(threads);
}

}  // namespace tessera
