// What fills touch: the second half of TouchCollector.
#include <algorithm>
#include <array>
#include <set>

#include "core/text/error.hpp"
#include "grid/refine.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/proof/touch_collector.hpp"

namespace tessera::detail {
namespace {

/// Whether `a` is `b` moved by whole periods of the level.
bool isImage(const Level& level, const Box& a, const Box& b) {
  if (!(a.extent() == b.extent())) return false;
  for (int d = 0; d < kAxes; ++d) {
    const std::int64_t by = a.lo[d] - b.lo[d];
    const std::int64_t period = level.domain().extent()[d];
    if (level.geometry().wraps(d) ? by % period != 0 : by != 0) return false;
  }
  return true;
}

/// The indices from which a condition makes `part`.
Box mirrored(const Level& level, const LabelInfo& info, const BoundaryPart& part) {
  const int axis = part.side / 2;
  const bool high = part.side % 2 == 1;
  const Box domain = level.domainOf(info.centering);
  const std::int64_t edge = high ? domain.hi[axis] - 1 : domain.lo[axis];
  const auto& condition = info.boundary.sides[static_cast<std::size_t>(part.side)];
  Box source = part.region;
  if (!condition || condition->kind == BoundaryKind::Outflow) {
    source.lo[axis] = edge;
    source.hi[axis] = edge + 1;
    return source;
  }
  const std::int64_t about = 2 * edge + (onBorders(info.centering, axis) ? 0 : high ? 1 : -1);
  source.lo[axis] = about - (part.region.hi[axis] - 1);
  source.hi[axis] = about - part.region.lo[axis] + 1;
  return source;
}

}  // namespace

void TouchCollector::fill(const NodeBlock& block) {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(block.item)];
  if (fill.scratch) return;  // the task does it
  for (std::int32_t n = 0; n < block.count; ++n) {
    if (fill.reach == Reach::Patch) {
      const SharedWindow* shared = sharedOf(fill.label, block.firstLocal + n);
      if (shared != nullptr && shared->members.front() == block.firstLocal + n) fillShared(block, *shared);
      if (shared != nullptr) continue;
    }
    const Row row = rowOf(block, n);
    if (fill.reach == Reach::WholeLevel && fill.shared.size() > 0) {
      expectWholeLevel(row);
      continue;
    }
    fromNeighbours(row);
    fromMessages(row);
    fromCoarser(row);
    if (fill.reach == Reach::WholeLevel) {
      expectWholeLevel(row);
    } else {
      fromConditions(row);
    }
  }
}

TouchCollector::Row TouchCollector::rowOf(const NodeBlock& block, std::int32_t n) const {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(block.item)];
  const Level& from = level(fill.sourceLevel);
  const Centering centering = centeringOf(fill.label);
  Row row{fill, from, centering, nodes_.node(own_.rank, block.firstNode + n), n, {}, {}, nullptr, {}};
  if (fill.reach == Reach::WholeLevel) {
    row.target = from.domainOf(centering);
  } else {
    const Patch seen = seenPatch(*own_.hierarchy, ownPatch(block.firstLocal + n), fill.reach);
    row.target = fillTarget(from, seen, centering, fill.halo, fill.reach);
  }
  row.bounds = row.target;
  row.to = fill.reach == Reach::Patch
               ? entry(fill.label, fill.generation, block.firstLocal + n)
               : Memory{Memory::Kind::Gather, own_.rank, fill.label, 0, fill.firstGather + n};
  return row;
}

void TouchCollector::scratchRead(const FillPlan& fill, const Box& read, std::int64_t local, std::int64_t node,
                                 std::int32_t n) {
  const Level& from = level(fill.sourceLevel);
  const Centering centering = centeringOf(fill.label);
  const Patch& patch = ownPatch(local);
  const Memory memory{Memory::Kind::Scratch, own_.rank, fill.label, 0, local};
  const Box target = fillTarget(from, patch, centering, fill.halo, fill.reach);
  scratch_[{fill.label, local}] = target;
  const Row row{fill, from, centering, node, n, memory, target, nullptr, target};
  const Box owned = from.ownedBy(patch, centering);
  add(entry(fill.label, fill.generation, local), owned, node, fill.version, TouchKind::Read);
  add(memory, owned, node, fill.version, TouchKind::Write);
  fromNeighbours(row);
  fromMessages(row);
  fromCoarser(row);
  fromConditions(row);
  add(memory, read, node, fill.version, TouchKind::Read);
}

/// The node of the first member copies, unpacks and applies conditions for all of them.
void TouchCollector::fillShared(const NodeBlock& block, const SharedWindow& shared) {
  std::vector<Row> rows;
  Box bounds;
  for (const std::int32_t member : shared.members) {
    rows.push_back(rowOf(block, member - block.firstLocal));
    bounds = boundingBox(bounds, rows.back().target);
  }
  copied_.clear();
  for (Row& row : rows) {
    row.node = rows.front().node;
    row.shared = &shared;
    if (shared.full) row.bounds = bounds;
    fromNeighbours(row);
    fromMessages(row);
    fromCoarser(row);
  }
  if (shared.full) {
    rows.front().target = bounds;
    return fromConditions(rows.front());
  }
  for (const Row& row : rows) fromConditions(row);
}

void TouchCollector::fromNeighbours(const Row& row) {
  for (const Neighbour& n : graph_.tables[static_cast<std::size_t>(row.fill.table)].row(row.row)) {
    if (row.shared != nullptr && isInside(*row.shared, n)) continue;
    if (row.shared != nullptr && row.shared->full &&
        !copied_.insert({n.source, n.image[0], n.image[1], n.image[2]}).second)
      continue;
    const Index by = shiftOf(row.level, {n.image[0], n.image[1], n.image[2]});
    const Box there = intersect(row.bounds, shift(row.level.ownedBy(ownPatch(n.source), row.centering), by));
    add(entry(row.fill.label, row.fill.generation, n.source), shift(there, Index{} - by), row.node,
        row.fill.version, TouchKind::Read);
    if (row.fill.reach != Reach::WholeLevel) add(row.to, there, row.node, row.fill.version, TouchKind::Write);
  }
}

void TouchCollector::fromMessages(const Row& row) {
  const std::int64_t bytes = elementBytes(row.fill.label);
  for (const FillPiece& piece : row.fill.pieces.row(row.row)) {
    add({Memory::Kind::Received, own_.rank, -1, 0, piece.message},
        bytesBox(piece.offset, piece.region.volume() * bytes), row.node, 0, TouchKind::Read);
    claim(row, piece.message, piece.offset, piece.region, row.fill.sourceLevel, row.fill.version);
    if (row.fill.reach != Reach::WholeLevel)
      add(row.to, piece.region, row.node, row.fill.version, TouchKind::Write);
  }
}

void TouchCollector::fromCoarser(const Row& row) {
  const std::int32_t version = versions_.ofCoarser(row.fill.label, row.fill.sourceLevel, row.fill.version);
  for (const CoarsePiece& piece : row.fill.coarse.row(row.row)) {
    const Box coarse =
        coarsen(shift(piece.region, Index{} - shiftOf(row.level, piece.image)), row.level.ratioToCoarser());
    add(row.to, piece.region, row.node, row.fill.version, TouchKind::Write);
    if (piece.source >= 0) {
      add(entry(row.fill.label, row.fill.generation, piece.source), coarse, row.node, version,
          TouchKind::Read);
      continue;
    }
    add({Memory::Kind::Received, own_.rank, -1, 0, piece.message},
        bytesBox(piece.offset, coarse.volume() * elementBytes(row.fill.label)), row.node, 0, TouchKind::Read);
    claim(row, piece.message, piece.offset, coarse, row.fill.sourceLevel - 1, version);
  }
}

void TouchCollector::fromConditions(const Row& row) {
  const BoundaryParts parts = boundaryParts(row.level, row.centering, row.target);
  for (int n = 0; n < parts.count; ++n) {
    const BoundaryPart& part = parts.parts[static_cast<std::size_t>(n)];
    add(row.to, mirrored(row.level, own_.labels->info(row.fill.label), part), row.node, row.fill.version,
        TouchKind::Read);
    add(row.to, part.region, row.node, row.fill.version, TouchKind::Write);
  }
}

void TouchCollector::expectWholeLevel(const Row& row) {
  using Corners = std::array<std::int64_t, 6>;
  const auto corners = [](const Box& b) { return Corners{b.lo.i, b.lo.j, b.lo.k, b.hi.i, b.hi.j, b.hi.k}; };
  std::set<Corners> there;
  for (const Neighbour& n : graph_.tables[static_cast<std::size_t>(row.fill.table)].row(row.row)) {
    there.insert(corners(row.level.ownedBy(ownPatch(n.source), row.centering)));
  }
  for (const FillPiece& piece : row.fill.pieces.row(row.row)) there.insert(corners(piece.region));
  for (const Patch& patch : row.level.patches()) {
    if (there.count(corners(row.level.ownedBy(patch, row.centering))) > 0) continue;
    faults_.add(Message("a whole level lacks a patch")
                    .line("gather  ", names_.node(row.node))
                    .line("lacks   ", asText(patch))
                    .text());
  }
  if (row.fill.shared.size() == 0) add(row.to, row.target, row.node, row.fill.version, TouchKind::Write);
}

void TouchCollector::claim(const Row& row, std::int32_t receive, std::int64_t offset, const Box& wanted,
                           LevelId source, std::int32_t version) {
  const auto place =
      messages_.originOf(own_.rank, receive, offset, wanted.volume() * elementBytes(row.fill.label));
  const PackItem* item = place ? &messages_.item(*place) : nullptr;
  const bool same = item != nullptr && item->label == row.fill.label &&
                    (item->generation == Generation::Old) == (version < 0) &&
                    isImage(level(source), wanted, item->region);
  if (!same) {
    faults_.add(Message("what a fill takes from a message is not what was packed")
                    .line("fill     ", names_.node(row.node))
                    .line("expects  ", names_.value(row.fill.label, version), " ", asText(wanted),
                          " of level ", source)
                    .line("packed   ", item == nullptr
                                           ? std::string("no whole piece")
                                           : own_.labels->info(item->label).name + " " + asText(item->region))
                    .text());
    return;
  }
  std::int32_t& known =
      (*packs_)[static_cast<std::size_t>(place->rank)][static_cast<std::size_t>(place->item)];
  if (known != kUnclaimed && known != version) {
    faults_.add(Message("one packed piece is taken for two versions")
                    .line("fill    ", names_.node(row.node))
                    .line("takes   ", names_.value(row.fill.label, version), " and version ", known)
                    .text());
  }
  known = version;
}

}  // namespace tessera::detail
