#pragma once

#include <cstdint>

#include "core/exec/patch_part.hpp"

namespace tessera {

/// Memory of a device in one piece.
struct MemoryPiece {
  const void* memory = nullptr;
  std::int64_t bytes = 0;
};

/// How many pieces of memory a launch can be told to read ahead in each patch.
inline constexpr int kPrefetches = 4;

#if defined(__CUDACC__)

namespace detail {

/// Has the device bring a block's shares of what its patch reads into its
/// cache; for all threads of a block.
__device__ inline void prefetchWindows([[maybe_unused]] const MemoryPiece* pieces,
                                       [[maybe_unused]] PatchPart part,
                                       [[maybe_unused]] std::uint32_t blocksEach,
                                       [[maybe_unused]] std::int32_t block) {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x != 0) return;
  const std::int64_t share = std::int64_t{part.part} * blocksEach + block;
  const std::int64_t shares = std::int64_t{part.parts} * blocksEach;
  for (int n = 0; n < kPrefetches; ++n) {
    const auto base = reinterpret_cast<std::uintptr_t>(pieces[n].memory);
    const std::uintptr_t begin = (base + pieces[n].bytes * share / shares) & ~std::uintptr_t{15};
    const std::uintptr_t end = (base + pieces[n].bytes * (share + 1) / shares) & ~std::uintptr_t{15};
    if (begin == end) continue;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin),
                 "r"(static_cast<std::uint32_t>(end - begin)));
  }
#endif
}

}  // namespace detail

#endif

}  // namespace tessera
