#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/element_type.hpp"
#include "core/kernel.hpp"

namespace tessera::detail {

/// How the words of a region come about.
enum class RegionKind : std::uint8_t {
  Copy,       ///< rows as they are
  Gather,     ///< each element from where its index divided by a ratio, or a stride of nought, leads
  Dirichlet,  ///< 2 v - the mirrored interior
  Neumann,    ///< the mirrored interior + distance * v
  RowEnds,    ///< sectors that hold the end of a row and the begin of the next one
};

/// One region, written word by word; all steps in bytes. A word is 4 or 8 bytes, of conditions one number.
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
  std::uint8_t endElements = 0;    ///< of RowEnds, from `from`: the first of a sector
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
inline constexpr std::uint32_t kRegionWords = 512;

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
  bool overlaps = false;  ///< the device can start it while the launch before it ends
  RegionRun runs[Runs];   // NOLINT: a std::array's operator[] is no device function
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

/// The end of a row and the begin of the next one, with noughts for what lies between, in one piece: of a
/// sector that is written in part a device reads the rest first.
TESSERA_KERNEL inline void writeRowEnds(const RegionOp& op, std::byte* to, std::uint32_t j, std::uint32_t k) {
  std::uint64_t words[4] = {};  // NOLINT: a std::array's operator[] is no device function
  const std::byte* ends = op.from + j * op.fromJ + k * op.fromK;
  const std::byte* begins = op.begins + j * op.beginsJ + k * op.beginsK;
  for (std::uint32_t n = 0; n < 4; ++n) {
    const std::uint32_t begin = n + op.beginElements - 4;  // in front of the first it is large
    auto* word = reinterpret_cast<std::byte*>(&words[n]);
    if (n < op.endElements) moveWord(word, ends + n * 8, 8);
    if (begin < op.beginElements) moveWord(word, begins + begin * 8, 8);
  }
#if defined(__CUDA_ARCH__)
  reinterpret_cast<ulonglong2*>(to)[0] = make_ulonglong2(words[0], words[1]);
  reinterpret_cast<ulonglong2*>(to)[1] = make_ulonglong2(words[2], words[3]);
#else
  std::memcpy(to, words, sizeof(words));
#endif
}

/// Word `w` of an operation, counted x fastest.
TESSERA_KERNEL inline void writeWord(const RegionOp& op, std::uint32_t w, const double* tableValues,
                                     const RegionLaunchValues& ofLaunch) {
  const std::uint32_t row = w / op.rowWords;
  const std::uint32_t word = w - row * op.rowWords;
  const std::uint32_t k = row / op.rows;
  const std::uint32_t j = row - k * op.rows;
  std::byte* to = op.to + std::int64_t{word} * op.wordBytes + j * op.toJ + k * op.toK;
  if (op.kind == RegionKind::Copy) {
    const std::byte* from = op.from + std::int64_t{word} * op.wordBytes + j * op.fromJ + k * op.fromK;
    return moveWord(to, from, op.wordBytes);
  }
  if (op.kind == RegionKind::RowEnds) return writeRowEnds(op, to, j, k);
  const std::uint32_t i = word / op.elementWords;
  const std::byte* from = op.from + std::int64_t{word - i * op.elementWords} * op.wordBytes;
  if (op.kind == RegionKind::Gather) {
    from += ((i + op.offset[0]) / op.ratio[0]) * op.fromI + ((j + op.offset[1]) / op.ratio[1]) * op.fromJ +
            ((k + op.offset[2]) / op.ratio[2]) * op.fromK;
    return moveWord(to, from, op.wordBytes);
  }
  from += i * op.fromI + j * op.fromJ + k * op.fromK;
  const std::uint32_t element = row * (op.rowWords / op.elementWords) + i;
  const double* values = op.valuesOfLaunch ? ofLaunch.values : tableValues;
  const std::int64_t first = op.valuesOfLaunch ? op.firstValue - ofLaunch.first : op.firstValue;
  const double v = values[first + std::int64_t{element} * op.valueStep];
  applyCondition(op, to, from, v, op.axis == 0 ? i : op.axis == 1 ? j : k);
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

template <int Runs>
TESSERA_KERNEL void writeWords(const RegionLaunch<Runs>& launch, std::int32_t blockOfLaunch,
                               std::uint32_t thread, std::uint32_t threads) {
  std::int32_t run = 0;
  for (std::int32_t above = launch.runCount; above - run > 1;) {
    const std::int32_t middle = (run + above) / 2;
    (launch.runs[middle].begin <= blockOfLaunch ? run : above) = middle;
  }
  const RegionTableView& table = launch.table;
  const RegionBlock block = table.blocks[launch.runs[run].first + blockOfLaunch - launch.runs[run].begin];
  for (std::uint32_t n = thread; n < block.words; n += threads) {
    const std::int32_t op = findOp(table, block, block.firstWord + n);
    writeWord(table.ops[op], block.firstWord + n - table.begins[op], table.values, launch.values);
  }
}

}  // namespace tessera::detail
