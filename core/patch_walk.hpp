#pragma once

#include <cstdint>
#include <span>

#include "core/box.hpp"
#include "core/kernel.hpp"

// How the thread blocks of one launch walk over many patches. Read by nvcc and by the compiler of the host.

namespace tessera {

/// Planes that a thread walks through in one go.
inline constexpr std::int32_t kUnrolled = 16;

/// How the thread blocks of a launch lie on each patch: tiles in (x, y), which walk along z.
struct BlockShape {
  std::int32_t tileShift = 5;      ///< a tile has 2^tileShift threads along x and the rest along y
  std::int32_t depth = kUnrolled;  ///< planes that a block walks through
  std::int32_t blocksEach = 0;     ///< for the largest patch; smaller ones leave the last of theirs idle
};

/// Threads of a block.
inline constexpr std::int32_t kBlockThreads = 256;

/// Blocks that a multiprocessor shall hold at once: leaves each thread 64 registers. On an H200 a stencil is
/// as fast with 16 planes and 64 registers as with 8 and 32, and faster than with all else that was tried.
inline constexpr int kBlocksAtOnce = 4;

/// A shape that fits `boxes`, each cut into `parts`.
BlockShape shapeBlocks(std::span<const Box> boxes, std::int32_t parts = 1);

/// A shape that fits boxes of at most `largest` cells along each axis. An axis without cells: no blocks.
BlockShape shapeBlocks(const Extent& largest);

/// Which part of each patch a launch does, where a task's kernel is split over several streams.
struct PatchPart {
  std::int32_t part = 0;
  std::int32_t parts = 1;
};

namespace detail {

TESSERA_KERNEL constexpr void cut(std::int64_t& low, std::int64_t& high, PatchPart which) {
  const std::int64_t n = high - low;
  high = low + n * (which.part + 1) / which.parts;
  low += n * which.part / which.parts;
}

}  // namespace detail

/// That part of a box: whole planes across its last axis that has enough of them.
TESSERA_KERNEL constexpr Box partOf(Box box, PatchPart which) {
  // By name and not by number: an axis that is known only at run time would put the box into slow memory.
  if (box.hi.k - box.lo.k >= which.parts) {
    detail::cut(box.lo.k, box.hi.k, which);
  } else if (box.hi.j - box.lo.j >= which.parts) {
    detail::cut(box.lo.j, box.hi.j, which);
  } else {
    detail::cut(box.lo.i, box.hi.i, which);
  }
  return box;
}

/// Widens `largest` to hold each of the `parts` of a box.
inline void widen(Extent& largest, const Box& box, std::int32_t parts) {
  for (std::int32_t part = 0; part < parts; ++part) {
    const Extent n = partOf(box, {part, parts}).extent();
    if (n.i > largest.i) largest.i = n.i;
    if (n.j > largest.j) largest.j = n.j;
    if (n.k > largest.k) largest.k = n.k;
  }
}

#if defined(__CUDACC__)

namespace detail {

/// What one thread of a block does of a patch: a column of the tile, `depth` planes of it, as calls of
/// `visit(Index)`.
template <class Visit>
__device__ __forceinline__ void walkPatch(const BlockShape& shape, std::int32_t block, const Box& box,
                                          const Visit& visit) {
  // A patch has less than 2^31 cells along an axis: narrow numbers leave the kernel more registers.
  const auto nI = static_cast<std::int32_t>(box.hi.i - box.lo.i);
  const auto nJ = static_cast<std::int32_t>(box.hi.j - box.lo.j);
  const auto nK = static_cast<std::int32_t>(box.hi.k - box.lo.k);

  const std::int32_t tileJ = kBlockThreads >> shape.tileShift;
  const std::int32_t tilesI = (nI + (1 << shape.tileShift) - 1) >> shape.tileShift;
  const std::int32_t tilesJ = (nJ + tileJ - 1) / tileJ;
  if (tilesI <= 0 || tilesJ <= 0) return;
  const auto thread = static_cast<std::int32_t>(threadIdx.x);
  const std::int32_t row = block / tilesI;
  const std::int32_t slab = row / tilesJ;
  const std::int32_t i =
      ((block - row * tilesI) << shape.tileShift) + (thread & ((1 << shape.tileShift) - 1));
  const std::int32_t j = (row - slab * tilesJ) * tileJ + (thread >> shape.tileShift);
  const std::int32_t k = slab * shape.depth;
  if (i >= nI || j >= nJ || k >= nK) return;
  const std::int32_t planes = k + shape.depth < nK ? shape.depth : nK - k;
  const Index first{box.lo.i + i, box.lo.j + j, box.lo.k + k};
  if (planes == kUnrolled) {
    // Neighbours along z are loaded once for all of them, and many at once.
#pragma unroll
    for (std::int32_t n = 0; n < kUnrolled; ++n) visit(Index{first.i, first.j, first.k + n});
  } else {
    for (std::int32_t n = 0; n < planes; ++n) visit(Index{first.i, first.j, first.k + n});
  }
}

}  // namespace detail

#endif

}  // namespace tessera
