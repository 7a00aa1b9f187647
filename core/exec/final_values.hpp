#pragma once

#include <cstdint>

#include "core/exec/kernel_errors.hpp"
#include "core/exec/patch_walk.hpp"

namespace tessera {

/// How many outputs of a task can be looked at by the loop that writes them.
inline constexpr int kFinalValues = 2;

/// Numbers that a loop gives their final values, each at its own index: the threads that wrote them look for
/// NaN and infinity in them. As words of four bytes, of which one a number has the exponent. Trivially
/// copyable; empty where `words` is null.
struct FinalValues {
  const std::uint32_t* words = nullptr;  ///< of index (0, 0, 0)
  std::int64_t strideJ = 0;              ///< in words
  std::int64_t strideK = 0;
  std::int32_t components = 1;  ///< numbers an index
  bool isDouble = true;
  KernelErrors findings;

  TESSERA_KERNEL std::int32_t wordsEach() const { return isDouble ? 2 : 1; }
  TESSERA_KERNEL const std::uint32_t* at(Index x) const {
    return words + x.i * (wordsEach() * components) + x.j * strideJ + x.k * strideK;
  }
  /// All bits of the exponent, in its word.
  TESSERA_KERNEL std::uint32_t mask() const { return isDouble ? 0x7FF00000U : 0x7F800000U; }
};

namespace detail {

/// Whether a number at `x` is not finite; notes the first one. `corner` is that of the declaration.
TESSERA_KERNEL inline void lookAt(const FinalValues& values, Index x, Index corner) {
  const std::int32_t each = values.wordsEach();
  const std::uint32_t* words = values.at(x);
  for (std::int32_t n = 0; n < values.components; ++n, words += each) {
    const std::uint32_t high = words[each - 1];
    if ((high & values.mask()) != values.mask()) continue;
    const bool isMinus = (high >> 31) != 0;
    const bool isNan = (high & ~(values.mask() | 0x80000000U)) != 0 || (values.isDouble && words[0] != 0);
    const auto kind = isNan ? (isMinus ? NonFinite::MinusNan : NonFinite::Nan)
                            : (isMinus ? NonFinite::MinusInfinity : NonFinite::Infinity);
    values.findings.note(KernelError::NonFinite, {x - corner, kind});
    return;
  }
}

#if defined(__CUDACC__)

/// Looks at what the thread itself has written in its column.
__device__ inline void lookAtColumn(const FinalValues& values, Column column, Index corner) {
  const std::uint32_t mask = values.mask();
  const std::int32_t each = values.wordsEach();
  const std::uint32_t* exponents = values.at(column.first) + (each - 1);
  bool doubtful = false;
  for (std::int32_t n = 0; n < values.components; ++n) {
    for (std::int32_t j = 0; j < column.rows; ++j) {
      const std::uint32_t* row = exponents + n * each + j * values.strideJ;
#pragma unroll 8
      for (std::int32_t k = 0; k < column.planes; ++k) {
        doubtful = (row[k * values.strideK] & mask) == mask || doubtful;
      }
    }
  }
  if (!doubtful) return;
  for (std::int32_t k = 0; k < column.planes; ++k) {
    for (std::int32_t j = 0; j < column.rows; ++j) {
      lookAt(values, {column.first.i, column.first.j + j, column.first.k + k}, corner);
    }
  }
}

#endif

}  // namespace detail
}  // namespace tessera
