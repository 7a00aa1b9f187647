#include <atomic>
#include <chrono>
#include <ctime>
#include <sched.h>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/cores.hpp"
#include "scheduler/executor.hpp"
#include "tests/scheduler/random_source.hpp"

namespace tessera {
namespace {

using test::RandomGraph;
using test::RandomSource;

void expectRight(const RandomGraph& shape, Executor& executor, int replays) {
  RandomSource source(shape);
  const auto replay = executor.prepare(source);
  for (int n = 0; n < replays; ++n) {
    source.begin();
    replay->run();
    ASSERT_TRUE(source.right()) << executor.threads() << " threads, seed " << shape.seed << ", replay " << n;
  }
}

TEST(ThreadsExecutor, RunsEveryNodeOnceAfterItsPredecessors) {
  for (const int threads : {1, 2, 3, 8}) {
    const auto executor = makeThreadsExecutor(threads);
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
      expectRight({.nodes = 300, .edgesPerNode = static_cast<int>(seed % 5), .seed = seed}, *executor, 20);
    }
  }
}

TEST(ThreadsExecutor, NodesThatEndLaterAreAwaited) {
  for (const int threads : {1, 2, 4}) {
    const auto executor = makeThreadsExecutor(threads);
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
      expectRight({.nodes = 200, .seed = seed, .percentWaiting = 20, .urgencies = 3}, *executor, 10);
      expectRight({.nodes = 40, .edgesPerNode = 1, .seed = seed, .percentWaiting = 100}, *executor, 10);
    }
  }
}

TEST(ThreadsExecutor, NumbersThatAreNotInUseNeverRun) {
  for (const int threads : {1, 3}) {
    const auto executor = makeThreadsExecutor(threads);
    expectRight({.nodes = 200, .seed = 5, .percentUnused = 30}, *executor, 10);
    expectRight({.nodes = 50, .seed = 6, .percentUnused = 100}, *executor, 10);
    expectRight({.nodes = 0}, *executor, 3);
  }
  expectRight({.nodes = 200, .seed = 5, .percentUnused = 30}, *makeInOrderExecutor(), 2);
}

TEST(ThreadsExecutor, ManyMoreEdgesBetweenWorkersThanARingHoldsAreNoTrouble) {
  // Each of 3000 sources has both of two sinks, at home elsewhere, and all are ready at once.
  class Wide : public NodeSource {
   public:
    Wide() : counts_(6002, 0) { counts_[6000] = counts_[6001] = 6000; }
    std::int64_t nodeCount() const override { return 6002; }
    NodeTraits traits(std::int32_t node, int workers) const override { return {.home = node % workers}; }
    std::span<const std::int32_t> predecessorCounts() const override { return counts_; }
    std::span<const std::int32_t> successors(std::int32_t node) const override {
      return node < 6000 ? std::span<const std::int32_t>(sinks_) : std::span<const std::int32_t>();
    }
    bool run(std::int32_t node, int) override {
      if (node == 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      ran.fetch_add(1);
      return true;
    }
    std::span<const std::int32_t> poll() override { return {}; }
    std::atomic<int> ran{0};

   private:
    std::vector<std::int32_t> counts_;
    std::int32_t sinks_[2] = {6000, 6001};
  };
  Wide wide;
  const auto executor = makeThreadsExecutor(2);
  const auto replay = executor->prepare(wide);
  replay->run();
  replay->run();
  EXPECT_EQ(wide.ran.load(), 2 * 6002);
}

TEST(ThreadsExecutor, TheMostUrgentReadyNodeRunsFirst) {
  class Urgent : public NodeSource {
   public:
    std::int64_t nodeCount() const override { return 4; }
    NodeTraits traits(std::int32_t node, int) const override { return {.urgency = urgency_[node]}; }
    std::span<const std::int32_t> predecessorCounts() const override { return counts_; }
    std::span<const std::int32_t> successors(std::int32_t node) const override {
      return node == 1 ? std::span<const std::int32_t>(next_) : std::span<const std::int32_t>();
    }
    bool run(std::int32_t node, int) override {
      order.push_back(node);
      return true;
    }
    std::span<const std::int32_t> poll() override { return {}; }
    std::vector<std::int32_t> order;

   private:
    int urgency_[4] = {0, 2, 1, -3};
    std::int32_t counts_[4] = {0, 0, 0, 1};
    std::int32_t next_[1] = {3};
  };
  Urgent source;
  makeThreadsExecutor(1)->prepare(source)->run();
  EXPECT_EQ(source.order, (std::vector<std::int32_t>{1, 2, 0, 3}));
}

TEST(ThreadsExecutor, AnIdleWorkerStealsFromABusyOne) {
  // All nodes are at home with worker 0.
  RandomSource source({.nodes = 16, .edgesPerNode = 0});
  class AtHome : public NodeSource {
   public:
    explicit AtHome(NodeSource& inner) : inner_(inner) {}
    std::int64_t nodeCount() const override { return inner_.nodeCount(); }
    NodeTraits traits(std::int32_t, int) const override { return {}; }
    std::span<const std::int32_t> predecessorCounts() const override { return inner_.predecessorCounts(); }
    std::span<const std::int32_t> successors(std::int32_t node) const override {
      return inner_.successors(node);
    }
    bool run(std::int32_t node, int worker) override { return inner_.run(node, worker); }
    std::span<const std::int32_t> poll() override { return {}; }

   private:
    NodeSource& inner_;
  } atHome(source);
  std::atomic<int> stolen{0};
  source.onRun = [&](std::int32_t, int worker) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (worker != 0) stolen.fetch_add(1);
  };
  const auto executor = makeThreadsExecutor(2);
  const auto replay = executor->prepare(atHome);
  source.begin();
  replay->run();
  EXPECT_TRUE(source.right());
  EXPECT_GE(stolen.load(), 4);
}

TEST(ThreadsExecutor, TheFirstFailureComesOutAfterAllHaveComeToRestAndTheNextReplayIsWhole) {
  for (const int threads : {1, 2, 4}) {
    const auto executor = makeThreadsExecutor(threads);
    RandomSource source({.nodes = 400, .edgesPerNode = 2, .seed = 3, .percentWaiting = 10});
    std::atomic<int> inside{0};
    std::atomic<bool> fails{true};
    source.onRun = [&](std::int32_t node, int) {
      inside.fetch_add(1);
      std::this_thread::yield();
      inside.fetch_sub(1);
      if (fails.load() && node >= 150) throw InputError("table is missing");
    };
    const auto replay = executor->prepare(source);
    for (int n = 0; n < 5; ++n) {
      source.begin();
      fails.store(true);
      EXPECT_THROW(replay->run(), InputError);
      EXPECT_EQ(inside.load(), 0);
      fails.store(false);
      source.begin();
      replay->run();
      EXPECT_TRUE(source.right()) << threads << " threads";
    }
  }
}

TEST(ThreadsExecutor, AForeignExceptionIsAnInternalErrorThatQuotesIt) {
  const auto executor = makeThreadsExecutor(2);
  RandomSource source({.nodes = 10, .edgesPerNode = 0});
  source.onRun = [](std::int32_t, int) { throw std::runtime_error("out of range"); };
  source.begin();
  try {
    executor->prepare(source)->run();
    FAIL() << "no exception";
  } catch (const InternalError& error) {
    EXPECT_EQ(error.message(), "a task failed: out of range");
  }
}

TEST(ThreadsExecutor, EachWorkerRunsOnTheCoreThatItWasGiven) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  const std::vector<int> allowed = allowedCores().cores;
  const std::vector<int> cores{allowed.front(), allowed.back()};
  {
    RandomSource source({.nodes = 40, .edgesPerNode = 1});
    std::atomic<int> elsewhere{0};
    source.onRun = [&](std::int32_t, int worker) {
      if (sched_getcpu() != cores[static_cast<std::size_t>(worker)]) elsewhere.fetch_add(1);
    };
    const auto executor = makeThreadsExecutor(2, {.cores = cores});
    source.begin();
    executor->prepare(source)->run();
    EXPECT_TRUE(source.right());
    EXPECT_EQ(elsewhere.load(), 0);
  }
  sched_setaffinity(0, sizeof(before), &before);
  EXPECT_THROW(makeThreadsExecutor(1, {.cores = {100'000 % CPU_SETSIZE}}), InternalError);
}

/// Given edges and slacks; notes the order in which one worker runs it.
class Slackful : public NodeSource {
 public:
  Slackful(std::vector<std::vector<std::int32_t>> successors, std::vector<int> slacks)
      : successors_(std::move(successors)), slacks_(std::move(slacks)), counts_(slacks_.size(), 0) {
    for (const auto& all : successors_) {
      for (const std::int32_t next : all) ++counts_[static_cast<std::size_t>(next)];
    }
  }
  std::int64_t nodeCount() const override { return std::ssize(slacks_); }
  NodeTraits traits(std::int32_t node, int) const override {
    return {.slack = slacks_[static_cast<std::size_t>(node)]};
  }
  std::span<const std::int32_t> predecessorCounts() const override { return counts_; }
  std::span<const std::int32_t> successors(std::int32_t node) const override {
    return successors_[static_cast<std::size_t>(node)];
  }
  bool run(std::int32_t node, int) override {
    order.push_back(node);
    return true;
  }
  std::span<const std::int32_t> poll() override { return {}; }

  std::vector<std::int32_t> order;

 private:
  std::vector<std::vector<std::int32_t>> successors_;
  std::vector<int> slacks_;
  std::vector<std::int32_t> counts_;
};

std::vector<std::int32_t> orderOf(Slackful source) {
  const auto executor = makeThreadsExecutor(1);
  executor->prepare(source)->run();
  return source.order;
}

TEST(ThreadsExecutor, AChainWithoutSlackBeginsBeforeSideWork) {
  EXPECT_EQ(orderOf({{{}, {}, {}, {4}, {5}, {}}, {3, 3, 3, 0, 0, 0}}),
            (std::vector<std::int32_t>{3, 4, 5, 0, 1, 2}));
}

TEST(ThreadsExecutor, LessSlackDoesNotTakeASuccessorOutOfTheHand) {
  // Node 1 uses what node 0 has just made; node 2 could have begun before both.
  EXPECT_EQ(orderOf({{{1}, {}, {}}, {0, 2, 0}}), (std::vector<std::int32_t>{0, 1, 2}));
}

double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST(ThreadsExecutor, WorkersWithNothingToDoSleep) {
  const auto executor = makeThreadsExecutor(4);
  RandomSource source({.nodes = 8, .edgesPerNode = 1, .seed = 2});
  source.onRun = [](std::int32_t, int) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  const auto replay = executor->prepare(source);
  source.begin();
  const double before = cpuSeconds();
  replay->run();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  // Well over 0.3 s have passed. Each idle worker looked around for 50 us and slept.
  EXPECT_LT(cpuSeconds() - before, 0.02);
  EXPECT_GT(executor->waitSeconds(), 0.1);
}

TEST(ThreadsExecutor, AnAwaitedMessageCostsNextToNothing) {
  /// One node that ends after 1 s.
  class Late : public NodeSource {
   public:
    std::int64_t nodeCount() const override { return 1; }
    NodeTraits traits(std::int32_t, int) const override { return {.waits = true}; }
    std::span<const std::int32_t> predecessorCounts() const override { return counts_; }
    std::span<const std::int32_t> successors(std::int32_t) const override { return {}; }
    bool run(std::int32_t, int) override {
      start_ = std::chrono::steady_clock::now();
      return false;
    }
    std::span<const std::int32_t> poll() override {
      const bool ended = std::chrono::steady_clock::now() - start_ > std::chrono::seconds(1);
      return std::span<const std::int32_t>(counts_).first(ended ? 1 : 0);
    }

   private:
    std::int32_t counts_[1] = {0};
    std::chrono::steady_clock::time_point start_{};
  } late;
  const auto executor = makeThreadsExecutor(3);
  const auto replay = executor->prepare(late);
  const double before = cpuSeconds();
  replay->run();
  EXPECT_LT(cpuSeconds() - before, 0.05);
}

TEST(ThreadsExecutor, SeveralGraphsTakeTurnsOnTheSameWorkers) {
  const auto executor = makeThreadsExecutor(3);
  RandomSource a({.nodes = 100, .seed = 1});
  RandomSource b({.nodes = 150, .seed = 2, .percentWaiting = 10});
  const auto replayA = executor->prepare(a);
  const auto replayB = executor->prepare(b);
  for (int n = 0; n < 50; ++n) {
    a.begin();
    replayA->run();
    b.begin();
    replayB->run();
    ASSERT_TRUE(a.right() && b.right());
  }
}

}  // namespace
}  // namespace tessera
