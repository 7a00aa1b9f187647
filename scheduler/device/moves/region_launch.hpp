#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/kernel.hpp"
#include "datawarehouse/moves/region_op.hpp"

namespace tessera::detail {

/// An operation in memory of a device, with what launches need beside it.
struct PlacedRegion {
  RegionOp op;
  std::byte* to = nullptr;  ///< first elements
  const std::byte* from = nullptr;
  std::int64_t firstValue = 0;  ///< of a condition
  std::uint8_t valueStep = 0;   ///< 0: one value for all indices
  bool valuesOfLaunch = false;  ///< else of the table
  /// Where not 0, `op` writes sectors that hold the end of a row and the begin of the next one, in words of
  /// half a sector: these are the elements of an end, the first ones of a sector, 1 or 2.
  std::uint8_t endElements = 0;
  std::uint8_t beginElements = 0;  ///< likewise, from `begins`: the last ones
  const std::byte* begins = nullptr;
  std::int64_t beginsJ = 0, beginsK = 0;  ///< steps of `begins`
};

/// What a thread block does: words `firstWord` ... of a row, which lie in `opCount` operations from
/// `firstOp`.
struct RegionBlock {
  std::int32_t firstOp = 0;
  std::int32_t opCount = 0;
  std::uint32_t firstWord = 0;
  std::uint32_t words = 0;
};

/// Blocks first, first + 1, ... of a table as blocks begin, begin + 1, ... of a launch.
struct RegionRun {
  std::int32_t first = 0;
  std::int32_t begin = 0;
};

/// Threads of a block, and words that they do.
inline constexpr std::uint32_t kRegionThreads = 256;
inline constexpr std::uint32_t kRegionWords = 1024;
/// Operations of a block at most: it has them at hand.
inline constexpr std::int32_t kRegionOps = 16;

/// A table as a kernel sees it.
struct RegionTableView {
  const PlacedRegion* ops = nullptr;
  const std::uint32_t* begins = nullptr;  ///< of each operation, words from the begin of its row
  const RegionBlock* blocks = nullptr;
  const double* values = nullptr;
};

/// Values of conditions that a launch brings along.
struct RegionLaunchValues {
  const double* values = nullptr;
  std::int64_t first = 0;  ///< number of the first of them
};

/// The argument of a kernel; at most 4 KiB.
template <int Runs>
struct RegionLaunch {
  RegionTableView table;
  RegionLaunchValues values;
  std::int32_t blockCount = 0;
  std::int32_t runCount = 0;
  RegionRun runs[Runs];  // NOLINT: a std::array's operator[] is no device function
};

/// Numbers as they were read, on their way.
struct MovedWord {
  std::byte* to = nullptr;  ///< null: nothing is to be written
  std::uint64_t first = 0;
  std::uint64_t second = 0;  ///< of half a sector
  std::uint32_t bytes = 0;
};

/// Half a sector of the end of a row, or of the begin of the next one.
TESSERA_KERNEL inline MovedWord readRowEnd(const PlacedRegion& placed, std::uint32_t w) {
  const std::uint32_t row = w / 2;
  const bool isEnd = w % 2 == 0;
  const std::uint32_t k = row / placed.op.rows;
  const std::uint32_t j = row - k * placed.op.rows;
  const std::byte* from = isEnd ? placed.from + j * placed.op.fromJ + k * placed.op.fromK
                                : placed.begins + j * placed.beginsJ + k * placed.beginsK;
  MovedWord moved;
  moved.to = placed.to + std::int64_t{w % 2} * placed.op.wordBytes + j * placed.op.toJ + k * placed.op.toK;
  moved.bytes = placed.op.wordBytes;
  auto* first = reinterpret_cast<std::byte*>(&moved.first);
  auto* second = reinterpret_cast<std::byte*>(&moved.second);
  if ((isEnd ? placed.endElements : placed.beginElements) == 2) {
    moveWord(first, from, 8);
    moveWord(second, from + 8, 8);
  } else {
    moveWord(isEnd ? first : second, from, 8);
  }
  return moved;
}

TESSERA_KERNEL inline void writeWord(const MovedWord& moved) {
  if (moved.to == nullptr) return;
  if (moved.bytes != 16)
    return moveWord(moved.to, reinterpret_cast<const std::byte*>(&moved.first), moved.bytes);
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<ulonglong2*>(moved.to) = make_ulonglong2(moved.first, moved.second);
#else
  std::memcpy(moved.to, &moved.first, 8);
  std::memcpy(moved.to + 8, &moved.second, 8);
#endif
}

/// Word `w` of an operation: reads one that is moved, and carries out one that is computed.
TESSERA_KERNEL inline MovedWord doWord(const PlacedRegion& placed, std::uint32_t w, const double* tableValues,
                                       const RegionLaunchValues& ofLaunch) {
  if (placed.endElements != 0) return readRowEnd(placed, w);
  const RegionWord word = wordOf(placed.op, placed.to, placed.from, w);
  MovedWord moved;
  if (isMoved(placed.op.kind)) {
    moved.to = word.to;
    moved.bytes = placed.op.wordBytes;
    moveWord(reinterpret_cast<std::byte*>(&moved.first), word.from, placed.op.wordBytes);
    return moved;
  }
  double v = 0.0;
  if (placed.op.takesValues()) {
    const double* values = placed.valuesOfLaunch ? ofLaunch.values : tableValues;
    const std::int64_t first = placed.firstValue - (placed.valuesOfLaunch ? ofLaunch.first : 0);
    v = values[first + std::int64_t{word.element} * placed.valueStep];
  }
  computeWord(placed.op, word, v);
  return moved;
}

/// The operation of a block that word `w` of its row lies in.
TESSERA_KERNEL inline std::int32_t findOp(const RegionTableView& table, const RegionBlock& block,
                                          std::uint32_t w) {
  std::int32_t low = block.firstOp;
  std::int32_t high = block.firstOp + block.opCount;
  while (high - low > 1) {
    const std::int32_t middle = (low + high) / 2;
    (table.begins[middle] <= w ? low : high) = middle;
  }
  return low;
}

/// The block of the table that a block of the launch does.
template <int Runs>
TESSERA_KERNEL RegionBlock blockOf(const RegionLaunch<Runs>& launch, std::int32_t blockOfLaunch) {
  std::int32_t run = 0;
  for (std::int32_t above = launch.runCount; above - run > 1;) {
    const std::int32_t middle = (run + above) / 2;
    (launch.runs[middle].begin <= blockOfLaunch ? run : above) = middle;
  }
  return launch.table.blocks[launch.runs[run].first + blockOfLaunch - launch.runs[run].begin];
}

/// Words `first`, `first` + `step`, ... of a block, kEach of them at most: all of them are read before the
/// first is written, so that a thread waits for memory once and not for each.
template <int kEach>
TESSERA_KERNEL void writeWords(const RegionTableView& table, const RegionLaunchValues& ofLaunch,
                               const RegionBlock& block, std::uint32_t first, std::uint32_t step) {
  MovedWord moved[kEach];  // NOLINT: a std::array's operator[] is no device function
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int n = 0; n < kEach; ++n) {
    const std::uint32_t w = first + static_cast<std::uint32_t>(n) * step;
    if (w >= block.words) continue;
    const std::int32_t number = findOp(table, block, block.firstWord + w);
    moved[n] = doWord(table.ops[number], block.firstWord + w - table.begins[number], table.values, ofLaunch);
  }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int n = 0; n < kEach; ++n) writeWord(moved[n]);
}

}  // namespace tessera::detail
