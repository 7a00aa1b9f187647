#include "scheduler/step/prefetch_list.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tessera {
namespace {

using detail::PrefetchList;

constexpr std::int64_t kLine = 64;  // bytes

/// Cells [0,n) of doubles, rows of whole cache lines.
Layout cubeOf(std::int64_t n) { return {Box{{0, 0, 0}, {n, n, n}}, false, false}; }

std::vector<std::int64_t> linesOf(const PrefetchList& list, const std::byte* memory) {
  std::vector<PrefetchLines> entries;
  list.addTo(entries, [&](std::size_t) { return memory; });
  EXPECT_EQ(entries.size(), list.size());
  Prefetcher ahead;
  ahead.begin(entries, 1);
  std::vector<std::int64_t> lines;
  while (!ahead.empty()) lines.push_back((ahead.pass() - memory) / kLine);
  return lines;
}

std::set<std::int64_t> linesRead(const RegionOp& copy) {
  std::set<std::int64_t> lines;
  for (std::int64_t k = 0; k < copy.planes; ++k) {
    for (std::int64_t j = 0; j < copy.rows; ++j) {
      const std::int64_t row = copy.fromFirst + k * copy.fromK + j * copy.fromJ;
      for (std::int64_t at = row; at < row + copy.rowWords * copy.wordBytes; ++at) lines.insert(at / kLine);
    }
  }
  return lines;
}

class LinesOfCopies : public testing::TestWithParam<Box> {};

TEST_P(LinesOfCopies, EachLineThatACopyReadsOnce) {
  const Layout cube = cubeOf(16);
  const RegionOp copy = copyOp(cube, cube, GetParam(), {}, 8);
  alignas(kLine) static std::byte memory[16 * 16 * 16 * 8];

  const std::vector<std::int64_t> lines = linesOf(PrefetchList({copy}), memory);

  EXPECT_EQ(lines.size(), std::set(lines.begin(), lines.end()).size());
  EXPECT_EQ(std::set(lines.begin(), lines.end()), linesRead(copy));
}

INSTANTIATE_TEST_SUITE_P(Regions, LinesOfCopies,
                         testing::Values(Box{{0, 0, 0}, {16, 16, 16}}, Box{{15, 0, 0}, {16, 16, 16}},
                                         Box{{0, 0, 0}, {1, 16, 16}}, Box{{0, 15, 0}, {16, 16, 16}},
                                         Box{{0, 0, 0}, {16, 16, 1}}, Box{{6, 3, 2}, {10, 5, 7}},
                                         Box{{15, 15, 15}, {16, 16, 16}}));

TEST(PrefetchList, OfAFaceAcrossXIsOneEntry) {
  const Layout cube = cubeOf(16);
  const auto face = copyOp(cube, cube, Box{{15, 0, 0}, {16, 16, 16}}, {}, 8);
  EXPECT_EQ(PrefetchList({face}).size(), 1u);
}

TEST(PrefetchList, LeavesOutCopiesWithoutMemory) {
  const Layout cube = cubeOf(8);
  const auto low = copyOp(cube, cube, Box{{0, 0, 0}, {8, 8, 1}}, {}, 8);
  const auto high = copyOp(cube, cube, Box{{0, 0, 7}, {8, 8, 8}}, {}, 8);
  alignas(kLine) static std::byte memory[8 * 8 * 8 * 8];
  std::vector<PrefetchLines> entries;

  PrefetchList({low, high, low}).addTo(entries, [](std::size_t n) { return n == 1 ? memory : nullptr; });

  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].first, memory + 7 * 8 * kLine);
  EXPECT_EQ(entries[0].count, 8);
}

TEST(Prefetcher, SharesLinesEvenlyAmongRows) {
  alignas(kLine) static std::byte memory[7 * kLine];
  const PrefetchLines pieces[] = {{memory, kLine, 3}, {memory, kLine, 0}, {memory + 3 * kLine, 2 * kLine, 2}};
  Prefetcher ahead;
  ahead.begin(pieces, 3);

  ahead.afterRow();
  EXPECT_EQ(ahead.pass(), memory + 2 * kLine);
  ahead.afterRow();
  EXPECT_TRUE(ahead.empty());
  ahead.afterRow();
  EXPECT_TRUE(ahead.empty());
}

TEST(Prefetcher, OfNothingIsEmpty) {
  Prefetcher ahead;
  ahead.begin({}, 4);
  ahead.afterRow();
  EXPECT_TRUE(ahead.empty());
}

}  // namespace
}  // namespace tessera
