#include "taskgraph/storage/window_groups.hpp"

#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Boxes {
  std::vector<Box> owned;
  std::vector<Box> windows;
};

/// Patches of `size` x `size` cells where the picture has a '#', grown by `halo`; the first line is the
/// highest.
Boxes picture(const std::vector<std::string>& lines, std::int64_t size, std::int64_t halo) {
  Boxes boxes;
  for (std::size_t line = lines.size(); line-- > 0;) {
    for (std::size_t column = 0; column < lines[line].size(); ++column) {
      if (lines[line][column] != '#') continue;
      const Index lo{static_cast<std::int64_t>(column) * size,
                     static_cast<std::int64_t>(lines.size() - 1 - line) * size, 0};
      boxes.owned.push_back({lo, lo + Index{size, size, 1}});
      boxes.windows.push_back(grow(boxes.owned.back(), {{halo, halo, 0}, {halo, halo, 0}}));
    }
  }
  return boxes;
}

std::vector<WindowGroup> groupsOf(const Boxes& boxes, double copies = kCopiesOfLargeHalos) {
  return groupWindows(boxes.owned, boxes.windows, copies);
}

std::int64_t stored(const Boxes& boxes, const std::vector<WindowGroup>& groups) {
  std::vector<bool> shared(boxes.windows.size(), false);
  std::int64_t cells = 0;
  for (const WindowGroup& g : groups) {
    cells += g.window.volume();
    for (const std::int32_t m : g.members) shared[static_cast<std::size_t>(m)] = true;
  }
  for (std::size_t n = 0; n < shared.size(); ++n) cells += shared[n] ? 0 : boxes.windows[n].volume();
  return cells;
}

TEST(WindowGroups, ABoxOfPatchesIsOneGroupWithoutWaste) {
  const Boxes boxes = picture({"####", "####", "####"}, 2, 2);
  const auto groups = groupsOf(boxes);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].window, (Box{{-2, -2, 0}, {10, 8, 1}}));
  EXPECT_EQ(groups[0].members.size(), 12U);
  EXPECT_TRUE(groups[0].full);
  EXPECT_EQ(distinctCells(boxes.windows), 12 * 10);
}

TEST(WindowGroups, FewCopiesStayPrivate) {
  const Boxes boxes = picture({"####", "####"}, 8, 2);  // 8 x 12 x 12 cells for 36 x 20 distinct ones: 1.6
  EXPECT_THAT(groupsOf(boxes, 1.61), IsEmpty());
  EXPECT_EQ(groupsOf(boxes, 1.59).size(), 1U);
  EXPECT_THAT(groupsOf(picture({"#"}, 2, 8)), IsEmpty());
  EXPECT_THAT(groupWindows({}, {}, 1.0), IsEmpty());
}

TEST(WindowGroups, PatchesFarFromOneAnotherAreGroupsOfTheirOwn) {
  const Boxes boxes = picture({"###....................###", "###....................###"}, 2, 3);
  const auto groups = groupsOf(boxes);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_THAT(groups[0].members, ElementsAre(0, 1, 2, 6, 7, 8));
  EXPECT_THAT(groups[1].members, ElementsAre(3, 4, 5, 9, 10, 11));
  EXPECT_EQ(stored(boxes, groups), distinctCells(boxes.windows));
}

TEST(WindowGroups, AnLIsCutWhereThatLeavesTheVoidOut) {
  const Boxes boxes = picture(
      {
          "##........",
          "##........",
          "##........",
          "##........",
          "##........",
          "##########",
          "##########",
      },
      4, 4);
  const auto groups = groupsOf(boxes);
  ASSERT_EQ(groups.size(), 2U);
  // The bar of 40 x 8 and the arm of 8 x 20, each grown by 4; the bounding box would take 48 x 36.
  EXPECT_EQ(stored(boxes, groups), 48 * 16 + 16 * 28);
  EXPECT_TRUE(groups[0].full && groups[1].full);
}

TEST(WindowGroups, AVoidThatTheHaloFillsIsNotCutOut) {
  const Boxes boxes = picture({"##..", "##..", "####", "####"}, 2, 4);
  const auto one = groupsOf(boxes);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_FALSE(one[0].full);
  EXPECT_EQ(stored(boxes, one), 16 * 16);
}

TEST(WindowGroups, APlusIsCutIntoItsBars) {
  const std::string thin = "........##........";
  std::vector<std::string> lines(18, thin);
  lines[8] = lines[9] = std::string(18, '#');
  const Boxes boxes = picture(lines, 4, 4);
  const auto groups = groupsOf(boxes);
  EXPECT_EQ(groups.size(), 3U);
  EXPECT_LT(stored(boxes, groups), 80 * 80 / 2);
  EXPECT_LT(static_cast<double>(stored(boxes, groups)),
            1.2 * static_cast<double>(distinctCells(boxes.windows)));
}

/// Random sets of tiles: every window lies in the one that it is stored in, nothing is in two groups, and
/// sharing never takes more than private copies.
TEST(WindowGroups, HoldEveryWindowAndNeverTakeMoreThanPrivateCopies) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<std::string> lines(1 + random() % 9, std::string(1 + random() % 9, '.'));
    for (std::string& line : lines) {
      for (char& c : line) c = random() % 100 < 70 ? '#' : '.';
    }
    const Boxes boxes =
        picture(lines, 1 + static_cast<std::int64_t>(random() % 3), static_cast<std::int64_t>(random() % 5));
    const auto groups = groupsOf(boxes);
    std::vector<int> uses(boxes.windows.size(), 0);
    std::int64_t alone = 0;
    for (const Box& b : boxes.windows) alone += b.volume();
    for (const WindowGroup& g : groups) {
      EXPECT_GE(g.members.size(), 2U);
      for (const std::int32_t m : g.members) {
        EXPECT_TRUE(g.window.contains(boxes.windows[static_cast<std::size_t>(m)]));
        EXPECT_EQ(++uses[static_cast<std::size_t>(m)], 1);
      }
    }
    EXPECT_LE(stored(boxes, groups), alone);
  }
}

TEST(DistinctCells, CountEachCellOnce) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
    };
    std::vector<Box> boxes(6);
    for (Box& b : boxes) {
      b.lo = {below(6), below(6), below(6)};
      b.hi = b.lo + Index{below(4), below(4), below(4)};
    }
    std::int64_t expected = 0;
    for (std::int64_t n = 0; n < 1000; ++n) {
      const Index x{n % 10, n / 10 % 10, n / 100};
      for (const Box& b : boxes) {
        if (!b.contains(x)) continue;
        ++expected;
        break;
      }
    }
    EXPECT_EQ(distinctCells(boxes), expected);
  }
  EXPECT_EQ(distinctCells({}), 0);
}

}  // namespace
}  // namespace tessera
