#pragma once

#include <cstdint>

#include "core/exec/block_shape.hpp"
#include "core/geometry/box.hpp"
#include "core/kernel.hpp"

// How the threads of one launch walk over many patches. Read by nvcc and by the
// compiler of the host.

namespace tessera::detail {

/// The cells of one thread: one or kRows rows of one column along z.
struct Column {
  Index first;
  std::int32_t rows = 0;  ///< less than those of the shape at the border; 0 where the thread
                          ///< has nothing to do
  std::int32_t planes = 0;
};

/// The column of `thread` in a block of a patch. Threads that a tile leaves
/// over along y go on in the slab above, so small and uneven patches leave few
/// of them idle.
TESSERA_KERNEL constexpr Column columnOf(const Box& box, const BlockShape& shape, std::int32_t block,
                                         std::int32_t thread) {
  // A patch has less than 2^31 cells along an axis: narrow numbers leave the
  // kernel more registers.
  const auto nI = static_cast<std::int32_t>(box.hi.i - box.lo.i);
  const auto nJ = static_cast<std::int32_t>(box.hi.j - box.lo.j);
  const auto nK = static_cast<std::int32_t>(box.hi.k - box.lo.k);
  if (nI <= 0 || nJ <= 0 || nK <= 0) return {};
  const std::int32_t tilesI = (nI + (1 << shape.tileShift) - 1) >> shape.tileShift;
  const std::int32_t rows = 1 << shape.rowShift;
  const std::int32_t bands = (nJ + rows - 1) >> shape.rowShift;
  const std::int32_t blockRow = block / tilesI;
  const std::int32_t item = blockRow * (kBlockThreads >> shape.tileShift) + (thread >> shape.tileShift);
  const std::int32_t slab = item / bands;
  const std::int32_t i =
      ((block - blockRow * tilesI) << shape.tileShift) + (thread & ((1 << shape.tileShift) - 1));
  const std::int32_t j = (item - slab * bands) << shape.rowShift;
  const std::int32_t k = slab * shape.depth;
  if (i >= nI || k >= nK) return {};
  return {{box.lo.i + i, box.lo.j + j, box.lo.k + k},
          nJ - j < rows ? nJ - j : rows,
          nK - k < shape.depth ? nK - k : shape.depth};
}

#if defined(__CUDACC__)

/// Runs the kernel on a column, as calls of `kernel(patchAt(slot).arguments,
/// Index)`. Without `kUnrolls` one cell after the other, in code that is
/// shorter and slower.
template <bool kUnrolls = true, class Kernel, class PatchAt>
__device__ void walk(const Kernel& kernel, const PatchAt& patchAt, std::uint32_t slot, Column column) {
  if (kUnrolls && column.rows == kRows) {
#pragma unroll 1
    for (; column.planes >= kUnrolled; column.planes -= kUnrolled, column.first.k += kUnrolled) {
      // The fields are loaded again for each stretch of planes, from a number
      // that the compiler cannot see through: else it would hold an address of
      // its own for each plane and field across the loop.
      asm volatile("" : "+r"(slot));
      const auto arguments = patchAt(slot).arguments;
      const Index x = column.first;
      // Neighbours are loaded once for all cells of the stretch, and many at
      // once.
#pragma unroll
      for (std::int32_t k = 0; k < kUnrolled; ++k) {
#pragma unroll
        for (std::int32_t j = 0; j < kRows; ++j) kernel(arguments, {x.i, x.j + j, x.k + k});
      }
    }
  }
#pragma unroll 1
  for (; column.planes > 0; --column.planes, ++column.first.k) {
    asm volatile("" : "+r"(slot));
    const auto arguments = patchAt(slot).arguments;
    const Index x = column.first;
#pragma unroll 1
    for (std::int32_t j = 0; j < column.rows; ++j) kernel(arguments, {x.i, x.j + j, x.k});
  }
}

#endif

}  // namespace tessera::detail
