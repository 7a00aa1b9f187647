#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/fault_point.hpp"
#include "scheduler/diagnostics/stall_report.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A chain of three nodes, each at home with the next worker.
class Chain : public NodeSource {
 public:
  std::int64_t nodeCount() const override { return 3; }
  NodeTraits traits(std::int32_t node, int workers) const override { return {.home = node % workers}; }
  std::span<const std::int32_t> predecessorCounts() const override { return counts_; }
  std::span<const std::int32_t> successors(std::int32_t node) const override {
    return std::span(next_).subspan(static_cast<std::size_t>(node), node < 2 ? 1 : 0);
  }
  bool run(std::int32_t node, int) override {
    if (node == hangsIn) std::this_thread::sleep_for(std::chrono::milliseconds(600));
    ++ran;
    return true;
  }
  std::span<const std::int32_t> poll() override { return {}; }

  std::int32_t hangsIn = -1;
  std::atomic<int> ran{0};

 protected:
  std::int32_t counts_[3] = {0, 1, 1};
  std::int32_t next_[2] = {1, 2};
};

std::string failureOf(Replay& replay) {
  try {
    replay.run();
  } catch (const InternalError& error) {
    return error.message();
  }
  return "no failure";
}

TEST(Watchdog, ALostWakeUpEndsInAReportThatNamesTheNodeAndTheNextReplayIsWhole) {
  FaultPlan faults;
  faults.add({.point = "scheduler.wake"});
  Chain chain;
  const auto executor = makeThreadsExecutor(2, {.stallSeconds = 0.2, .faults = &faults});
  const auto replay = executor->prepare(chain);

  const std::string page = failureOf(*replay);

  EXPECT_THAT(page, HasSubstr("no progress for 0.2 s, and 2 of the 3 nodes"));
  EXPECT_THAT(page, HasSubstr("node 1 waits, although all its predecessors have finished (a lost wake-up"));
  EXPECT_THAT(page, Not(HasSubstr("node 0")));
  chain.ran = 0;
  EXPECT_EQ(failureOf(*replay), "no failure");
  EXPECT_EQ(chain.ran.load(), 3);
}

TEST(Watchdog, ATaskThatDoesNotEndIsNamedWithItsWorker) {
  Chain chain;
  chain.hangsIn = 1;
  std::string page;
  {
    const auto executor = makeThreadsExecutor(
        2, {.stallSeconds = 0.1, .onHopelessStall = [&](const std::string& p) { page = p; }});
    EXPECT_EQ(failureOf(*executor->prepare(chain)), "no failure");
  }  // ends the thread that writes the page

  EXPECT_THAT(page, HasSubstr("no task has finished for more than 0.1 s"));
  EXPECT_THAT(page, HasSubstr("is in node 1"));
}

TEST(Watchdog, AStepThatGetsOnSlowlyIsLeftAlone) {
  class Slow : public Chain {
   public:
    bool run(std::int32_t node, int worker) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      return Chain::run(node, worker);
    }
  } slow;
  const auto executor = makeThreadsExecutor(2, {.stallSeconds = 0.3});
  const auto replay = executor->prepare(slow);
  EXPECT_EQ(failureOf(*replay), "no failure");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // between replays nothing has to get on
  EXPECT_EQ(failureOf(*replay), "no failure");
}

TEST(StallReport, ACycleIsToldNodeByNode) {
  class Cycle : public Chain {
   public:
    std::span<const std::int32_t> successors(std::int32_t node) const override {
      return std::span(around_).subspan(static_cast<std::size_t>(node), 1);
    }

   private:
    std::int32_t around_[3] = {1, 2, 0};
  } cycle;
  const detail::StalledReplay replay{std::vector(3, detail::NodeStand::Waits), {1, 1, 1}};
  EXPECT_THAT(detail::stallReport(cycle, replay, 5),
              HasSubstr("a deadlock, each node waits for the next: node 0, node 2, node 1, the first again"));
}

/// Node 2 waits for 1, which waits for a message, and for 3, which waits for 2.
TEST(StallReport, ACycleBesideAWaitForAnotherRankIsFound) {
  class Eight : public Chain {
   public:
    std::int64_t nodeCount() const override { return 4; }
    std::span<const std::int32_t> successors(std::int32_t node) const override {
      return std::span(next_).subspan(static_cast<std::size_t>(first_[node]),
                                      static_cast<std::size_t>(first_[node + 1] - first_[node]));
    }

   private:
    std::int32_t next_[4] = {1, 2, 3, 2};  // of 0, of 1, of 2, of 3
    std::int32_t first_[5] = {0, 1, 2, 3, 4};
  } eight;
  using detail::NodeStand;
  const detail::StalledReplay replay{{NodeStand::Begun, NodeStand::Waits, NodeStand::Waits, NodeStand::Waits},
                                     {0, 1, 2, 1}};
  const std::string page = detail::stallReport(eight, replay, 5);
  EXPECT_THAT(page, HasSubstr("each node waits for the next: node 2, node 3, the first again"));
  EXPECT_THAT(page, HasSubstr("node 0 waits for another rank"));
}

TEST(StallReport, RanksThatWaitInALineAreNoCycle) {
  EXPECT_EQ(detail::rankCycle({{0, 1, "a"}, {1, 2, "b"}, {0, 2, "c"}}), "");
  EXPECT_EQ(detail::rankCycle({{0, 1, "a"}, {1, 2, "b"}, {2, 1, "c"}}),
            "these ranks are in a deadlock: rank 1 waits for rank 2 (b), rank 2 waits for rank 1 (c)");
}

/// Two ranks with a patch each; the first message of rank 1 is dropped.
std::string failureWithALostMessage(int threads) {
  Geometry geometry;
  geometry.cells = {8, 1, 1};
  const auto hierarchy = Hierarchy::uniform(geometry, {Division::By::Patches, {2, 1, 1}});
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  labels.setBoundary(u, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  StepPlan plan("initial");
  plan.task("Test::write").writes(u).runs<Cpu>([=](const auto& task) {
    const auto out = task.write(u);
    forEach(task.exec(), "w", task.interior(), [=](Index x) { out(x) = 1.0; });
  });
  plan.task("Test::read").reads(New, u, halo(1)).runs<Cpu>([](const auto&) {});
  const RankMap owners = distribute(*hierarchy, 2);
  const std::vector<const StepPlan*> plans{&plan};
  LoopbackWorld world(2);
  FaultPlan faults;
  faults.add({.point = "scheduler.send"});
  std::string page;
  try {
    runRanks(world, [&](Transport& transport) {
      const bool isSender = transport.rank() == 1;
      const CompiledGraphs graphs =
          compileGraphs(plans, {hierarchy, &labels, &owners, transport.rank(), 2, transport.tagBound()});
      const auto data = makeDataWarehouse(graphs);
      // The receiver gives up first, so that the page is its.
      const ExecutorOptions options{.stallSeconds = isSender ? 1.5 : 0.2};
      const auto executor =
          threads == 0 ? makeInOrderExecutor(options) : makeThreadsExecutor(threads, options);
      StepRunner runner(graphs, *data, transport, *executor, {.faults = isSender ? &faults : nullptr});
      runner.run(0, {});
    });
  } catch (const InternalError& error) {
    page = error.message();
  }
  return page;
}

TEST(Watchdog, ALostMessageEndsInAReportWithPeerTagLabelAndPatch) {
  for (const int threads : {0, 1, 2}) {
    const std::string page = failureWithALostMessage(threads);
    EXPECT_THAT(page,
                HasSubstr("a message of 8 bytes from rank 1, tag 0 (for the halo of New u around L0/P0000"));
    EXPECT_THAT(page, HasSubstr("waits for another rank"));
    EXPECT_THAT(page, HasSubstr("the halo of New u around L0/P0000"));
  }
}

}  // namespace
}  // namespace tessera
