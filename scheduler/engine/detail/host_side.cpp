#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/text/error.hpp"
#include "scheduler/engine/detail/engine_side.hpp"
#include "scheduler/engine/queues/host_memory.hpp"

namespace tessera::engine {
namespace {

/// Tasks that a worker takes together, at most, where many wait.
constexpr std::int64_t kMostAtOnce = 16;
/// Results of tasks that took so long together are handed out, even if more tasks were taken with them.
constexpr std::uint64_t kHoldNanos = 20'000;

void* workspaceOfThread(std::uint64_t bytes) {
  thread_local std::vector<std::max_align_t> memory;
  memory.resize(std::max<std::size_t>(memory.size(), bytes / sizeof(std::max_align_t) + 1));
  return memory.data();
}

/// A wait that begins hot and cools down: a few looks, then the rest of the time slice, then sleep.
class Patience {
 public:
  void wait() {
    if (++looks_ < 64) return;
    if (looks_ < 512) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  void reset() { looks_ = 0; }

 private:
  int looks_ = 0;
};

/// Workers that are threads of the host; with none of them, the caller's thread, one task a turn.
class HostSide final : public EngineSide {
 public:
  HostSide(const Program& program, const EngineOptions& options)
      : program_(program),
        options_(options),
        ready_(static_cast<std::size_t>(options.capacity) * 2),
        outbox_(static_cast<std::size_t>(options.capacity)),
        memory_(new std::byte[static_cast<std::size_t>(options.memoryBytes) + SlabClasses::kPageBytes]),
        records_(firstPage(),
                 static_cast<std::uint32_t>(options.memoryBytes / std::int64_t{SlabClasses::kPageBytes})),
        notes_(new WorkerNote[static_cast<std::size_t>(options.threads) + 1]),
        cancelled_(
            new ScopedAtomic<std::uint32_t, Scope::System>[static_cast<std::size_t>(options.capacity)]) {
    for (ReadyQueue& queue : state_.queues) queue = ready_.view();
    state_.memory = records_.view();
    state_.control = &control_;
    state_.notes = notes_.get();
    state_.cancelled = cancelled_.get();
    state_.mostSpawned = options.capacity;
    state_.kinds = static_cast<std::uint32_t>(program.kinds.size());
    if (options_.mode == EngineMode::Persistent) start();
  }
  ~HostSide() override { end(); }

  const EngineOptions& options() const override { return options_; }
  std::int32_t workers() const override { return std::max(1, options_.threads); }
  std::int64_t fetch(std::span<Completion> completions) override {
    const auto& ring = outbox_.view().ring;
    std::int64_t count = 0;
    while (count < std::ssize(completions) && ring.isFull(fetched_)) {
      completions[static_cast<std::size_t>(count++)] = ring.take(fetched_++);
    }
    return count;
  }
  ScopedAtomic<std::uint32_t, Scope::System>* cancelWords() override { return cancelled_.get(); }
  std::int64_t openTasks() override { return control_.open.load(std::memory_order_acquire); }
  void checkAlive() override {}

  std::int64_t deliver(std::span<const Task> tasks) override {
    const ReadyQueue& queue = state_.queues[0];
    const std::int64_t count = std::ssize(tasks);
    const std::uint64_t first = queue.tickets(count);
    for (std::int64_t n = 0; n < count; ++n) {
      const std::uint64_t ticket = first + static_cast<std::uint64_t>(n);
      while (!queue.ring.isFree(ticket)) pauseBriefly();
      queue.ring.put(ticket, tasks[static_cast<std::size_t>(n)]);
    }
    queue.published(count);
    return count;
  }

  void runQueue(std::uint64_t reports) override {
    start();
    Patience patience;
    while (control_.outTail.load(std::memory_order_acquire) != reports || openTasks() != 0) {
      if (!turn()) patience.wait();
    }
    end();
    control_.stop.store(0, std::memory_order_relaxed);
    // Workers that waited took tickets with them: the queue starts anew.
    makeEmpty(state_.queues[0]);
  }

  bool turn() override {
    if (options_.threads > 0) return false;
    const Claim claim = state_.queues[0].tryClaim(1, 1);
    if (claim.count == 0) return false;
    Hand hand{state_.notes[0], 0, {}, {}};
    take(claim, hand);
    runAll(hand);
    return true;
  }

  TaskMemory::Answer allocate(std::uint64_t bytes) override {
    return records_.view().allocate(bytes, hints_, 0);
  }
  bool isOfTasks(std::uint64_t) const override { return false; }
  MemoryFault release(std::uint64_t address) override { return records_.view().release(address); }
  std::int64_t bytesInUse() const override { return static_cast<std::int64_t>(records_.view().bytesInUse()); }
  void copyIn(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void copyOut(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  std::vector<NoteCopy> notes() override {
    std::vector<NoteCopy> list;
    for (std::int32_t n = 0; n < workers(); ++n) {
      const WorkerNote& note = notes_[static_cast<std::size_t>(n)];
      const std::uint64_t serial = note.serial.load(std::memory_order_acquire);
      list.push_back({serial, note.task.load(std::memory_order_relaxed),
                      note.argument.load(std::memory_order_relaxed), 0});
    }
    return list;
  }

 private:
  /// What one worker holds between two looks at the queue.
  struct Hand {
    WorkerNote& note;
    std::uint32_t seed = 0;
    std::vector<Task> tasks;
    std::vector<Completion> done;
  };

  std::uint64_t firstPage() const {
    const auto address = reinterpret_cast<std::uint64_t>(memory_.get());
    return (address + SlabClasses::kPageBytes - 1) / SlabClasses::kPageBytes * SlabClasses::kPageBytes;
  }
  void start() {
    for (std::int32_t n = 0; n < options_.threads; ++n) {
      threads_.emplace_back([this, n] { work(static_cast<std::uint32_t>(n)); });
    }
  }
  void end() {
    control_.stop.store(1, std::memory_order_release);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  bool stopped() const { return control_.stop.load(std::memory_order_relaxed) != 0; }

  void work(std::uint32_t worker) {
    const ReadyQueue& queue = state_.queues[0];
    Hand hand{state_.notes[worker], worker * 977U, {}, {}};
    Patience patience;
    while (!stopped()) {
      const Claim claim = queue.claim(kMostAtOnce, 4 * options_.threads);
      while (!queue.ring.isFull(claim.first)) {
        if (stopped()) return;
        patience.wait();
      }
      patience.reset();
      take(claim, hand);
      runAll(hand);
    }
  }

  void take(const Claim& claim, Hand& hand) {
    for (std::int64_t n = 0; n < claim.count; ++n) {
      const std::uint64_t ticket = claim.first + static_cast<std::uint64_t>(n);
      while (!state_.queues[0].ring.isFull(ticket)) pauseBriefly();
      hand.tasks.push_back(state_.queues[0].ring.take(ticket));
    }
  }

  void runAll(Hand& hand) {
    const std::uint64_t begin = hand.tasks.size() > 1 ? nowNanos() : 0;
    for (const Task& task : hand.tasks) {
      runOne(task, hand);
      if (begin != 0 && nowNanos() - begin > kHoldNanos) reportAll(hand);
    }
    reportAll(hand);
    hand.tasks.clear();
  }

  void runOne(const Task& task, Hand& hand) {
    Completion completion;
    completion.ticket = task.ticket;
    completion.kind = task.kind;
    completion.status = hindrance(state_, task);
    if (completion.status == TaskStatus::Done) {
      hand.note.begins(task);
      program_.runOnHost(state_, task, hints_, hand.seed, &workspaceOfThread, completion);
      hand.note.ends();
    }
    releaseSuccessors(state_, task, completion.status, 0, 1);
    if (task.ticket != kNobody) {
      hand.done.push_back(completion);
    } else {
      control_.open.fetch_add(-1, std::memory_order_release);
    }
  }

  void reportAll(Hand& hand) {
    if (hand.done.empty()) return;
    std::uint64_t ticket =
        control_.outTail.fetch_add(static_cast<std::uint64_t>(hand.done.size()), std::memory_order_release);
    for (const Completion& completion : hand.done) {
      while (!outbox_.view().ring.isFree(ticket)) pauseBriefly();
      outbox_.view().ring.put(ticket++, completion);
    }
    hand.done.clear();
  }

  const Program& program_;
  EngineOptions options_;
  HostQueue<Task, ScopedAtomics<Scope::Device>> ready_;
  HostQueue<Completion, ScopedAtomics<Scope::System>> outbox_;
  std::uint64_t fetched_ = 0;  ///< ticket of the outbox; of the thread that fetches
  std::unique_ptr<std::byte[]> memory_;
  SlabRecords<ScopedAtomics<Scope::Device>> records_;
  TaskMemory::Hints hints_{};
  Control control_;
  std::unique_ptr<WorkerNote[]> notes_;
  std::unique_ptr<ScopedAtomic<std::uint32_t, Scope::System>[]> cancelled_;
  EngineState state_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<EngineSide> makeHostSide(const Program& program, const EngineOptions& options) {
  return std::make_unique<HostSide>(program, options);
}

}  // namespace tessera::engine
