#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/loopback_transport.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/virtual_schedule.hpp"
#include "tests/scheduler/random_source.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using testing::RandomSource;
using Order = std::vector<std::pair<int, std::int32_t>>;

/// Who ran which node, over all ranks, with barriers between the replays.
Order orderOf(std::uint64_t seed, int ranks) {
  Order order;
  VirtualSchedule schedule(ranks, seed);
  LoopbackWorld world(ranks, {.delaySeed = seed, .whenBlocked = [&] { schedule.pass(); }});
  runRanks(world, [&](Transport& transport) {
    const VirtualSchedule::Turn turn(schedule, transport.rank());
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

TEST(VirtualExecutor, ACircleIsReportedWithTheNumberOfWaitingNodes) {
  class Circle : public NodeSource {
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
  } circle;
  VirtualSchedule schedule(1, 5);
  const VirtualSchedule::Turn turn(schedule, 0);
  const auto executor = makeVirtualExecutor(schedule, 0);
  const auto replay = executor->prepare(circle);
  try {
    replay->run();
    FAIL() << "the circle was not reported";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.message(), HasSubstr("2 nodes of the graph wait"));
  }
}

TEST(VirtualExecutor, AMessageThatNobodySendsEndsInAnErrorWithTheSeed) {
  VirtualSchedule schedule(2, 9, 1000);
  LoopbackWorld world(2, {.whenBlocked = [&] { schedule.pass(); }});
  try {
    runRanks(world, [&](Transport& transport) {
      const VirtualSchedule::Turn turn(schedule, transport.rank());
      std::byte byte{};
      transport.wait(transport.receive(1 - transport.rank(), 3, {&byte, 1}));
    });
    FAIL() << "the stall was not reported";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.message(), HasSubstr("no simulated rank can go on"));
    EXPECT_THAT(error.message(), HasSubstr("seed 9"));
  }
}

}  // namespace
}  // namespace tessera
