#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/kernel.hpp"
#include "core/memory/element_type.hpp"

namespace tessera::detail {

/// How the words of a region come about.
enum class RegionKind : std::uint8_t {
  Copy,       ///< rows as they are
  Gather,     ///< each element from where its index divided by a ratio, or a stride of nought, leads
  Dirichlet,  ///< 2 v - the mirrored interior
  Neumann,    ///< the mirrored interior + distance * v
  RowEnds,    ///< sectors that hold the end of a row and the begin of the next one
};

/// One region, written word by word; all steps in bytes. A word is 4 or 8 bytes, of conditions one number, of
/// RowEnds half a sector.
struct RegionOp {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::int64_t toJ = 0, toK = 0;                 ///< from row to row, plane to plane
  std::int64_t fromI = 0, fromJ = 0, fromK = 0;  ///< from element to element along each axis
  std::uint32_t rowWords = 0;
  std::uint32_t rows = 0;  ///< of a plane
  std::uint32_t elementWords = 1;
  std::uint32_t firstLayers = 0;  ///< of conditions: between the first index and its mirror image
  std::int64_t firstValue = 0;
  double spacing = 0.0;
  std::uint16_t ratio[3] = {1, 1, 1};   // NOLINT: a std::array's operator[] is no device function
  std::uint16_t offset[3] = {0, 0, 0};  // NOLINT: likewise
  std::int8_t layerStep = 0;            ///< along the axis of a condition
  std::int8_t axis = 0;
  std::uint8_t valueStep = 0;   ///< 0: one value for all indices
  bool valuesOfLaunch = false;  ///< else of the table
  std::uint8_t wordBytes = 8;
  std::uint8_t endElements = 0;    ///< of RowEnds, from `from`: the first of a sector, 1 or 2
  std::uint8_t beginElements = 0;  ///< likewise, from `begins`: the last ones
  RegionKind kind = RegionKind::Copy;
  Scalar scalar = Scalar::Float64;        ///< of conditions
  const std::byte* begins = nullptr;      ///< of RowEnds
  std::int64_t beginsJ = 0, beginsK = 0;  ///< likewise
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
  const RegionOp* ops = nullptr;
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

TESSERA_KERNEL inline void moveWord(std::byte* to, const std::byte* from, std::uint32_t bytes) {
#if defined(__CUDA_ARCH__)
  if (bytes == 8) {
    *reinterpret_cast<std::uint64_t*>(to) = *reinterpret_cast<const std::uint64_t*>(from);
  } else {
    *reinterpret_cast<std::uint32_t*>(to) = *reinterpret_cast<const std::uint32_t*>(from);
  }
#else
  std::memcpy(to, from, bytes);
#endif
}

template <class T>
TESSERA_KERNEL void applyCondition(const RegionOp& op, std::byte* to, const std::byte* from, double v,
                                   std::uint32_t along) {
  const auto inside = static_cast<double>(*reinterpret_cast<const T*>(from));
  T& number = *reinterpret_cast<T*>(to);
  if (op.kind == RegionKind::Dirichlet) {
    number = static_cast<T>(2.0 * v - inside);
  } else {
    const std::int64_t layers =
        static_cast<std::int64_t>(op.firstLayers) + op.layerStep * std::int64_t{along};
    number = static_cast<T>(inside + static_cast<double>(layers) * op.spacing * v);
  }
}

TESSERA_KERNEL inline void applyCondition(const RegionOp& op, std::byte* to, const std::byte* from, double v,
                                          std::uint32_t along) {
  switch (op.scalar) {
    case Scalar::Float64:
      return applyCondition<double>(op, to, from, v, along);
    case Scalar::Float32:
      return applyCondition<float>(op, to, from, v, along);
    case Scalar::Int32:
      return applyCondition<std::int32_t>(op, to, from, v, along);
    case Scalar::Int64:
      return applyCondition<std::int64_t>(op, to, from, v, along);
  }
}

/// A word of an operation: where it goes, where what it is made of lies, and which it is, in elements.
struct RegionWord {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::uint32_t i = 0, j = 0, k = 0;
  std::uint32_t element = 0;  ///< counted x fastest
};

/// Word `w`, counted x fastest.
TESSERA_KERNEL inline RegionWord wordOf(const RegionOp& op, std::uint32_t w) {
  const std::uint32_t row = w / op.rowWords;
  const std::uint32_t word = w - row * op.rowWords;
  RegionWord found;
  found.k = row / op.rows;
  found.j = row - found.k * op.rows;
  found.to = op.to + std::int64_t{word} * op.wordBytes + found.j * op.toJ + found.k * op.toK;
  if (op.kind == RegionKind::Copy) {
    found.from = op.from + std::int64_t{word} * op.wordBytes + found.j * op.fromJ + found.k * op.fromK;
    return found;
  }
  found.i = word / op.elementWords;
  if (op.kind == RegionKind::RowEnds) {
    found.from = found.i == 0 ? op.from + found.j * op.fromJ + found.k * op.fromK
                              : op.begins + found.j * op.beginsJ + found.k * op.beginsK;
    return found;
  }
  found.element = row * (op.rowWords / op.elementWords) + found.i;
  found.from = op.from + std::int64_t{word - found.i * op.elementWords} * op.wordBytes;
  if (op.kind == RegionKind::Gather) {
    found.from += ((found.i + op.offset[0]) / op.ratio[0]) * op.fromI +
                  ((found.j + op.offset[1]) / op.ratio[1]) * op.fromJ +
                  ((found.k + op.offset[2]) / op.ratio[2]) * op.fromK;
  } else {
    found.from += found.i * op.fromI + found.j * op.fromJ + found.k * op.fromK;
  }
  return found;
}

/// Numbers as they were read, on their way.
struct MovedWord {
  std::byte* to = nullptr;  ///< null: nothing is to be written
  std::uint64_t first = 0;
  std::uint64_t second = 0;  ///< of half a sector
  std::uint32_t bytes = 0;
};

/// Whether a word is what others are; else it is computed.
TESSERA_KERNEL inline bool isMoved(RegionKind kind) {
  return kind == RegionKind::Copy || kind == RegionKind::Gather || kind == RegionKind::RowEnds;
}

TESSERA_KERNEL inline MovedWord readWord(const RegionOp& op, const RegionWord& word) {
  MovedWord moved;
  moved.to = word.to;
  moved.bytes = op.wordBytes;
  auto* first = reinterpret_cast<std::byte*>(&moved.first);
  auto* second = reinterpret_cast<std::byte*>(&moved.second);
  if (op.kind != RegionKind::RowEnds) {
    moveWord(first, word.from, op.wordBytes);
  } else if ((word.i == 0 ? op.endElements : op.beginElements) == 2) {
    moveWord(first, word.from, 8);
    moveWord(second, word.from + 8, 8);
  } else {
    moveWord(word.i == 0 ? first : second, word.from, 8);
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

/// A word that is no other's.
TESSERA_KERNEL inline void computeWord(const RegionOp& op, const RegionWord& word, const double* tableValues,
                                       const RegionLaunchValues& ofLaunch) {
  const double* values = op.valuesOfLaunch ? ofLaunch.values : tableValues;
  const std::int64_t first = op.valuesOfLaunch ? op.firstValue - ofLaunch.first : op.firstValue;
  const double v = values[first + std::int64_t{word.element} * op.valueStep];
  applyCondition(op, word.to, word.from, v, op.axis == 0 ? word.i : op.axis == 1 ? word.j : word.k);
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
    const RegionOp& op = table.ops[number];
    const RegionWord word = wordOf(op, block.firstWord + w - table.begins[number]);
    if (isMoved(op.kind)) {
      moved[n] = readWord(op, word);
    } else {
      computeWord(op, word, table.values, ofLaunch);
    }
  }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int n = 0; n < kEach; ++n) writeWord(moved[n]);
}

}  // namespace tessera::detail
