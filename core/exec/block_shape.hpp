#pragma once

#include <cstdint>
#include <span>

#include "core/geometry/box.hpp"

namespace tessera {

/// Threads of a block.
inline constexpr std::int32_t kBlockThreads = 256;

/// Blocks that a multiprocessor shall at least hold at once: leaves each thread 128 registers. A kernel that
/// needs fewer has more blocks at once.
inline constexpr int kBlocksAtOnce = 2;

/// Cells that a thread does without a loop: rows next to each other, which share a row that both read, times
/// planes. On an H200 the best of 1 to 8 rows and 2 to 32 planes, with 32 to 128 registers.
inline constexpr std::int32_t kRows = 2;
inline constexpr std::int32_t kUnrolled = 8;

/// How the threads of a launch share out the cells of a patch.
enum class LoopWalk : std::uint8_t {
  Unrolled,    ///< columns of kRows rows and many planes, kUnrolled planes of them without a loop: stencils
  CellByCell,  ///< the same columns, one cell after the other: short code
  OneCell,     ///< a thread for each cell, with all registers: kernels that do much for each
};

/// How the thread blocks of a launch lie on each patch: tiles in (x, y), which walk along z.
struct BlockShape {
  std::int32_t tileShift = 6;          ///< a tile has 2^tileShift threads along x and the rest along y
  std::int32_t depth = 2 * kUnrolled;  ///< planes that a thread walks through
  std::int32_t rowShift = 1;           ///< a thread does 2^rowShift rows; kRows or 1
  std::int32_t blocksEach = 0;         ///< for the largest patch; smaller ones leave the last of theirs idle
};

/// A shape that fits `boxes`, each cut into `parts`.
BlockShape shapeBlocks(std::span<const Box> boxes, std::int32_t parts = 1,
                       LoopWalk walk = LoopWalk::Unrolled);

/// A shape that fits boxes of at most `largest` cells along each axis; no blocks where an axis has none.
BlockShape shapeBlocks(const Extent& largest, LoopWalk walk = LoopWalk::Unrolled);

}  // namespace tessera
