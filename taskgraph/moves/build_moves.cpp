#include "taskgraph/moves/build_moves.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "grid/refine.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera {
namespace {

Move moveOf(const FillPlan& fill, const MoveRef& to, const MoveRef& from, const RegionMove& what) {
  return {what, fill.label, fill.sourceLevel, fill.generation, to, from};
}

MoveRef entryOf(std::int32_t local) { return {MoveRef::In::Entry, local}; }

Move copyFrom(const FillPlan& fill, const MoveRef& to, std::int32_t source, const Box& region, Index shift) {
  return moveOf(fill, to, entryOf(source), {MoveKind::Copy, region, shift});
}

Move condition(const FillPlan& fill, const MoveRef& to, const BoundaryPart& part) {
  return moveOf(fill, to, to, {MoveKind::Condition, part.region, {}, {1, 1, 1}, part.side});
}

/// What a list of boxes lacks of `box`; the box is in the list afterwards.
std::vector<Box> takeRest(std::vector<Box>& done, const Box& box) {
  std::vector<Box> left{box};
  for (const Box& known : done) {
    left = subtract(left, known);
    if (left.empty()) return left;
  }
  done.push_back(box);
  return left;
}

/// Sides of one target in their order, then those of the next; each index once a side. Not of the bounding
/// box: around a void it has indices beyond the domain whose mirror image nobody has.
std::vector<BoundaryPart> conditionsOf(const Level& level, Centering centering,
                                       std::span<const Box> targets) {
  std::array<std::vector<Box>, kSides> done;
  std::vector<BoundaryPart> parts;
  for (const Box& target : targets) {
    const BoundaryParts found = boundaryParts(level, centering, target);
    for (int n = 0; n < found.count; ++n) {
      const BoundaryPart& part = found.parts[static_cast<std::size_t>(n)];
      for (const Box& rest : takeRest(done[static_cast<std::size_t>(part.side)], part.region))
        parts.push_back({part.side, rest});
    }
  }
  return parts;
}

}  // namespace

MoveBuilder::MoveBuilder(const CompiledGraphs& graphs, std::size_t plan)
    : graphs_(graphs), graph_(graphs.plans[plan]) {
  for (std::size_t fill = 0; fill < graph_.fills.size(); ++fill) {
    noteRoles(graph_.fills[fill]);
    facesOnly_.push_back(readsFacesOnly(static_cast<std::int32_t>(fill)) ? 1 : 0);
  }
}

void MoveBuilder::noteRoles(const FillPlan& fill) {
  std::vector<std::int32_t>& roles = roles_.emplace_back();
  if (fill.shared.size() == 0 || fill.reach != Reach::Patch) return;
  const Range rows = graphs_.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)];
  roles.assign(static_cast<std::size_t>(rows.size()), kItself);
  for (std::int64_t s = fill.shared.begin; s < fill.shared.end; ++s) {
    const std::vector<std::int32_t>& members = graphs_.shared[static_cast<std::size_t>(s)].members;
    for (const std::int32_t member : members) roles[static_cast<std::size_t>(member - rows.begin)] = kAnother;
    roles[static_cast<std::size_t>(members.front() - rows.begin)] = static_cast<std::int32_t>(s);
  }
}

bool MoveBuilder::readsFacesOnly(std::int32_t fill) const {
  return std::all_of(graph_.accesses.begin(), graph_.accesses.end(),
                     [fill](const UnitAccess& access) { return access.fill != fill || access.facesOnly; });
}

const SharedWindow* MoveBuilder::windowOf(std::int32_t fill, std::int32_t row) const {
  const std::int32_t role = roleOf(fill, row);
  return role < 0 ? nullptr : &graphs_.shared[static_cast<std::size_t>(role)];
}

std::int32_t MoveBuilder::rowCount(std::int32_t number) const {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(number)];
  if (fill.reach == Reach::WholeLevel) return fill.shared.size() > 0 ? 0 : 1;
  return static_cast<std::int32_t>(graphs_.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)].size());
}

std::vector<Move> MoveBuilder::ofRow(std::int32_t number, std::int32_t row) const {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(number)];
  // Where the patches of a whole level share a window, that is what is read.
  if (fill.reach == Reach::WholeLevel && fill.shared.size() > 0) return {};
  if (const SharedWindow* shared = windowOf(number, row)) return ofWindow(fill, *shared);
  return roleOf(number, row) == kAnother ? std::vector<Move>{} : ofPrivateRow(number, row);
}

MoveRef MoveBuilder::targetOf(const FillPlan& fill, std::int32_t row) const {
  if (fill.scratch) return {MoveRef::In::Scratch};
  if (fill.reach != Reach::Patch) return {MoveRef::In::Gather, fill.firstGather + row};
  return entryOf(firstLocal(fill) + row);
}

/// A row that serves one patch, or the single row of a whole level.
std::vector<Move> MoveBuilder::ofPrivateRow(std::int32_t number, std::int32_t row) const {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(number)];
  const Level& level = levelOf(fill);
  const Centering centering = centeringOf(fill);
  const bool whole = fill.reach == Reach::WholeLevel;
  const std::int32_t local = firstLocal(fill) + row;
  const Patch seen = whole ? Patch{} : seenPatch(*graphs_.hierarchy, patchOf(local), fill.reach);
  const Box target = fillTarget(level, seen, centering, fill.halo, fill.reach);
  const Box inner = whole ? target : readBox(level, seen, centering, {});
  const bool facesOnly = facesOnly_[static_cast<std::size_t>(number)] != 0;
  const MoveRef to = targetOf(fill, row);
  std::vector<Move> moves;
  if (fill.scratch) moves.push_back(copyFrom(fill, to, local, level.closedBox(seen, centering), {}));
  const Box stored = whole ? Box{} : storedBox(level, seen, centering, fill.reach);
  for (const Neighbour& n : graph_.tables[static_cast<std::size_t>(fill.table)].row(row)) {
    const auto take = [&](const Box& region, Index by) {
      if (facesOnly && axesOutside(region, inner) > 1) return;
      moves.push_back(taken(fill, to, entryOf(n.source), region, by));
    };
    if (whole) {
      forEachInDomain(level, patchOf(n.source), centering, take);
      continue;
    }
    const Index by = shiftOf(level, {n.image[0], n.image[1], n.image[2]});
    forEachSourceRegion(level, patchOf(n.source), centering, target, stored, by,
                        [&](const Box& region) { take(region, by); });
  }
  addReceived(moves, fill, row, to);
  for (const CoarsePiece& piece : fill.coarse.row(row))
    moves.push_back(fill.ring < 0 ? fromBelow(fill, piece, piece.region, to)
                                  : fromRing(fill, piece.region, row, to));
  if (whole) return moves;
  for (const BoundaryPart& part : conditionsOf(level, centering, {&target, 1}))
    moves.push_back(condition(fill, to, part));
  return moves;
}

/// `region` of the source level as the fill takes it: as it is, or averaged over each cell of its readers.
Move MoveBuilder::taken(const FillPlan& fill, const MoveRef& to, const MoveRef& from, const Box& region,
                        Index shift) const {
  if (fill.how != MoveKind::Average) return moveOf(fill, to, from, {MoveKind::Copy, region, shift});
  const Extent ratio = levelOf(fill).ratioToCoarser();
  return moveOf(fill, to, from, {MoveKind::Average, coarsen(region, ratio), coarsen(shift, ratio), ratio});
}

void MoveBuilder::addReceived(std::vector<Move>& moves, const FillPlan& fill, std::int32_t row,
                              const MoveRef& to) const {
  for (const FillPiece& piece : fill.pieces.row(row)) {
    moves.push_back(taken(fill, to, {MoveRef::In::Received, piece.message, piece.offset, piece.region},
                          piece.region, {}));
  }
}

/// `region` of what a piece brings from the coarser level.
Move MoveBuilder::fromBelow(const FillPlan& fill, const CoarsePiece& piece, const Box& region,
                            const MoveRef& to) const {
  const Extent ratio = levelOf(fill).ratioToCoarser();
  const Index by = shiftOf(levelOf(fill), piece.image);
  const Box coarse = coarsen(shift(piece.region, Index{} - by), ratio);
  const MoveRef from = piece.source >= 0
                           ? entryOf(piece.source)
                           : MoveRef{MoveRef::In::Received, piece.message, piece.offset, coarse};
  return moveOf(fill, to, from, {MoveKind::Prolong, region, by, ratio});
}

/// `region` beyond the level, from the coarser cells that another fill has gathered for the same row: they
/// lie as the reading patch sees them, so nothing is shifted.
Move MoveBuilder::fromRing(const FillPlan& fill, const Box& region, std::int32_t row,
                           const MoveRef& to) const {
  const FillPlan& ring = graph_.fills[static_cast<std::size_t>(fill.ring)];
  const Prolongation prolongation = graphs_.labels->info(fill.label).prolongation;
  const RegionMove what{prolongation == Prolongation::Constant        ? MoveKind::Prolong
                        : prolongation == Prolongation::LimitedLinear ? MoveKind::Limited
                                                                      : MoveKind::Linear,
                        region,
                        {},
                        levelOf(fill).ratioToCoarser(),
                        0,
                        centeringOf(fill)};
  return moveOf(fill, to, {MoveRef::In::Gather, ring.firstGather + row}, what);
}

/// What a fill has to bring into a shared window. Between members nothing is copied: their values are there.
/// Members overlap, so most of what one of them takes others take as well: each index comes once.
std::vector<Move> MoveBuilder::ofWindow(const FillPlan& fill, const SharedWindow& shared) const {
  const Level& level = levelOf(fill);
  const Centering centering = centeringOf(fill);
  const MoveRef to = entryOf(shared.members.front());
  std::vector<Box> targets;
  Box bounds;
  for (const std::int32_t member : shared.members) {
    targets.push_back(fillTarget(level, patchOf(member), centering, fill.halo, Reach::Patch));
    bounds = boundingBox(bounds, targets.back());
  }
  // Around what is no box nobody asks for the indices between two targets.
  if (shared.full) std::fill(targets.begin(), targets.end(), bounds);
  std::vector<Move> moves;
  using Origin = std::array<std::int64_t, 4>;
  std::map<Origin, std::vector<Box>> copied;
  for (std::size_t m = 0; m < targets.size(); ++m) {
    const std::int32_t row = shared.members[m] - firstLocal(fill);
    for (const Neighbour& n : graph_.tables[static_cast<std::size_t>(fill.table)].row(row)) {
      if (isInside(shared, n)) continue;
      const Index period{n.image[0], n.image[1], n.image[2]};
      // Windows of cells alone are shared.
      const Box region = intersect(targets[m], shift(patchOf(n.source).cells, shiftOf(level, period)));
      for (const Box& rest : takeRest(copied[{n.source, period.i, period.j, period.k}], region))
        moves.push_back(copyFrom(fill, to, n.source, rest, shiftOf(level, period)));
    }
  }
  for (const std::int32_t member : shared.members) addReceived(moves, fill, member - firstLocal(fill), to);
  std::map<Origin, std::vector<Box>> prolonged;
  for (const std::int32_t member : shared.members) {
    for (const CoarsePiece& piece : fill.coarse.row(member - firstLocal(fill))) {
      if (piece.source < 0) {
        moves.push_back(fromBelow(fill, piece, piece.region, to));
        continue;
      }
      const Origin origin{piece.source, piece.image.i, piece.image.j, piece.image.k};
      for (const Box& rest : takeRest(prolonged[origin], piece.region))
        moves.push_back(fromBelow(fill, piece, rest, to));
    }
  }
  if (shared.full) targets.resize(1);
  for (const BoundaryPart& part : conditionsOf(level, centering, targets))
    moves.push_back(condition(fill, to, part));
  return moves;
}

std::vector<Move> MoveBuilder::ofMessage(std::int32_t send) const {
  std::vector<Move> moves;
  const Range items = graph_.sends[static_cast<std::size_t>(send)].items;
  for (std::int64_t n = items.begin; n < items.end; ++n) {
    const PackItem& item = graph_.packItems[static_cast<std::size_t>(n)];
    Box region = item.region;
    LevelId level = 0;
    MoveRef from = entryOf(item.source);
    if (item.source >= 0) {
      level = patchOf(item.source).level;
    } else {
      // Bytes that go on as they came: one row.
      const std::int64_t elements = item.bytes / graphs_.labels->info(item.label).type.bytes();
      region = {{0, 0, 0}, {elements, 1, 1}};
      from = {MoveRef::In::Received, item.forward, item.forwardOffset, region};
    }
    moves.push_back({{MoveKind::Copy, region, {}},
                     item.label,
                     level,
                     item.generation,
                     {MoveRef::In::Sent, send, item.offset, region},
                     from});
  }
  return moves;
}

}  // namespace tessera
