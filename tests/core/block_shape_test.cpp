#include "core/exec/block_shape.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/exec/patch_part.hpp"
#include "core/exec/patch_walk.hpp"

namespace tessera {
namespace {

/// How often the threads of a launch come to each cell of a box; i fastest.
std::vector<int> visits(const Box& box, const BlockShape& shape) {
  const Extent n = box.extent();
  std::vector<int> times(static_cast<std::size_t>(box.volume()), 0);
  for (std::int32_t block = 0; block < shape.blocksEach; ++block) {
    for (std::int32_t thread = 0; thread < kBlockThreads; ++thread) {
      const detail::Column column = detail::columnOf(box, shape, block, thread);
      for (std::int32_t k = 0; k < column.planes; ++k) {
        for (std::int32_t j = 0; j < column.rows; ++j) {
          const Index at = column.first + Index{0, j, k} - box.lo;
          if (!box.contains(at + box.lo)) {
            ADD_FAILURE() << "outside of the box: " << asText(at);
            return times;
          }
          ++times[static_cast<std::size_t>(at.i + n.i * (at.j + n.j * at.k))];
        }
      }
    }
  }
  return times;
}

void expectOnceEach(const std::vector<Box>& boxes, std::int32_t parts) {
  for (const LoopWalk walk : {LoopWalk::Unrolled, LoopWalk::OneCell}) {
    const BlockShape shape = shapeBlocks(boxes, parts, walk);
    for (const Box& box : boxes) {
      for (std::int32_t part = 0; part < parts; ++part) {
        const Box cells = partOf(box, {part, parts});
        EXPECT_EQ(visits(cells, shape), std::vector<int>(static_cast<std::size_t>(cells.volume()), 1))
            << asText(cells) << " among " << boxes.size() << " boxes";
      }
    }
  }
}

TEST(BlockShape, ThreadsComeToEachCellOnce) {
  expectOnceEach({{{0, 0, 0}, {64, 64, 64}}}, 1);
  expectOnceEach({{{0, 0, 0}, {1000, 1, 1}}, {{3, 3, 3}, {20, 4, 4}}}, 1);
  expectOnceEach({{{-5, -6, -7}, {60, 1, 30}}, {{0, 0, 0}, {1, 70, 1}}, {{0, 0, 0}, {0, 5, 5}}}, 3);
}

TEST(BlockShape, ThreadsComeToEachCellOnceInBoxesOfRandomSizes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("replay: seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> low(-50, 50);
  std::uniform_int_distribution<std::int64_t> size(1, 40);
  std::uniform_int_distribution<std::int32_t> parts(1, 4);
  for (int round = 0; round < 20; ++round) {
    std::vector<Box> boxes(3);
    for (Box& box : boxes) {
      box.lo = {low(random), low(random), low(random)};
      box.hi = box.lo + Extent{size(random), size(random), size(random)};
    }
    expectOnceEach(boxes, parts(random));
  }
}

TEST(BlockShape, ASmallPatchIsOneFullBlock) {
  // 16 x 8 pairs of rows x 2 stretches of 8 planes are 256 threads.
  EXPECT_EQ(shapeBlocks(std::vector<Box>{{{0, 0, 0}, {16, 16, 16}}}).blocksEach, 1);
  // 32 x 16 pairs of rows x 2 stretches of 16 planes are four times 256.
  EXPECT_EQ(shapeBlocks(std::vector<Box>{{{0, 0, 0}, {32, 32, 32}}}).blocksEach, 4);
}

TEST(BlockShape, HeavyKernelsHaveAThreadForEachCell) {
  const Box patch{{0, 0, 0}, {16, 16, 16}};
  const BlockShape shape = shapeBlocks(std::vector<Box>{patch}, 1, LoopWalk::OneCell);
  EXPECT_EQ(shape.blocksEach * kBlockThreads, 4096);
  for (std::int32_t thread = 0; thread < kBlockThreads; ++thread) {
    const detail::Column column = detail::columnOf(patch, shape, 3, thread);
    EXPECT_EQ(column.rows * column.planes, 1);
  }
}

}  // namespace
}  // namespace tessera
