#include "core/exec/block_shape.hpp"

#include "core/exec/patch_part.hpp"
#include "core/text/contracts.hpp"

namespace tessera {

namespace {

std::int64_t pieces(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

}  // namespace

BlockShape shapeBlocks(std::span<const Box> boxes, std::int32_t parts, LoopWalk walk) {
  Extent largest{0, 0, 0};
  for (const Box& box : boxes) widen(largest, box, parts);
  return shapeBlocks(largest, walk);
}

BlockShape shapeBlocks(const Extent& largest, LoopWalk walk) {
  BlockShape shape;
  static_assert(kRows == 2, "as many rows as BlockShape::rowShift says");
  if (walk == LoopWalk::OneCell) {
    shape.depth = 1;
    shape.rowShift = 0;
  }
  // A line of cells has nothing for threads along y to do, and narrow patches little along x.
  if (largest.j == 1) shape.tileShift = 8;
  while (shape.tileShift > 3 && (std::int64_t{1} << (shape.tileShift - 1)) >= largest.i) --shape.tileShift;
  const std::int64_t tilesI = pieces(largest.i, std::int64_t{1} << shape.tileShift);
  const std::int64_t bands = pieces(largest.j, std::int64_t{1} << shape.rowShift);
  const std::int64_t threadRows = kBlockThreads >> shape.tileShift;
  // A patch that fills no block with deep columns has shorter ones and more of them.
  if (shape.depth > 1 && bands * pieces(largest.k, shape.depth) < threadRows) shape.depth = kUnrolled;
  const std::int64_t blocks = tilesI * pieces(bands * pieces(largest.k, shape.depth), threadRows);
  TESSERA_EXPECT(blocks <= INT32_MAX / threadRows,
                 "cut the domain into smaller patches: a launch has at most 2^31 - 1 rows of threads");
  shape.blocksEach = static_cast<std::int32_t>(blocks);
  return shape;
}

}  // namespace tessera
