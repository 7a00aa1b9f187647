#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "core/memory/element_type.hpp"
#include "datawarehouse/field.hpp"
#include "datawarehouse/moves/condition_values.hpp"
#include "datawarehouse/moves/interpolation.hpp"
#include "grid/region_move.hpp"

namespace tessera {

/// How the numbers of a region come about; the kinds of moves, and what their conditions ask for.
enum class RegionKind : std::uint8_t {
  Copy,       ///< rows as they are
  Gather,     ///< each element from where its index divided by a ratio, or a stride of nought, leads
  Linear,     ///< on a straight line through the elements around where a ratio leads
  Limited,    ///< likewise, with limited slopes
  Average,    ///< the mean of `ratio` elements along each axis
  Dirichlet,  ///< 2 v - the mirrored interior
  Neumann,    ///< the mirrored interior + distance * v
  Given,      ///< v
  Negate,     ///< minus the mirrored interior
};

/// The elementary operation of all moves of values, on the host and on devices: one region, worked out
/// beforehand for two layouts, to be carried out in any memory of these layouts. It is written word by word;
/// all steps are bytes. A word is 4 or 8 bytes, of kinds that compute one number.
struct RegionOp {
  std::int64_t toFirst = 0;  ///< of the first element, from element 0 of the layout
  std::int64_t fromFirst = 0;
  std::int64_t toJ = 0, toK = 0, toC = 0;        ///< from row to row, plane to plane, component to component
  std::int64_t fromI = 0, fromJ = 0, fromK = 0;  ///< from element to element along each axis
  std::int64_t fromC = 0;
  std::uint32_t rowWords = 0;
  std::uint32_t rows = 0;  ///< of a plane
  std::uint32_t planes = 0;
  std::uint32_t components = 1;  ///< that lie one behind the other
  std::uint32_t elementWords = 1;
  std::uint32_t firstLayers = 0;  ///< of conditions: between the first index and its mirror image
  std::uint8_t wordBytes = 8;
  RegionKind kind = RegionKind::Copy;
  Scalar scalar = Scalar::Float64;  ///< of kinds that compute
  std::int8_t layerStep = 0;        ///< along the axis of a condition
  double spacing = 0.0;
  std::uint16_t ratio[3] = {1, 1, 1};   // NOLINT: a std::array's operator[] is no device function
  std::uint16_t offset[3] = {0, 0, 0};  // NOLINT: likewise
  std::int8_t axis = 0;                 ///< of a condition
  std::uint8_t borders = 0;             ///< of Linear and Limited: as FinePlace has it
  bool isPartial = false;               ///< a condition that leaves out where its value is kNotHere

  /// Words of the whole region.
  std::int64_t words() const { return std::int64_t{rowWords} * rows * planes * components; }
  std::int64_t bytes() const { return words() * wordBytes; }
  /// Whether it needs values of a condition.
  TESSERA_KERNEL bool takesValues() const {
    return kind == RegionKind::Dirichlet || kind == RegionKind::Neumann || kind == RegionKind::Given ||
           isPartial;
  }

  friend bool operator==(const RegionOp&, const RegionOp&) = default;
};

/// The operation of a move of a variable on a level between memory of two layouts; of all but conditions. An
/// empty region has no words.
RegionOp regionOp(const RegionMove& move, const Layout& to, const Layout& from, const ElementType& type);
/// The operation of one condition in memory of one layout, of a move that is one.
RegionOp conditionOp(const RegionMove& move, const ConditionNumber& which, const Layout& layout,
                     const LabelInfo& info, const Level& level);
/// A copy of `region` (indices of the destination) of elements of any type, from memory whose indices are
/// those minus `shift`.
RegionOp copyOp(const Layout& to, const Layout& from, const Box& region, Index shift,
                const ElementType& type);

/// Carries it out on the host, all that need no values; `to` and `from` are element 0 of the layouts.
void runRegion(const RegionOp& op, std::byte* to, const std::byte* from);
/// A condition in one piece of memory; `first` is the index of the first element, `value` the condition's.
void runCondition(const RegionOp& op, std::byte* memory, Index first, ConditionValue& value);

namespace detail {

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

/// A word of an operation: where it goes, where what it is made of lies, and which it is, in elements.
struct RegionWord {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::uint32_t i = 0, j = 0, k = 0;
  std::uint32_t element = 0;  ///< counted x fastest
};

TESSERA_KERNEL inline bool isInterpolated(RegionKind kind) {
  return kind == RegionKind::Linear || kind == RegionKind::Limited;
}
/// Whether an element takes from where its index divided by the ratio leads.
TESSERA_KERNEL inline bool takesByRatio(RegionKind kind) {
  return kind == RegionKind::Gather || isInterpolated(kind);
}

/// Word `w`, counted x fastest, of an operation whose first elements are `to` and `from`.
TESSERA_KERNEL inline RegionWord wordOf(const RegionOp& op, std::byte* to, const std::byte* from,
                                        std::uint32_t w) {
  std::uint32_t row = w / op.rowWords;
  const std::uint32_t word = w - row * op.rowWords;
  RegionWord found;
  if (op.components > 1) {
    const std::uint32_t rows = op.rows * op.planes;
    const std::uint32_t component = row / rows;
    row -= component * rows;
    to += component * op.toC;
    from += component * op.fromC;
  }
  found.k = row / op.rows;
  found.j = row - found.k * op.rows;
  found.to = to + std::int64_t{word} * op.wordBytes + found.j * op.toJ + found.k * op.toK;
  if (op.kind == RegionKind::Copy) {
    found.from = from + std::int64_t{word} * op.wordBytes + found.j * op.fromJ + found.k * op.fromK;
    return found;
  }
  found.i = word / op.elementWords;
  found.element = row * (op.rowWords / op.elementWords) + found.i;
  found.from = from + std::int64_t{word - found.i * op.elementWords} * op.wordBytes;
  if (takesByRatio(op.kind)) {
    found.from += ((found.i + op.offset[0]) / op.ratio[0]) * op.fromI +
                  ((found.j + op.offset[1]) / op.ratio[1]) * op.fromJ +
                  ((found.k + op.offset[2]) / op.ratio[2]) * op.fromK;
  } else {
    // The ratios of conditions are 1.
    found.from += std::int64_t{found.i} * op.ratio[0] * op.fromI +
                  std::int64_t{found.j} * op.ratio[1] * op.fromJ +
                  std::int64_t{found.k} * op.ratio[2] * op.fromK;
  }
  return found;
}

/// Whether words are what others are; else they are computed.
TESSERA_KERNEL inline bool isMoved(RegionKind kind) {
  return kind == RegionKind::Copy || kind == RegionKind::Gather;
}

template <class T>
TESSERA_KERNEL void averageNumbers(const RegionOp& op, const RegionWord& word) {
  double sum = 0.0;
  for (std::int64_t k = 0; k < op.ratio[2]; ++k) {
    for (std::int64_t j = 0; j < op.ratio[1]; ++j) {
      const std::byte* row = word.from + j * op.fromJ + k * op.fromK;
      for (std::int64_t i = 0; i < op.ratio[0]; ++i)
        sum += static_cast<double>(*reinterpret_cast<const T*>(row + i * op.fromI));
    }
  }
  const std::int64_t count = std::int64_t{op.ratio[0]} * op.ratio[1] * op.ratio[2];
  *reinterpret_cast<T*>(word.to) = static_cast<T>(sum / static_cast<double>(count));
}

template <class T>
TESSERA_KERNEL void interpolateNumber(const RegionOp& op, const RegionWord& word) {
  FinePlace place;
  place.at = word.from;
  place.borders = op.borders;
  const std::uint32_t index[3] = {word.i, word.j, word.k};      // NOLINT: as in RegionOp
  const std::int64_t step[3] = {op.fromI, op.fromJ, op.fromK};  // NOLINT: likewise
  for (int d = 0; d < 3; ++d) {
    place.step[d] = step[d];
    place.ratio[d] = op.ratio[d];
    place.fromBelow[d] = static_cast<std::uint16_t>((index[d] + op.offset[d]) % op.ratio[d]);
  }
  const double value = interpolated<T>(place, op.kind == RegionKind::Limited);
  *reinterpret_cast<T*>(word.to) = static_cast<T>(value);
}

/// A number that no other is; `v`: the value of a condition.
template <class T>
TESSERA_KERNEL void computeNumber(const RegionOp& op, const RegionWord& word, double v) {
  if (op.kind == RegionKind::Average) return averageNumbers<T>(op, word);
  if (isInterpolated(op.kind)) return interpolateNumber<T>(op, word);
  T& number = *reinterpret_cast<T*>(word.to);
  if (op.kind == RegionKind::Given) {
    number = static_cast<T>(v);
    return;
  }
  const T mirrored = *reinterpret_cast<const T*>(word.from);
  const auto inside = static_cast<double>(mirrored);
  if (op.kind == RegionKind::Negate) {
    number = static_cast<T>(-mirrored);
  } else if (op.kind == RegionKind::Dirichlet) {
    number = static_cast<T>(2.0 * v - inside);
  } else {
    const std::uint32_t along = op.axis == 0 ? word.i : op.axis == 1 ? word.j : word.k;
    const std::int64_t layers =
        static_cast<std::int64_t>(op.firstLayers) + op.layerStep * std::int64_t{along};
    number = static_cast<T>(inside + static_cast<double>(layers) * op.spacing * v);
  }
}

TESSERA_KERNEL inline void computeWord(const RegionOp& op, const RegionWord& word, double v) {
  switch (op.scalar) {
    case Scalar::Float64:
      return computeNumber<double>(op, word, v);
    case Scalar::Float32:
      return computeNumber<float>(op, word, v);
    case Scalar::Int32:
      return computeNumber<std::int32_t>(op, word, v);
    case Scalar::Int64:
      return computeNumber<std::int64_t>(op, word, v);
  }
}

}  // namespace detail
}  // namespace tessera
