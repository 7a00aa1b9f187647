#include "taskgraph/proof/touch_collector.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/text/error.hpp"
#include "grid/refine.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/storage/scratch_halos.hpp"

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

/// Whether some condition of a side asks that of it.
template <class Asks>
bool anyCondition(const LabelInfo& info, int side, Asks&& asks) {
  const auto any = [&](const BoundaryConditions& conditions) {
    bool found = false;
    for (int n = 0; n < conditions.count(side); ++n)
      found = found || asks(conditions.condition(side, n).kind == BoundaryKind::Outflow);
    return found;
  };
  // What a component codes reads both.
  if (info.coded[static_cast<std::size_t>(side)]) return true;
  return info.ofComponents.empty() ? any(info.boundary)
                                   : std::any_of(info.ofComponents.begin(), info.ofComponents.end(), any);
}

/// The indices from which the conditions of a side make `part`, or a box around them.
Box mirrored(const Level& level, const LabelInfo& info, const BoundaryPart& part) {
  const int axis = part.side / 2;
  const bool high = part.side % 2 == 1;
  const Box domain = level.domainOf(info.centering);
  const std::int64_t edge = high ? domain.hi[axis] - 1 : domain.lo[axis];
  Box border = part.region;
  border.lo[axis] = edge;
  border.hi[axis] = edge + 1;
  if (!anyCondition(info, part.side, [](bool continues) { return !continues; })) return border;
  Box source = part.region;
  const std::int64_t about = 2 * edge + (onBorders(info.centering, axis) ? 0 : high ? 1 : -1);
  source.lo[axis] = about - (part.region.hi[axis] - 1);
  source.hi[axis] = about - part.region.lo[axis] + 1;
  const bool both = anyCondition(info, part.side, [](bool continues) { return continues; });
  return both ? boundingBox(source, border) : source;
}

}  // namespace

TouchCollector::TouchCollector(std::span<const CompiledGraphs> ranks, std::size_t plan, Rank rank,
                               const UnionGraph& nodes, const DeclaredVersions& versions,
                               const RaceMessages& messages, RaceFaults& faults)
    : own_(ranks[static_cast<std::size_t>(rank)]),
      graph_(own_.plans[plan]),
      plan_(plan),
      nodes_(nodes),
      versions_(versions),
      messages_(messages),
      faults_(faults),
      names_(ranks, plan, nodes) {
  for (const StorageNeed& need : storageNeeds(own_)) storage_[{need.label, need.patch}] = need;
}

void TouchCollector::collect(PackVersions& packs, std::vector<Touch>& touches) {
  packs_ = &packs;
  touches_ = &touches;
  startOfStep();
  for (const NodeBlock& block : graph_.blocks) {
    switch (block.kind) {
      case NodeKind::Task:
        task(block);
        break;
      case NodeKind::Fill:
        fill(block);
        break;
      case NodeKind::Send:
        break;
      case NodeKind::Receive:
        receive(block);
        break;
      case NodeKind::Reduce:
        reduce(block);
        break;
    }
  }
}

void TouchCollector::startOfStep() {
  for (std::size_t local = 0; local < own_.ownPatches.size(); ++local) {
    if (own_.ownPatches[local] < 0) continue;  // a spare slot
    const Patch& patch = ownPatch(static_cast<std::int64_t>(local));
    for (LabelId label = 0; label < own_.labels->count(); ++label) {
      const auto need = storage_.find({label, patch.id});
      // What shares its memory has not lasted from the step before, or from an earlier item.
      if (need == storage_.end() || need->second.slot >= 0) continue;
      const Box owned = level(patch.level).closedBox(patch, centeringOf(label));
      const auto here = static_cast<std::int64_t>(local);
      add(entry(label, Generation::Old, here), owned, -1, -1, TouchKind::Write);
      if (graph_.carries({label, patch.level}))
        add(entry(label, Generation::New, here), owned, -1, 0, TouchKind::Write);
    }
  }
}

void TouchCollector::task(const NodeBlock& block) {
  const TaskUnit& unit = graph_.unitOf(block);
  const TaskDeclaration& task = graph_.declarationOf(unit);
  if (unit.part == UnitPart::Release) return;  // touches nothing
  for (std::int32_t row = 0; row < block.count; ++row) {
    const std::int64_t node = nodes_.node(own_.rank, block.firstNode + row);
    if (unit.part == UnitPart::AllPatches) {
      const Range own = own_.localsOfLevel[static_cast<std::size_t>(unit.level)];
      for (std::int64_t local = own.begin; local < own.end; ++local)
        taskReads(unit, local, node, static_cast<std::int32_t>(local - own.begin));
      for (std::int64_t local = own.begin; local < own.end; ++local) taskWrites(unit, local, node);
      if (own.size() == 0) wholeReads(unit, node);
    } else {
      const std::int64_t local = unit.level < 0 ? -1 : block.firstLocal + row;
      taskReads(unit, local, node, row);
      if (local >= 0) taskWrites(unit, local, node);
    }
    std::int64_t number = unit.contributions.begin + row * unit.contributions.size();
    for (const ContributionDeclaration& c : task.contributions) {
      add({Memory::Kind::Contribution, own_.rank, c.reduction, 0, number++}, bytesBox(0, 1), node, 0,
          TouchKind::Write);
    }
  }
}

void TouchCollector::taskReads(const TaskUnit& unit, std::int64_t local, std::int64_t node,
                               std::int32_t row) {
  const Patch* patch = local < 0 ? nullptr : &ownPatch(local);
  for (const ReadDeclaration& read : graph_.declarationOf(unit).reads) {
    if (read.reach != Reach::Patch) {
      gatherRead(unit, read, patch, node, row);
    } else if (patch != nullptr) {
      const Box box = readBox(level(patch->level), *patch, centeringOf(read.label), read.halo);
      const Halo beyond = beyondBorders(level(patch->level).geometry(), centeringOf(read.label), read.halo);
      if (isScratch(own_, {read.label, unit.level}) && !beyond.isZero()) {
        if (const FillPlan* fill = fillOf(unit, read, node)) scratchRead(*fill, box, local, node, row);
        continue;
      }
      add(entry(read.label, read.generation, local), box, node, versions_.ofRead(unit.task, unit.level, read),
          TouchKind::Read);
    }
  }
}

/// What a task on all patches of a level reads where the rank has none of them.
void TouchCollector::wholeReads(const TaskUnit& unit, std::int64_t node) {
  for (const ReadDeclaration& read : graph_.declarationOf(unit).reads) {
    if (read.reach == Reach::WholeLevel) gatherRead(unit, read, nullptr, node, 0);
  }
}

void TouchCollector::taskWrites(const TaskUnit& unit, std::int64_t local, std::int64_t node) {
  const Patch& patch = ownPatch(local);
  for (const WriteDeclaration& write : graph_.declarationOf(unit).writes) {
    const Memory memory = entry(write.label, Generation::New, local);
    const Box owned = level(patch.level).closedBox(patch, centeringOf(write.label));
    const std::int32_t version = versions_.ofWrite(unit.task, unit.level, write.label);
    if (write.modifies) add(memory, owned, node, version - 1, TouchKind::Read);
    add(memory, owned, node, version, TouchKind::Write);
  }
}

const FillPlan* TouchCollector::fillOf(const TaskUnit& unit, const ReadDeclaration& read, std::int64_t node) {
  const LevelId source = DeclaredVersions::levelRead(read, unit.level);
  for (const UnitAccess& access : graph_.accessesOf(unit)) {
    const bool same = access.label == read.label && access.level == source && access.reach == read.reach &&
                      !access.writes() && generationOf(access.mode) == read.generation && access.fill >= 0;
    if (same) return &graph_.fills[static_cast<std::size_t>(access.fill)];
  }
  faults_.add(Message("a read has no fill")
                  .line("reader  ", names_.node(node))
                  .line("reads   ", own_.labels->info(read.label).name, " of level ", source)
                  .text());
  return nullptr;
}

void TouchCollector::gatherRead(const TaskUnit& unit, const ReadDeclaration& read, const Patch* patch,
                                std::int64_t node, std::int32_t row) {
  const LevelId source = DeclaredVersions::levelRead(read, unit.level);
  const FillPlan* fill = fillOf(unit, read, node);
  if (fill == nullptr) return;
  const Level& from = level(source);
  const Centering centering = centeringOf(read.label);
  const std::int32_t version = versions_.ofRead(unit.task, unit.level, read);
  Memory memory{Memory::Kind::Gather, own_.rank, read.label, 0, fill->firstGather};
  if (fill->shared.size() > 0) {  // the window of the patches itself
    for (const std::int32_t member : own_.shared[static_cast<std::size_t>(fill->shared.begin)].members) {
      add(entry(read.label, read.generation, member), from.closedBox(ownPatch(member), centering), node,
          version, TouchKind::Read);
    }
    return;
  }
  if (read.reach == Reach::WholeLevel) {
    add(memory, from.domainOf(centering), node, version, TouchKind::Depend);
    return;
  }
  memory.number += row;
  const Box box = readBox(from, seenPatch(*own_.hierarchy, *patch, read.reach), centering, read.halo);
  if (read.reach == Reach::Coarser) {
    add(memory, box, node, version, TouchKind::Read);
    return;
  }
  forEachSource(from, centering, box, -1,
                [&](const FillSource& finer) { add(memory, finer.region, node, version, TouchKind::Read); });
}

void TouchCollector::receive(const NodeBlock& block) {
  for (std::int32_t n = 0; n < block.count; ++n) {
    const std::int32_t number = block.item + n;
    add({Memory::Kind::Received, own_.rank, -1, 0, number},
        bytesBox(0, graph_.receives[static_cast<std::size_t>(number)].bytes),
        nodes_.node(own_.rank, block.firstNode + n), 0, TouchKind::Write);
  }
}

void TouchCollector::reduce(const NodeBlock& block) {
  for (std::int32_t n = 0; n < block.count; ++n) {
    const ReductionPlan& plan = graph_.reductions[static_cast<std::size_t>(block.item + n)];
    for (const std::int32_t from : plan.blocks) {
      const NodeBlock& given = graph_.blocks[static_cast<std::size_t>(from)];
      const TaskUnit& unit = graph_.units[static_cast<std::size_t>(given.item)];
      const auto& declared = graph_.declarationOf(unit).contributions;
      for (std::int32_t row = 0; row < given.count; ++row) {
        for (std::size_t c = 0; c < declared.size(); ++c) {
          if (declared[c].reduction != plan.reduction) continue;
          const std::int64_t number =
              unit.contributions.begin + row * unit.contributions.size() + static_cast<std::int64_t>(c);
          add({Memory::Kind::Contribution, own_.rank, plan.reduction, 0, number}, bytesBox(0, 1),
              nodes_.node(own_.rank, block.firstNode + n), 0, TouchKind::Read);
        }
      }
    }
  }
}

void TouchCollector::collectSends(const PackVersions& packs, std::vector<Touch>& touches) {
  touches_ = &touches;
  for (const NodeBlock& block : graph_.blocks) {
    if (block.kind != NodeKind::Send) continue;
    for (std::int32_t n = 0; n < block.count; ++n) {
      const std::int64_t node = nodes_.node(own_.rank, block.firstNode + n);
      const Range items = graph_.sends[static_cast<std::size_t>(block.item + n)].items;
      for (std::int64_t p = items.begin; p < items.end; ++p) {
        const PackItem& item = graph_.packItems[static_cast<std::size_t>(p)];
        if (item.source < 0) {
          add({Memory::Kind::Received, own_.rank, -1, 0, item.forward},
              bytesBox(item.forwardOffset, item.bytes), node, 0, TouchKind::Read);
          continue;
        }
        const std::int32_t version = packs[static_cast<std::size_t>(own_.rank)][static_cast<std::size_t>(p)];
        if (version == kUnclaimed) {
          faults_.add(Message("a packed piece is not taken by any fill of its receiver")
                          .line("packed  ", own_.labels->info(item.label).name, " ", asText(item.region),
                                " of ", asText(ownPatch(item.source)))
                          .line("by      ", names_.node(node))
                          .text());
          continue;
        }
        add(entry(item.label, item.generation, item.source), item.region, node, version, TouchKind::Read);
      }
    }
  }
}

void TouchCollector::add(const Memory& memory, const Box& box, std::int64_t node, std::int32_t version,
                         TouchKind kind) {
  if (box.empty()) return;
  const Box* window = windowOf(memory);
  Box bytes;
  if (memory.kind == Memory::Kind::Received) {
    bytes = bytesBox(0, graph_.receives[static_cast<std::size_t>(memory.number)].bytes);
    window = &bytes;
  }
  const bool inside =
      memory.kind == Memory::Kind::Contribution || (window != nullptr && window->contains(box));
  if (!inside) {
    faults_.add(Message("a node accesses memory outside of its window")
                    .line("node    ", names_.node(node))
                    .line("touches ", asText(box), " of ", names_.memory(memory))
                    .line("kept    ", window == nullptr ? std::string("nothing") : asText(*window))
                    .text());
  }
  touches_->push_back({memory, box, node, version, kind});
}

const SharedWindow* TouchCollector::sharedOf(LabelId label, std::int64_t local) const {
  const auto found = storage_.find({label, own_.ownPatches[static_cast<std::size_t>(local)]});
  if (found == storage_.end() || found->second.shared < 0) return nullptr;
  return &own_.shared[static_cast<std::size_t>(found->second.shared)];
}

Memory TouchCollector::entry(LabelId label, Generation generation, std::int64_t local) const {
  const auto found = storage_.find({label, own_.ownPatches[static_cast<std::size_t>(local)]});
  const bool two = found != storage_.end() && found->second.hasOld;
  const SharedWindow* shared = sharedOf(label, local);
  return {Memory::Kind::Entry, own_.rank, label, two && generation == Generation::New ? 1 : 0,
          shared == nullptr ? local : shared->members.front()};
}

const Box* TouchCollector::windowOf(const Memory& memory) const {
  if (memory.kind == Memory::Kind::Scratch) {
    const auto found = scratch_.find({memory.label, memory.number});
    return found == scratch_.end() ? nullptr : &found->second;
  }
  if (memory.kind == Memory::Kind::Gather) {
    const auto& gathers = own_.gathers[plan_];
    const auto at = static_cast<std::size_t>(memory.number);
    return memory.number >= 0 && at < gathers.size() ? &gathers[at].window : nullptr;
  }
  if (memory.kind != Memory::Kind::Entry) return nullptr;
  if (const SharedWindow* shared = sharedOf(memory.label, memory.number)) return &shared->window;
  const auto found = storage_.find({memory.label, own_.ownPatches[static_cast<std::size_t>(memory.number)]});
  return found == storage_.end() ? nullptr : &found->second.window;
}

void TouchCollector::fill(const NodeBlock& block) {
  const FillPlan& fill = graph_.fillOf(block);
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
  const FillPlan& fill = graph_.fillOf(block);
  const Level& from = level(fill.sourceLevel);
  const Centering centering = centeringOf(fill.label);
  Row row{fill, from, centering, nodes_.node(own_.rank, block.firstNode + n), n, {}, {}, nullptr, {}, {}};
  if (fill.reach == Reach::WholeLevel) {
    row.target = from.domainOf(centering);
  } else {
    const Patch seen = seenPatch(*own_.hierarchy, ownPatch(block.firstLocal + n), fill.reach);
    row.target = fillTarget(from, seen, centering, fill.halo, fill.reach);
    row.stored = storedBox(from, seen, centering, fill.reach);
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
  const Box owned = from.closedBox(patch, centering);
  const Row row{fill, from, centering, node, n, memory, target, nullptr, target, owned};
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
    const auto take = [&](const Box& there, Index by) {
      add(entry(row.fill.label, row.fill.generation, n.source), shift(there, Index{} - by), row.node,
          row.fill.version, TouchKind::Read);
      if (row.fill.reach != Reach::WholeLevel)
        add(row.to, there, row.node, row.fill.version, TouchKind::Write);
    };
    if (row.fill.reach == Reach::WholeLevel) {
      forEachInDomain(row.level, ownPatch(n.source), row.centering, take);
      continue;
    }
    const Index by = shiftOf(row.level, {n.image[0], n.image[1], n.image[2]});
    forEachSourceRegion(row.level, ownPatch(n.source), row.centering, row.bounds, row.stored, by,
                        [&](const Box& there) { take(there, by); });
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
  const DeclaredVersions::Below below =
      versions_.ofCoarser(row.fill.label, row.fill.sourceLevel, row.fill.version);
  const std::int32_t version = below.version;
  const bool isConstant = own_.labels->info(row.fill.label).prolongation == Prolongation::Constant;
  for (const CoarsePiece& piece : row.fill.coarse.row(row.row)) {
    const Box coarse =
        coarsen(shift(piece.region, Index{} - shiftOf(row.level, piece.image)), row.level.ratioToCoarser());
    add(row.to, piece.region, row.node, row.fill.version, TouchKind::Write);
    if (!isConstant || below.label != row.fill.label) {
      fromRing(row, piece.region, below);
      continue;
    }
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

void TouchCollector::fromRing(const Row& row, const Box& region, const DeclaredVersions::Below& below) {
  if (row.fill.ring < 0) {
    faults_.add(Message("an interpolated halo has no coarser cells")
                    .line("fill   ", names_.node(row.node))
                    .line("lacks  what ", asText(region), " is interpolated from")
                    .text());
    return;
  }
  const FillPlan& ring = graph_.fills[static_cast<std::size_t>(row.fill.ring)];
  add({Memory::Kind::Gather, own_.rank, below.label, 0, ring.firstGather + row.row},
      interpolatedFrom(region, row.level.ratioToCoarser(), row.centering), row.node, below.version,
      TouchKind::Read);
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
    forEachInDomain(row.level, ownPatch(n.source), row.centering,
                    [&](const Box& region, Index) { there.insert(corners(region)); });
  }
  for (const FillPiece& piece : row.fill.pieces.row(row.row)) there.insert(corners(piece.region));
  for (const Patch& patch : row.level.patches()) {
    bool all = true;
    forEachInDomain(row.level, patch, row.centering,
                    [&](const Box& region, Index) { all = all && there.count(corners(region)) > 0; });
    if (all) continue;
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
