// Fast ways of moves on the host, against each word by itself, as devices do it.
#include "datawarehouse/moves/region_op.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tessera {
namespace {

/// Numbers in steps, so that some neighbours are alike.
std::vector<double> rough(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> numbers(count);
  for (double& number : numbers)
    number = std::floor(8.0 * static_cast<double>(random() >> 11U) * 0x1p-53) / 3.0;
  return numbers;
}

void byWord(const RegionOp& op, const detail::RegionWord& word) {
  if (detail::isMoved(op.kind)) return detail::moveWord(word.to, word.from, op.wordBytes);
  detail::computeWord(op, word, 0.0);
}

void runByWords(const RegionOp& op, std::byte* to, const std::byte* from) {
  for (std::uint32_t w = 0; w < op.words(); ++w)
    byWord(op, detail::wordOf(op, to + op.toFirst, from + op.fromFirst, w));
}

TEST(RegionOp, LimitedLinesOfCoarseCellsAreThoseOfEachWordByItself) {
  const Layout coarse(Box{{-4, -4, -4}, {15, 16, 17}}, false, false);
  const Layout fine(Box{{-6, -6, -6}, {18, 17, 16}}, false, false);
  const ElementType type{Scalar::Float64, 3, NumberOrder::Apart};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    RegionMove move;
    move.kind = MoveKind::Limited;
    for (int d = 0; d < kAxes; ++d) {
      move.ratio[d] = std::int64_t{1} << (random() % 3);
      move.region.lo[d] = static_cast<std::int64_t>(random() % 6) - 2;
      move.region.hi[d] = move.region.lo[d] + 1 + static_cast<std::int64_t>(random() % 8);
    }
    const RegionOp op = regionOp(move, fine, coarse, type);
    const std::vector<double> from = rough(static_cast<std::size_t>(coarse.elements() * type.planes()), seed);
    std::vector<double> right(static_cast<std::size_t>(fine.elements() * type.planes()), -1.0);
    std::vector<double> found = right;
    const auto* source = reinterpret_cast<const std::byte*>(from.data());

    runByWords(op, reinterpret_cast<std::byte*>(right.data()), source);
    runRegion(op, reinterpret_cast<std::byte*>(found.data()), source);

    EXPECT_EQ(found, right) << "seed " << seed;
  }
}

// Rows of halos at walls, forwards, backwards, and of one number; with minus or as they are.
TEST(RegionOp, RowsOfMirroredNumbersAreThoseOfEachWordByItself) {
  const Layout layout(Box{{-6, -6, -6}, {18, 17, 16}}, false, false);
  const ElementType type{Scalar::Float64, 3, NumberOrder::Apart};
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    RegionMove move;
    move.kind = MoveKind::Prolong;
    for (int d = 0; d < kAxes; ++d) {
      move.region.lo[d] = static_cast<std::int64_t>(random() % 6) + 4;
      move.region.hi[d] = move.region.lo[d] + 1 + static_cast<std::int64_t>(random() % 6);
      if (d > 0) move.ratio[d] = std::int64_t{1} << (random() % 2);
    }
    RegionOp op = regionOp(move, layout, layout, type);
    op.fromI *= static_cast<std::int64_t>(random() % 3) - 1;
    if (seed % 2 == 0) {
      op.kind = RegionKind::Negate;
      for (int d = 0; d < 3; ++d) op.ratio[d] = 1;
    }
    const std::vector<double> from = rough(static_cast<std::size_t>(layout.elements() * type.planes()), seed);
    std::vector<double> right(from.size(), -7.0);
    std::vector<double> found = right;
    const auto* source = reinterpret_cast<const std::byte*>(from.data());

    runByWords(op, reinterpret_cast<std::byte*>(right.data()), source);
    runRegion(op, reinterpret_cast<std::byte*>(found.data()), source);

    EXPECT_EQ(found, right) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tessera
