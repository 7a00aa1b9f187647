#include "scheduler/device/lane/launch_order.hpp"

#include <random>

#include <gmock/gmock.h>

namespace tessera {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LaunchOrder, TasksOfAKindThatAreReadyTogetherAreOneBatch) {
  // Two rows of three: each task of the second waits for the one above it.
  const LanePlan plan{{{0}, {0}, {0}, {1}, {1}, {1}}, {{0, 3}, {1, 4}, {2, 5}}};

  const std::vector<LaunchBatch> batches = launchOrder(plan, 4096);

  ASSERT_EQ(batches.size(), 2U);
  EXPECT_THAT(batches[0].tasks, ElementsAre(0, 1, 2));
  EXPECT_THAT(batches[0].after, IsEmpty());
  EXPECT_THAT(batches[1].tasks, ElementsAre(3, 4, 5));
  EXPECT_THAT(batches[1].after, ElementsAre(0));
}

TEST(LaunchOrder, ABatchHasNoMoreTasksThanIsAsked) {
  const std::vector<LaunchBatch> batches = launchOrder({{{0}, {0}, {0}}, {}}, 2);

  ASSERT_EQ(batches.size(), 2U);
  EXPECT_THAT(batches[0].tasks, ElementsAre(0, 1));
  EXPECT_THAT(batches[1].tasks, ElementsAre(2));
}

TEST(LaunchOrder, AChainStaysInItsStreamAndABranchGetsAnother) {
  // 0 comes before 1 and 2, both before 3.
  const LanePlan plan{{{0}, {1}, {2}, {3}}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}};

  const std::vector<StreamedBatch> dealt = dealOut(launchOrder(plan, 1), 4);

  EXPECT_EQ(dealt[1].streams, dealt[0].streams);
  EXPECT_NE(dealt[2].streams, dealt[0].streams);
  EXPECT_EQ(dealt[3].streams, dealt[2].streams) << "of two that it waits for, the later one's";
}

TEST(LaunchOrder, EachBatchComesBehindAllThatItsTasksWaitFor) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    LanePlan plan;
    for (std::int32_t n = 0; n < 40; ++n) {
      plan.tasks.push_back({static_cast<std::int32_t>(random() % 3)});
      for (std::int32_t before = 0; before < n; ++before) {
        if (random() % 8 == 0) plan.edges.emplace_back(before, n);
      }
    }
    const std::vector<LaunchBatch> batches = launchOrder(plan, 1 + static_cast<std::int32_t>(random() % 9));

    std::vector<std::int32_t> batchOf(plan.tasks.size(), -1);
    for (std::size_t b = 0; b < batches.size(); ++b) {
      for (const std::int32_t task : batches[b].tasks)
        batchOf[static_cast<std::size_t>(task)] = static_cast<std::int32_t>(b);
    }
    EXPECT_THAT(batchOf, testing::Each(testing::Ge(0)));
    for (const auto& [first, then] : plan.edges) {
      EXPECT_THAT(batches[static_cast<std::size_t>(batchOf[static_cast<std::size_t>(then)])].after,
                  testing::Contains(batchOf[static_cast<std::size_t>(first)]));
    }
  }
}

}  // namespace
}  // namespace tessera
