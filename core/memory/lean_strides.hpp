#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/geometry/box.hpp"

namespace tessera {

/// Strides of a box of indices by which those in use lie closer together than in a box, and each has memory
/// of its own all the same. For memory whose pages are too large for PackedWindow.
///
///   box:    aaaa aaaa aa.. aa..            bbbb bbbb bb.. bb..
///   lean:   aaaa.. aaaa.. aabbbb aabbbb bb.... bb....
///
/// Here rows of 4 and of 2 share lines of 6: two lines further than slab a, and two elements, slab b begins.
struct LeanStrides {
  std::int64_t strideJ = 0;
  std::int64_t strideK = 0;
  std::int64_t elements = 0;  ///< from that of `window.lo` to the last in use
  friend bool operator==(const LeanStrides&, const LeanStrides&) = default;
};

/// For the indices of `window` that lie in one of the `parts`, where all their cross-sections along z, or all
/// along y, are alike, in few kinds of rows; else nothing, as where a box takes less than `worth` times what
/// is found. Strides are multiples of `grain`. Pure: the same from the same boxes.
///
/// A search: slabs a little farther apart than what is in use of one, the nearest first, and for each all
/// distances of rows. Where borders of rows have a common divisor, strides are multiples of that, so that it
/// takes milliseconds for 512^3; it is given up after a second.
std::optional<LeanStrides> leanStrides(const Box& window, std::span<const Box> parts, std::int64_t grain,
                                       double worth = 1.02);

}  // namespace tessera
