#include "scheduler/step/launch_nodes.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using detail::LaunchNodes;
using ::testing::ElementsAre;

const IdVector<NodeId, std::int32_t> kCounts{0, 2, -1};

TEST(LaunchNodes, FollowTheNodesOfTheGraphAndWaitForNothing) {
  const LaunchNodes nodes(kCounts, 2);
  EXPECT_THAT(nodes.predecessorCounts(), ElementsAre(0, 2, -1, 0, 0));
  EXPECT_FALSE(nodes.is(NodeId(2)));
  EXPECT_TRUE(nodes.is(NodeId(3)));
  EXPECT_EQ(nodes.slotOf(NodeId(3)), 0U);
  EXPECT_EQ(nodes.slotOf(NodeId(4)), 1U);
}

TEST(LaunchNodes, HaveWorkersOfTheirOwnAsFarAsThereAreSome) {
  const auto homes = [](int workers) {
    const LaunchNodes nodes(kCounts, 3);
    return std::array{nodes.homeOf(NodeId(3), workers), nodes.homeOf(NodeId(4), workers),
                      nodes.homeOf(NodeId(5), workers)};
  };
  EXPECT_THAT(homes(1), ElementsAre(0, 0, 0));
  EXPECT_THAT(homes(2), ElementsAre(0, 1, 0));
  EXPECT_THAT(homes(3), ElementsAre(0, 1, 2));
  EXPECT_THAT(homes(6), ElementsAre(0, 2, 4));
}

}  // namespace
}  // namespace tessera
