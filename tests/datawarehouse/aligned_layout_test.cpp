#include "datawarehouse/moves/aligned_layout.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(AlignedLayout, EachRowOfTheInteriorStartsASector) {
  const Box interior{{5, 0, -2}, {37, 3, 2}};
  const Layout plain(grow(interior, uniformHalo(1)), false, false);
  const AlignedLayout aligned = alignRows(plain, interior);

  EXPECT_EQ(aligned.lead, 3);
  EXPECT_EQ(aligned.layout.strideJ, 36);
  for (std::int64_t k = -2; k < 2; ++k) {
    for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ((aligned.lead + aligned.layout.at({5, j, k})) % 4, 0);
  }
}

TEST(AlignedLayout, EveryIndexOfTheWindowHasAnElementOfItsOwnInsideTheMemory) {
  const Box interior{{0, 0, 0}, {3, 4, 2}};
  const Layout plain(grow(interior, {{2, 1, 0}, {1, 1, 3}}), false, false);
  const AlignedLayout aligned = alignRows(plain, interior);

  std::set<std::int64_t> seen;
  for (std::int64_t k = plain.window.lo.k; k < plain.window.hi.k; ++k) {
    for (std::int64_t j = plain.window.lo.j; j < plain.window.hi.j; ++j) {
      for (std::int64_t i = plain.window.lo.i; i < plain.window.hi.i; ++i) {
        const std::int64_t at = aligned.lead + aligned.layout.at({i, j, k});
        EXPECT_GE(at, 0);
        EXPECT_LT(at, aligned.elements);
        seen.insert(at);
      }
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), plain.elements());
}

TEST(AlignedLayout, AFlatAxisKeepsItsStrideOfZero) {
  const Box interior{{0, 0, 0}, {10, 1, 1}};
  const AlignedLayout aligned = alignRows(Layout(interior, true, true), interior);

  EXPECT_EQ(aligned.layout.strideJ, 0);
  EXPECT_EQ(aligned.layout.strideK, 0);
  EXPECT_EQ(aligned.elements, 12);
}

}  // namespace
}  // namespace tessera
