#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "core/transport/loopback_transport.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/virtual_schedule.hpp"
#include "tests/scheduler/random_source.hpp"

namespace tessera {
namespace {

using test::RandomSource;
using ::testing::HasSubstr;
using Order = std::vector<std::pair<int, std::int32_t>>;

/// Who ran which node, over all ranks, with barriers between the replays.
Order orderOf(std::uint64_t seed, int ranks) {
  Order order;
  VirtualSchedule schedule(ranks, seed);
  LoopbackWorld world(ranks, {.delaySeed = seed, .whenBlocked = [&] { schedule.pass(); }});
  runRanks(world, schedule, [&](Transport& transport) {
    RandomSource source({.nodes = 30, .edgesPerNode = 1, .seed = 4, .percentWaiting = 20});
    source.onRun = [&](std::int32_t node, int) { order.emplace_back(transport.rank(), node); };
    const auto executor = makeVirtualExecutor(schedule, transport.rank());
    const auto replay = executor->prepare(source);
    for (int n = 0; n < 3; ++n) {
      source.begin();
      replay->run();
      EXPECT_TRUE(source.right());
      transport.barrier();
    }
  });
  return order;
}

TEST(VirtualExecutor, ASeedReplaysTheOrderOfAllTasksOfAllRanks) {
  for (const int ranks : {1, 3, 8}) {
    for (const std::uint64_t seed : {1U, 77U}) {
      const Order first = orderOf(seed, ranks);
      EXPECT_EQ(std::ssize(first), 30 * 3 * ranks);
      for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(orderOf(seed, ranks), first);
    }
    EXPECT_NE(orderOf(1, ranks), orderOf(2, ranks));
  }
}

TEST(VirtualExecutor, ACycleIsReportedWithTheNumberOfWaitingNodes) {
  class Cycle : public NodeSource {
   public:
    std::int64_t nodeCount() const override { return 2; }
    NodeTraits traits(std::int32_t, int) const override { return {}; }
    std::span<const std::int32_t> predecessorCounts() const override { return counts_; }
    std::span<const std::int32_t> successors(std::int32_t node) const override {
      return std::span(other_).subspan(static_cast<std::size_t>(node), 1);
    }
    bool run(std::int32_t, int) override { return true; }
    std::span<const std::int32_t> poll() override { return {}; }

   private:
    std::int32_t counts_[2] = {1, 1};
    std::int32_t other_[2] = {1, 0};
  } cycle;
  VirtualSchedule schedule(1, 5);
  std::string failure = "the circle was not reported";
  schedule.run([&](int rank) {
    const auto executor = makeVirtualExecutor(schedule, rank);
    const auto replay = executor->prepare(cycle);
    try {
      replay->run();
    } catch (const InternalError& error) {
      failure = error.message();
    }
  });
  EXPECT_THAT(failure,
              HasSubstr("a deadlock, each node waits for the next: node 0, node 1, the first again"));
}

/// Each rank's only node waits for the rank after it.
class WaitsForTheNext : public NodeSource {
 public:
  WaitsForTheNext(int rank, int ranks) : next_((rank + 1) % ranks) {}
  std::int64_t nodeCount() const override { return 1; }
  NodeTraits traits(std::int32_t, int) const override { return {.waits = true}; }
  std::span<const std::int32_t> predecessorCounts() const override { return counts_; }
  std::span<const std::int32_t> successors(std::int32_t) const override { return {}; }
  bool run(std::int32_t, int) override { return false; }
  std::span<const std::int32_t> poll() override { return {}; }
  std::string describe(std::int32_t) const override { return "the word of " + std::to_string(next_); }
  int waitsForRank(std::int32_t) const override { return next_; }
  std::vector<std::int32_t> begun() override { return {0}; }

 private:
  int next_;
  std::int32_t counts_[1] = {0};
};

TEST(VirtualExecutor, ACycleOfRanksIsNamedRankByRank) {
  VirtualSchedule schedule(3, 1, 100);
  std::string page;
  schedule.run([&](int rank) {
    WaitsForTheNext source(rank, 3);
    const auto executor = makeVirtualExecutor(schedule, rank);
    const auto replay = executor->prepare(source);
    try {
      if (page.empty()) replay->run();
    } catch (const InternalError& error) {
      if (page.empty()) page = error.message();
    }
  });
  EXPECT_THAT(page, HasSubstr("rank 2: no progress, and 1 of the 1 nodes of this step have not finished\n"
                              "  the word of 0 waits for another rank"));
  EXPECT_THAT(page,
              HasSubstr("these ranks are in a deadlock: rank 0 waits for rank 1 (the word of 1), "
                        "rank 1 waits for rank 2 (the word of 2), rank 2 waits for rank 0 (the word of 0)"));
}

TEST(VirtualExecutor, AMessageThatNobodySendsEndsInAnErrorWithTheSeed) {
  VirtualSchedule schedule(2, 9, 1000);
  LoopbackWorld world(2, {.whenBlocked = [&] { schedule.pass(); }});
  try {
    runRanks(world, schedule, [&](Transport& transport) {
      std::byte byte{};
      transport.wait(transport.receive(1 - transport.rank(), 3, {&byte, 1}));
    });
    FAIL() << "the stall was not reported";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.message(), HasSubstr("deadlock: each simulated rank waits"));
    EXPECT_THAT(error.message(), HasSubstr("seed 9"));
    EXPECT_THAT(error.message(), HasSubstr("rank 1: is between two steps"));
  }
}

}  // namespace
}  // namespace tessera
