#include "core/patch_walk.hpp"

#include <algorithm>

#include "core/contracts.hpp"

namespace tessera {

BlockShape shapeBlocks(std::span<const Box> boxes, std::int32_t parts) {
  Extent largest{0, 0, 0};
  for (const Box& box : boxes) widen(largest, box, parts);
  return shapeBlocks(largest);
}

BlockShape shapeBlocks(const Extent& largest) {
  BlockShape shape;
  // A line of cells has nothing for threads along y to do, and narrow patches little along x.
  if (largest.j == 1) shape.tileShift = 8;
  while (shape.tileShift > 3 && (std::int64_t{1} << (shape.tileShift - 1)) >= largest.i) --shape.tileShift;
  const std::int64_t tileI = std::int64_t{1} << shape.tileShift;
  const std::int64_t tileJ = kBlockThreads / tileI;
  const auto pieces = [](std::int64_t n, std::int64_t size) { return (n + size - 1) / size; };
  shape.depth =
      static_cast<std::int32_t>(std::min<std::int64_t>(kUnrolled, std::max<std::int64_t>(largest.k, 1)));
  const std::int64_t blocks =
      pieces(largest.i, tileI) * pieces(largest.j, tileJ) * pieces(largest.k, shape.depth);
  TESSERA_EXPECT(blocks <= INT32_MAX,
                 "cut the domain into smaller patches: a launch has at most 2^31 - 1 blocks");
  shape.blocksEach = static_cast<std::int32_t>(blocks);
  return shape;
}

}  // namespace tessera
