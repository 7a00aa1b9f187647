#include "scheduler/device/lane/junctions.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include <gmock/gmock.h>

#include "scheduler/device/lane/rising_order.hpp"

namespace tessera {
namespace {

using detail::Junctions;
using detail::RisingOrder;
using testing::ElementsAre;

using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;

std::vector<std::int32_t> listOf(const std::vector<std::int32_t>& lists,
                                 const std::vector<std::int32_t>& begin, std::int32_t n) {
  const auto at = static_cast<std::size_t>(n);
  return {lists.begin() + begin[at], lists.begin() + begin[at + 1]};
}

/// The edges between tasks that lists with junctions stand for.
Edges edgesOf(const Junctions& lists, std::int32_t tasks) {
  Edges edges;
  for (std::int32_t n = 0; n < tasks; ++n) {
    for (const std::int32_t next : listOf(lists.successors, lists.successorBegin, n)) {
      if (next < tasks) {
        edges.emplace_back(n, next);
        continue;
      }
      for (const std::int32_t member : listOf(lists.successors, lists.successorBegin, next))
        edges.emplace_back(n, member);
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

TEST(Junctions, WhereAllWaitForAllTheEdgesAreTheirSum) {
  Edges edges;
  for (std::int32_t first = 0; first < 3; ++first) {
    for (std::int32_t then = 3; then < 7; ++then) edges.emplace_back(first, then);
  }
  const Junctions lists(7, edges);

  EXPECT_EQ(lists.nodes, 8);
  EXPECT_EQ(lists.successors.size(), 3U + 4U);
  EXPECT_THAT(listOf(lists.predecessors, lists.predecessorBegin, 7), ElementsAre(0, 1, 2));
  EXPECT_THAT(listOf(lists.successors, lists.successorBegin, 7), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(listOf(lists.predecessors, lists.predecessorBegin, 5), ElementsAre(7));
}

TEST(Junctions, ThereIsNoneWhereItSavesNothing) {
  const Junctions two(4, Edges{{0, 2}, {0, 3}, {1, 2}, {1, 3}});
  EXPECT_EQ(two.nodes, 4);
  const Junctions one(4, Edges{{0, 1}, {0, 2}, {0, 3}});
  EXPECT_EQ(one.nodes, 4);
}

TEST(Junctions, AnyGraphKeepsItsEdges) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    constexpr std::int32_t kTasks = 40;
    Edges edges;
    std::vector<std::int32_t> before;
    for (std::int32_t n = 1; n < kTasks; ++n) {
      // The same as the one before, or some of those before.
      if (random() % 3 == 0 || before.empty()) {
        before.clear();
        for (std::int32_t m = 0; m < n; ++m) {
          if (random() % 4 == 0) before.push_back(m);
        }
      }
      for (const std::int32_t m : before) edges.emplace_back(m, n);
    }
    std::shuffle(edges.begin(), edges.end(), random);
    const Junctions lists(kTasks, edges);
    std::sort(edges.begin(), edges.end());
    EXPECT_EQ(edgesOf(lists, kTasks), edges);
    EXPECT_LE(lists.successors.size(), edges.size());
    EXPECT_EQ(lists.successors.size(), lists.predecessors.size());
  }
}

TEST(RisingOrder, AnyNumbersRise) {
  constexpr std::int32_t kBound = 5000;
  RisingOrder rising(kBound);
  std::vector<std::int32_t> all(kBound);
  std::iota(all.begin(), all.end(), 0);
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::shuffle(all.begin(), all.end(), random);
    // Some few of all, and some that lie close together.
    const std::size_t count = 1 + random() % (seed % 2 == 0 ? 8 : 800);
    std::vector<std::int32_t> numbers(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<std::int32_t> right = numbers;
    std::sort(right.begin(), right.end());
    rising.sort(numbers);
    EXPECT_EQ(numbers, right);
  }
}

}  // namespace
}  // namespace tessera
