#include "datawarehouse/moves/region_op.hpp"

#include <algorithm>
#include <utility>

#include "core/text/contracts.hpp"
#include "grid/refine.hpp"

namespace tessera {
namespace {

/// Steps of a region between two layouts, as words that are copied.
RegionOp between(const Layout& to, const Layout& from, const Box& region, Index fromFirst,
                 const ElementType& type) {
  const std::int64_t elementBytes = type.elementBytes();
  TESSERA_EXPECT(elementBytes > 0 && elementBytes % 4 == 0, "give elements of a multiple of 4 bytes");
  RegionOp op;
  if (region.empty()) return op;
  const Extent n = region.extent();
  op.toFirst = to.at(region.lo) * elementBytes;
  op.fromFirst = from.at(fromFirst) * elementBytes;
  op.toJ = to.strideJ * elementBytes;
  op.toK = to.strideK * elementBytes;
  op.fromI = elementBytes;
  op.fromJ = from.strideJ * elementBytes;
  op.fromK = from.strideK * elementBytes;
  op.wordBytes = elementBytes % 8 == 0 ? 8 : 4;
  op.elementWords = static_cast<std::uint32_t>(elementBytes / op.wordBytes);
  op.rowWords = static_cast<std::uint32_t>(n.i) * op.elementWords;
  op.rows = static_cast<std::uint32_t>(n.j);
  op.planes = static_cast<std::uint32_t>(n.k);
  op.components = static_cast<std::uint32_t>(type.planes());
  op.toC = to.strideC * elementBytes;
  op.fromC = from.strideC * elementBytes;
  return op;
}

/// Words become numbers.
void computes(RegionOp& op, RegionKind kind, const ElementType& type) {
  op.kind = kind;
  op.scalar = type.scalar;
  op.rowWords = op.rowWords / op.elementWords * static_cast<std::uint32_t>(type.together());
  op.elementWords = static_cast<std::uint32_t>(type.together());
  op.wordBytes = static_cast<std::uint8_t>(type.scalarBytes());
}

void setRatio(RegionOp& op, Extent ratio) {
  for (int d = 0; d < kAxes; ++d) {
    TESSERA_EXPECT(ratio[d] >= 1 && ratio[d] <= 0xFFFF, "refine by 65,535 at most");
    op.ratio[d] = static_cast<std::uint16_t>(ratio[d]);
  }
}

RegionOp prolongOp(const RegionMove& move, const Layout& to, const Layout& from, const ElementType& type) {
  const Index fine = move.region.lo - move.shift;
  const Index coarse = coarsen(fine, move.ratio);
  RegionOp op = between(to, from, move.region, coarse, type);
  op.kind = RegionKind::Gather;
  setRatio(op, move.ratio);
  for (int d = 0; d < kAxes; ++d)
    op.offset[d] = static_cast<std::uint16_t>(fine[d] - coarse[d] * move.ratio[d]);
  return op;
}

RegionOp lineOp(const RegionMove& move, const Layout& to, const Layout& from, const ElementType& type) {
  RegionOp op = prolongOp(move, to, from, type);
  if (move.region.empty()) return op;
  computes(op, move.kind == MoveKind::Limited ? RegionKind::Limited : RegionKind::Linear, type);
  for (int d = 0; d < kAxes; ++d) {
    if (move.ratio[d] > 1 && onBorders(move.centering, d))
      op.borders = static_cast<std::uint8_t>(op.borders | 1U << static_cast<unsigned>(d));
  }
  return op;
}

RegionOp averageOp(const RegionMove& move, const Layout& to, const Layout& from, const ElementType& type) {
  Index fine = move.region.lo - move.shift;
  for (int d = 0; d < kAxes; ++d) fine[d] *= move.ratio[d];
  RegionOp op = between(to, from, move.region, fine, type);
  computes(op, RegionKind::Average, type);
  setRatio(op, move.ratio);
  return op;
}

RegionKind kindOf(const SideCondition& condition) {
  switch (condition.kind) {
    case BoundaryKind::Dirichlet:
      return RegionKind::Dirichlet;
    case BoundaryKind::Neumann:
      return RegionKind::Neumann;
    case BoundaryKind::Given:
      return RegionKind::Given;
    case BoundaryKind::Reflect:
      if (condition.sign < 0) return RegionKind::Negate;
      break;
    case BoundaryKind::Outflow:
      break;
  }
  return RegionKind::Gather;
}

/// Halos are a few elements thick, so along x most rows are that short: `copyRow` with a length that the
/// compiler knows is a move or two, where a call of memcpy would cost more than the bytes.
template <class CopyRow>
void copyEach(const RegionOp& op, std::byte* to, const std::byte* from, CopyRow&& copyRow) {
  // Values of our own: the compiler cannot know that a store does not change the operation. One long loop
  // inside is better than a long one outside.
  const bool flat = op.rows == 1;
  const std::int64_t rows = flat ? op.planes : op.rows;
  const std::int64_t planes = flat ? 1 : op.planes;
  const std::int64_t toStride = flat ? op.toK : op.toJ;
  const std::int64_t fromStride = flat ? op.fromK : op.fromJ;
  const std::int64_t toPlane = op.toK;
  const std::int64_t fromPlane = op.fromK;
  for (std::int64_t k = 0; k < planes; ++k) {
    std::byte* t = to + k * toPlane;
    const std::byte* f = from + k * fromPlane;
    for (std::int64_t j = 0; j < rows; ++j, t += toStride, f += fromStride) copyRow(t, f);
  }
}

template <std::size_t Bytes>
struct CopyFixed {
  void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, Bytes); }
};

void copyRows(const RegionOp& op, std::byte* to, const std::byte* from) {
  const std::size_t rowBytes = std::size_t{op.rowWords} * op.wordBytes;
  switch (rowBytes) {
    case 4:
      return copyEach(op, to, from, CopyFixed<4>{});
    case 8:
      return copyEach(op, to, from, CopyFixed<8>{});
    case 16:
      return copyEach(op, to, from, CopyFixed<16>{});
    case 24:
      return copyEach(op, to, from, CopyFixed<24>{});
    case 32:
      return copyEach(op, to, from, CopyFixed<32>{});
    case 64:
      return copyEach(op, to, from, CopyFixed<64>{});
    case 128:
      return copyEach(op, to, from, CopyFixed<128>{});
    default:
      copyEach(op, to, from, [rowBytes](auto* t, auto* f) { std::memcpy(t, f, rowBytes); });
  }
}

/// Calls `visit(coarse, begin, end)` for the coarse indices along an axis, with the fine ones of a region in
/// each.
template <class Visit>
void forEachCoarse(std::uint32_t count, std::uint32_t offset, std::uint32_t ratio, Visit&& visit) {
  for (std::uint32_t begin = 0; begin < count;) {
    const std::uint32_t coarse = (begin + offset) / ratio;
    const std::uint32_t end = std::min(count, (coarse + 1) * ratio - offset);
    visit(coarse, begin, end);
    begin = end;
  }
}

/// The fine cells `begin`..`end` in one coarse cell: its line is found once.
void fillCoarse(const RegionOp& op, std::byte* to, const std::byte* at, const std::uint32_t (&coarse)[3],
                const std::uint32_t (&begin)[3], const std::uint32_t (&end)[3], detail::FinePlace place) {
  const auto below = [&](int d, std::uint32_t fine) {
    return static_cast<std::uint16_t>(fine + op.offset[d] - coarse[d] * op.ratio[d]);
  };
  const detail::LimitedLine line = detail::limitedLine<double>(place, at);
  for (std::uint32_t k = begin[2]; k < end[2]; ++k) {
    place.fromBelow[2] = below(2, k);
    for (std::uint32_t j = begin[1]; j < end[1]; ++j) {
      place.fromBelow[1] = below(1, j);
      auto* row = reinterpret_cast<double*>(to + j * op.toJ + k * op.toK);
      for (std::uint32_t i = begin[0]; i < end[0]; ++i) {
        place.fromBelow[0] = below(0, i);
        row[i] = line.at(place);
      }
    }
  }
}

bool isLimitedOnCells(const RegionOp& op) {
  return op.kind == RegionKind::Limited && op.scalar == Scalar::Float64 && op.borders == 0 &&
         op.elementWords == 1;
}

void runLimited(const RegionOp& op, std::byte* to, const std::byte* from) {
  detail::FinePlace place;
  const std::int64_t step[3] = {op.fromI, op.fromJ, op.fromK};
  for (int d = 0; d < 3; ++d) {
    place.step[d] = step[d];
    place.ratio[d] = op.ratio[d];
  }
  for (std::uint32_t c = 0; c < op.components; ++c) {
    forEachCoarse(op.planes, op.offset[2], op.ratio[2], [&](auto kc, auto k0, auto k1) {
      forEachCoarse(op.rows, op.offset[1], op.ratio[1], [&](auto jc, auto j0, auto j1) {
        const std::byte* const row = from + c * op.fromC + jc * op.fromJ + kc * op.fromK;
        forEachCoarse(op.rowWords, op.offset[0], op.ratio[0], [&](auto ic, auto i0, auto i1) {
          fillCoarse(op, to + c * op.toC, row + ic * op.fromI, {ic, jc, kc}, {i0, j0, k0}, {i1, j1, k1},
                     place);
        });
      });
    });
  }
}

/// Calls `row(to, from)` for the rows of an operation whose numbers come each from one other.
template <class Row>
void forEachRow(const RegionOp& op, std::byte* to, const std::byte* from, Row&& row) {
  const auto source = [&](std::uint32_t n, int d) {
    return std::int64_t{detail::takesByRatio(op.kind) ? (n + op.offset[d]) / op.ratio[d] : n};
  };
  for (std::uint32_t c = 0; c < op.components; ++c) {
    for (std::uint32_t k = 0; k < op.planes; ++k) {
      std::byte* const plane = to + c * op.toC + k * op.toK;
      const std::byte* const below = from + c * op.fromC + source(k, 2) * op.fromK;
      for (std::uint32_t j = 0; j < op.rows; ++j) row(plane + j * op.toJ, below + source(j, 1) * op.fromJ);
    }
  }
}

/// Whether each number of 8 bytes is another one, or minus it, with steps along x that do not change: halos
/// at walls. Word by word the divisions would take longer than the rest.
bool isOfEvenRows(const RegionOp& op) {
  const bool isOne =
      op.kind == RegionKind::Gather || (op.kind == RegionKind::Negate && op.scalar == Scalar::Float64);
  return isOne && op.wordBytes == 8 && op.elementWords == 1 && op.ratio[0] == 1 && op.offset[0] == 0;
}

void runEvenRows(const RegionOp& op, std::byte* to, const std::byte* from) {
  const bool negates = op.kind == RegionKind::Negate;
  const std::uint32_t count = op.rowWords;
  const std::int64_t step = op.fromI;
  forEachRow(op, to, from, [=](std::byte* t, const std::byte* f) {
    if (negates) {
      for (std::uint32_t i = 0; i < count; ++i)
        reinterpret_cast<double*>(t)[i] = -*reinterpret_cast<const double*>(f + i * step);
    } else {
      for (std::uint32_t i = 0; i < count; ++i) std::memcpy(t + std::size_t{8} * i, f + i * step, 8);
    }
  });
}

/// All but a copy of one component. Kept out of `runRegion`, whose few instructions count in small patches.
[[gnu::noinline]] void runOther(const RegionOp& op, std::byte* to, const std::byte* from) {
  if (op.kind == RegionKind::Copy) {
    for (std::uint32_t c = 0; c < op.components; ++c) copyRows(op, to + c * op.toC, from + c * op.fromC);
    return;
  }
  if (isLimitedOnCells(op)) return runLimited(op, to, from);
  if (isOfEvenRows(op)) return runEvenRows(op, to, from);
  const auto words = static_cast<std::uint32_t>(op.words());
  for (std::uint32_t w = 0; w < words; ++w) {
    const detail::RegionWord word = detail::wordOf(op, to, from, w);
    if (detail::isMoved(op.kind)) {
      detail::moveWord(word.to, word.from, op.wordBytes);
    } else {
      detail::computeWord(op, word, 0.0);
    }
  }
}

}  // namespace

RegionOp copyOp(const Layout& to, const Layout& from, const Box& region, Index shift,
                const ElementType& type) {
  return between(to, from, region, region.lo - shift, type);
}

RegionOp conditionOp(const RegionMove& move, const ConditionNumber& which, const Layout& layout,
                     const LabelInfo& info, const Level& level) {
  const SideCondition& condition = conditionOf(info, move.side, which);
  const int axis = move.side / 2;
  const Index source = mirroredIndex(move.region.lo, condition.kind, info.centering, level, move.side);
  ElementType type = info.type;
  if (type.order == NumberOrder::Apart) type = {type.scalar};
  RegionOp op = between(layout, layout, move.region, source, type);
  op.toFirst += which.component * layout.strideC * type.bytes();
  op.fromFirst += which.component * layout.strideC * type.bytes();
  std::int64_t& step = axis == 0 ? op.fromI : axis == 1 ? op.fromJ : op.fromK;
  op.kind = kindOf(condition);
  op.isPartial = condition.within || conditionCount(info, move.side, which.component) > 1;
  if (!detail::isMoved(op.kind)) computes(op, op.kind, type);
  // Outwards by one index, the mirror image goes inwards by one.
  step = condition.kind == BoundaryKind::Outflow ? 0 : -step;
  if (op.kind != RegionKind::Neumann) return op;
  op.axis = static_cast<std::int8_t>(axis);
  op.spacing = level.spacing()[axis];
  const std::int64_t layers = move.region.lo[axis] - source[axis];
  op.firstLayers = static_cast<std::uint32_t>(layers < 0 ? -layers : layers);
  op.layerStep = layers < 0 ? -2 : 2;
  return op;
}

RegionOp regionOp(const RegionMove& move, const Layout& to, const Layout& from, const ElementType& type) {
  switch (move.kind) {
    case MoveKind::Copy:
      break;
    case MoveKind::Prolong:
      return prolongOp(move, to, from, type);
    case MoveKind::Linear:
    case MoveKind::Limited:
      return lineOp(move, to, from, type);
    case MoveKind::Average:
      return averageOp(move, to, from, type);
    case MoveKind::Condition:
      TESSERA_EXPECT(false, "ask for the operation of each condition");
  }
  return copyOp(to, from, move.region, move.shift, type);
}

void runRegion(const RegionOp& op, std::byte* to, const std::byte* from) {
  to += op.toFirst;
  from += op.fromFirst;
  if (op.kind == RegionKind::Copy && op.components == 1) return copyRows(op, to, from);
  runOther(op, to, from);
}

void runCondition(const RegionOp& op, std::byte* memory, Index first, ConditionValue& value) {
  if (!op.takesValues()) return runRegion(op, memory, memory);
  const auto words = static_cast<std::uint32_t>(op.words());
  for (std::uint32_t w = 0; w < words; ++w) {
    const detail::RegionWord word = detail::wordOf(op, memory + op.toFirst, memory + op.fromFirst, w);
    const double v = value(first + Index{word.i, word.j, word.k});
    if (op.isPartial && isNotHere(v)) continue;
    if (detail::isMoved(op.kind)) {
      detail::moveWord(word.to, word.from, op.wordBytes);
    } else {
      detail::computeWord(op, word, v);
    }
  }
}

}  // namespace tessera
