#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/geometry/box.hpp"

namespace tessera {

/// Memory is mapped in pages of this size. Where those of the machine are larger nothing is packed.
inline constexpr std::int64_t kPageBytes = 4'096;

/// How one box of indices with fixed strides is kept without the holes in it. The addresses of a box are
/// cheap, its memory is not: slabs, the indices of one value of the outer axis, are mapped to memory one by
/// one, so that several lie in the same pages, each in what the rows of the others leave free. An index then
/// has an address by strides like in any field, and each index in use has memory of its own; indices in a
/// hole have the memory of others, or none.
///
///   address of slab 0, rows of 4 and 2:   aaaa.. aaaa.. aaaa..
///   address of slab 7:                    bb.... bb.... bb....
///   memory of both:                       aaaabb aaaabb aaaabb
struct PackedWindow {
  Box window;                   ///< indices with an address
  int outer = 2;                ///< axis of the slabs: 1 or 2; rows follow one another along the other
  std::int64_t rowStride = 0;   ///< elements from row to row
  std::int64_t slabStride = 0;  ///< elements from slab to slab
  std::vector<Box> slabs;       ///< indices in use, by slab
  /// Page of memory that the page of the first address of a slab (that of `window.lo` in it) is mapped to;
  /// may be negative where the first rows are not in use.
  std::vector<std::int64_t> pages;
  std::int64_t memoryPages = 0;  ///< from the first page of memory to the last
  std::int64_t bytes = 0;        ///< of the pages of memory that hold an index in use

  friend bool operator==(const PackedWindow&, const PackedWindow&) = default;
};

/// Where a slab is mapped: pages of addresses, counted from the page of `window.lo`, and the page of memory
/// of the first of them. None for a slab without indices in use.
struct SlabPages {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t memory = 0;
};
SlabPages slabPages(const PackedWindow& packed, std::size_t slab, std::int64_t elementBytes);
/// Of all slabs together, those that hold nothing included.
std::int64_t addressPages(const PackedWindow& packed, std::int64_t elementBytes);

/// Packs the parts of `window` that are in use, as their hull in each slab; nothing where that would take
/// more than `limit` bytes. Pure: the same from the same boxes. Rows keep their alignment to 64 bytes
/// relative to `window.lo`.
///
/// A search over strides, each tried by putting the slabs one after another where they come to lie lowest;
/// bounded to a few tenths of a second, and done at once where whole pages are holes.
std::optional<PackedWindow> packWindow(const Box& window, std::span<const Box> parts,
                                       std::int64_t elementBytes, std::int64_t limit);

}  // namespace tessera
