#include "taskgraph/compile/fill_shapes.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

#include "grid/refine.hpp"

namespace tessera::detail {
namespace {

bool sameShape(const FillShape& a, const FillShape& b) {
  return a.reach == b.reach && a.level == b.level && a.readerLevel == b.readerLevel &&
         a.centering == b.centering && a.halo == b.halo;
}

/// So many rows are always remade; of more, over all tables, at most half: beyond that a full compile is
/// faster.
constexpr std::int64_t kFewRows = 1'000;

}  // namespace

/// Marks slots, and lists the marked ones ascending.
class SlotMarks {
 public:
  explicit SlotMarks(Range slots)
      : first_(slots.begin), marks_(static_cast<std::size_t>(std::max<std::int64_t>(slots.size(), 0)), 0) {}

  /// Slots elsewhere are left alone.
  void mark(std::int64_t slot) {
    const auto at = static_cast<std::size_t>(slot - first_);
    if (slot < first_ || at >= marks_.size() || marks_[at] != 0) return;
    marks_[at] = 1;
    marked_.push_back(static_cast<std::int32_t>(slot));
  }
  bool has(std::int64_t slot) const {
    const auto at = static_cast<std::size_t>(slot - first_);
    return slot >= first_ && at < marks_.size() && marks_[at] != 0;
  }
  std::vector<std::int32_t> takeSorted() {
    std::sort(marked_.begin(), marked_.end());
    return std::move(marked_);
  }

 private:
  std::int64_t first_;
  std::vector<std::uint8_t> marks_;
  std::vector<std::int32_t> marked_;
};

const ShapeData& FillShapes::of(const FillNeed& need) {
  const FillShape shape{need.reach, need.level, need.readerLevel, centeringOf(need), need.halo};
  for (const Known& known : known_) {
    if (sameShape(known.shape, shape)) return known.data;
  }
  return known_.emplace_back(Known{shape, need, changes_ == nullptr ? make(need) : remake(need)}).data;
}

ShapeData FillShapes::make(const FillNeed& need) {
  ShapeData data;
  data.table = static_cast<std::int32_t>(tables_.size());
  tables_.emplace_back();
  if (need.reach == Reach::WholeLevel) {
    const Range own = locals(need.level);
    NeighbourTable& table = tables_.back();
    for (std::int64_t local = own.begin; local < own.end; ++local) {
      table.push({static_cast<std::int32_t>(local), {0, 0, 0}});
    }
    table.endRow();
    table.finish(1);
    return data;
  }
  lookAround(need, data);
  if (input_.ranks == 1) return data;
  sortRemoteSources(need, data);
  std::vector<std::int32_t> own(static_cast<std::size_t>(locals(need.level).size()));
  std::iota(own.begin(), own.end(), static_cast<std::int32_t>(locals(need.level).begin));
  findRemoteReaders(need, own, data);
  return data;
}

void FillShapes::lookAround(const FillNeed& need, ShapeData& data) {
  const Range rows = locals(need.readerLevel);
  NeighbourTable& table = tables_[static_cast<std::size_t>(data.table)];
  table.places.reserve(static_cast<std::size_t>(room(need.readerLevel)));
  for (std::int64_t local = rows.begin; local < rows.end; ++local) {
    addRow(need, local, table.pool, data.remoteSources);
    table.endRow();
    // Rows are much alike: room for all of them like the first avoids copying a list of gigabytes while it
    // grows. A quarter more, untouched, is for recompiles.
    if (local == rows.begin) {
      const auto items = static_cast<std::int64_t>(table.pool.size()) * rows.size();
      table.pool.reserve(static_cast<std::size_t>(NeighbourTable::boundOf(items)));
    }
  }
  table.finish(room(need.readerLevel));
}

void FillShapes::addRow(const FillNeed& need, std::int64_t local, std::vector<Neighbour>& own,
                        std::vector<RemoteSource>& remote) const {
  const Patch& reader = ownPatch(local);
  const PatchId self = need.reach == Reach::Patch ? reader.id : -1;
  const std::size_t first = own.size();
  std::int64_t provided = 0;
  forEachSource(input_.hierarchy->level(need.level), centeringOf(need), targetOf(need, reader), self,
                [&](const FillSource& source) {
                  if (need.reach == Reach::Coarser) provided += source.region.volume();
                  const std::int32_t slot = localOf(source.patch->id);
                  if (slot >= 0) {
                    // Of one source there may be several regions.
                    const Neighbour n{
                        slot,
                        {static_cast<std::int8_t>(source.period.i), static_cast<std::int8_t>(source.period.j),
                         static_cast<std::int8_t>(source.period.k)}};
                    if (own.size() == first || !(own.back() == n)) own.push_back(n);
                  } else {
                    const auto row = static_cast<std::int32_t>(local - locals(need.readerLevel).begin);
                    remote.push_back({row, source.patch, source.region});
                  }
                });
  if (need.reach == Reach::Coarser) expectProvided(need, reader, provided);
}

void FillShapes::sortRemoteSources(const FillNeed& need, ShapeData& data) const {
  const Range rows = locals(need.readerLevel);
  const auto before = [&](const RemoteSource& a, const RemoteSource& b) {
    return beforeByPosition(ownPatch(rows.begin + a.row).cells, ownPatch(rows.begin + b.row).cells);
  };
  if (!std::is_sorted(data.remoteSources.begin(), data.remoteSources.end(), before))
    std::stable_sort(data.remoteSources.begin(), data.remoteSources.end(), before);
}

void FillShapes::expectProvided(const FillNeed& need, const Patch& reader, std::int64_t provided) const {
  const Level& level = input_.hierarchy->level(need.level);
  const Box domain = level.domainOf(centeringOf(need));
  Box wanted = targetOf(need, reader);
  for (int d = 0; d < kAxes; ++d) {
    if (level.geometry().wraps(d)) continue;
    wanted.lo[d] = std::max(wanted.lo[d], domain.lo[d]);
    wanted.hi[d] = std::min(wanted.hi[d], domain.hi[d]);
  }
  if (provided == wanted.volume()) return;
  const LabelInfo& info = input_.labels->info(need.label);
  Message message(info.prolongation == Prolongation::Constant
                      ? "a read of the coarser level leaves it"
                      : "a read of the coarser level, or what a halo is interpolated from, leaves it");
  message.line("label  ", info.name, " under patch ", asText(reader))
      .line("reads  fromCoarser with ", asText(wanted), ", of which level ", need.level, " lacks ",
            wanted.volume() - provided)
      .line("fix    read fewer layers, or enlarge the boxes of level ", need.level, " in [[grid.level]]");
  throw PlanError({message.text()});
}

void FillShapes::findRemoteReaders(const FillNeed& need, std::span<const std::int32_t> slots,
                                   ShapeData& data) const {
  const Level& level = input_.hierarchy->level(need.level);
  std::vector<const Patch*> readers;
  for (const std::int32_t local : slots) {
    for (const Patch* reader : possibleReaders(*input_.hierarchy, ownPatch(local), need.reach, need.halo)) {
      if (ownerOf(reader->id) != input_.rank) readers.push_back(reader);
    }
  }
  sortByPosition(readers);
  for (const Patch* reader : readers) {
    const PatchId self = need.reach == Reach::Patch ? reader->id : -1;
    forEachSource(level, centeringOf(need), targetOf(need, *reader), self, [&](const FillSource& source) {
      const std::int32_t mine = localOf(source.patch->id);
      if (mine < 0) return;
      data.remoteReaders.push_back(
          {ownerOf(reader->id), reader->id, mine, shift(source.region, Index{} - source.shift)});
    });
  }
}

std::int32_t FillShapes::localOf(PatchId patch) const {
  if (!graphs_.localOfPatch.empty()) return graphs_.localOfPatch[static_cast<std::size_t>(patch)];
  if (ownerOf(patch) != input_.rank) return -1;
  const auto& own = graphs_.ownPatches;
  if (own.size() == input_.owners->size()) return static_cast<std::int32_t>(patch);
  return static_cast<std::int32_t>(std::lower_bound(own.begin(), own.end(), patch) - own.begin());
}

Box FillShapes::targetOf(const FillNeed& need, const Patch& reader) const {
  const Level& level = input_.hierarchy->level(need.level);
  return fillTarget(level, seenPatch(*input_.hierarchy, reader, need.reach), centeringOf(need), need.halo,
                    need.reach);
}

void FillShapes::coarseSources(const FillNeed& need, const Patch& reader,
                               std::vector<CoarseSource>& found) const {
  const Level& level = input_.hierarchy->level(need.level);
  const Level& coarser = input_.hierarchy->level(need.level - 1);
  const Centering centering = centeringOf(need);
  const Box target = targetOf(need, reader);
  const Images images = imagesOf(level, target);
  std::int64_t missing = 0;
  const auto lookBelow = [&](const Box& open, Index period) {
    if (need.ring) return found.push_back({reader.id, nullptr, shift(open, shiftOf(level, period)), {}});
    missing += open.volume();
    const Box under = coarsen(open, level.ratioToCoarser());
    forEachSource(coarser, centering, under, -1, [&](const FillSource& below) {
      const Box region = intersect(open, refine(below.region, level.ratioToCoarser()));
      missing -= region.volume();
      // The image in which the source counts: its upper border at the end of an axis is one period off.
      found.push_back({reader.id, below.patch, shift(region, shiftOf(level, period)), period + below.period});
    });
  };
  forEachImage(images, [&](Index period) {
    const Box here = intersect(shift(target, Index{} - shiftOf(level, period)), level.domainOf(centering));
    std::deque<Box> open{here};
    forEachClosedBox(level, centering, here, [&](const Box& closed) {
      for (std::size_t left = open.size(); left > 0; --left) {
        for (const Box& part : subtract(open.front(), closed)) open.push_back(part);
        open.pop_front();
      }
    });
    for (const Box& part : open) lookBelow(part, period);
  });
  if (missing == 0) return;
  throw PlanError(
      {Message("a halo leaves both its level and the coarser one")
           .line("label  ", input_.labels->info(need.label).name, " around patch ", asText(reader))
           .line("where  ", missing, " cells are on no patch of level ", need.level, " or ", need.level - 1)
           .line("fix    enlarge the boxes of level ", need.level - 1, " in [[grid.level]]")
           .text()});
}

std::span<const std::int32_t> ReaderLists::of(std::int32_t slot) const {
  const auto at = std::lower_bound(slots.begin(), slots.end(), slot);
  return at == slots.end() || *at != slot ? std::span<const std::int32_t>() : lists.row(at - slots.begin());
}

ShapeData FillShapes::remake(const FillNeed& need) {
  ShapeData data;
  data.table = static_cast<std::int32_t>(known_.size());
  if (need.reach != Reach::WholeLevel) data.rows = rowsToRemake(need);
  return data;
}

FillShapes::Remade FillShapes::remakeAll() {
  std::int64_t rows = 0;
  std::int64_t all = 0;
  for (const Known& known : known_) {
    if (known.shape.reach == Reach::WholeLevel) continue;
    rows += static_cast<std::int64_t>(known.data.rows.size());
    all += locals(known.shape.readerLevel).size();
  }
  if (rows > kFewRows && 2 * rows > all) return Remade::TooMuch;
  bool room = true;
  for (Known& known : known_) {
    const bool whole = known.shape.reach == Reach::WholeLevel;
    room = (whole ? remakeWholeLevel(known.need, known.data) : remakeRows(known.need, known.data)) && room;
    if (!whole) known.data.remote = known.data.remote || touchesOtherRanks(known.need);
  }
  return room ? Remade::Done : Remade::OutOfRoom;
}

bool FillShapes::remakeWholeLevel(const FillNeed& need, ShapeData& data) {
  data.remote = !changesOf(need.level).same;
  const Range own = locals(need.level);
  if (own.end == changesOf(need.level).before.end) return true;
  std::vector<Neighbour> row;
  for (std::int64_t local = own.begin; local < own.end; ++local) {
    row.push_back({static_cast<std::int32_t>(local), {0, 0, 0}});
  }
  return tables_[static_cast<std::size_t>(data.table)].replace(0, row);
}

std::vector<std::int32_t> FillShapes::readingSlots(LevelId sourceLevel, std::span<const Box> regions,
                                                   Reach reach, const Halo& halo) const {
  const LevelId readers = readerLevelOf(sourceLevel, reach);
  SlotMarks marks(locals(readers));
  for (const Box& region : regions) {
    forEachReadingBox(*input_.hierarchy, sourceLevel, region, reach, halo, [&](const Box& here) {
      input_.hierarchy->level(readers).forEachOverlapping(
          here, [&](const Patch& patch) { marks.mark(localOf(patch.id)); });
    });
  }
  return marks.takeSorted();
}

/// The rows of patches that changed, and those that may read of a place where something changed.
std::vector<std::int32_t> FillShapes::rowsToRemake(const FillNeed& need) const {
  const Range used = locals(need.readerLevel);
  std::vector<std::int32_t> rows =
      readingSlots(need.level, changesOf(need.level).regions, need.reach, need.halo);
  const auto middle = static_cast<std::ptrdiff_t>(rows.size());
  for (const std::int32_t slot : changesOf(need.readerLevel).slots) {
    if (slot < used.end) rows.push_back(slot);
  }
  std::inplace_merge(rows.begin(), rows.begin() + middle, rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

/// A patch that stays gets other readers only where they changed, and then a row that changed, the old or the
/// new one, says so.
bool FillShapes::remakeRows(const FillNeed& need, ShapeData& data) {
  const LevelChanges& readers = changesOf(need.readerLevel);
  const Range used = locals(need.readerLevel);
  NeighbourTable& table = tables_[static_cast<std::size_t>(data.table)];
  SlotMarks sources(locals(need.level));
  for (const std::int32_t slot : changesOf(need.level).slots) sources.mark(slot);
  const auto changed = [&](std::int32_t slot) {
    return std::binary_search(readers.slots.begin(), readers.slots.end(), slot);
  };
  const auto markSources = [&](std::int32_t slot) {
    for (const Neighbour& n : table.row(slot - used.begin)) sources.mark(n.source);
  };
  for (const std::int32_t slot : readers.slots) {
    markSources(slot);
    if (slot >= used.end) table.replace(slot - used.begin, {});
  }
  std::vector<Neighbour> row;
  bool room = true;
  for (const std::int32_t slot : data.rows) {
    row.clear();
    if (mayPassOn(need)) markSources(slot);
    addRow(need, slot, row, data.remoteSources);
    room = table.replace(slot - used.begin, row) && room;
    if (changed(slot) || mayPassOn(need)) markSources(slot);
  }
  data.remote = !data.remoteSources.empty();
  data.sources = sources.takeSorted();
  return room;
}

/// Whether a patch of another rank may read of a place where something changed, or own patches be read by
/// one that changed. May say so a little too often.
bool FillShapes::touchesOtherRanks(const FillNeed& need) const {
  if (input_.ranks == 1) return false;
  const Level& readers = input_.hierarchy->level(need.readerLevel);
  bool found = false;
  for (const Box& region : changesOf(need.level).regions) {
    forEachReadingBox(*input_.hierarchy, need.level, region, need.reach, need.halo, [&](const Box& here) {
      readers.forEachOverlapping(here, [&](const Patch& patch) { found = found || localOf(patch.id) < 0; });
    });
    if (found) return true;
  }
  forEachSlotReadAnew(need, [&](std::int32_t) { found = true; });
  return found;
}

template <class Visit>
void FillShapes::forEachSlotReadAnew(const FillNeed& need, Visit&& visit) const {
  for (const Box& region : changesOf(need.readerLevel).remoteRegions) {
    forEachSource(input_.hierarchy->level(need.level), centeringOf(need),
                  targetOf(need, {-1, need.readerLevel, region}), -1, [&](const FillSource& source) {
                    const std::int32_t slot = localOf(source.patch->id);
                    if (slot >= 0) visit(slot);
                  });
  }
}

void FillShapes::markBeside(LevelId level, SlotMarks& marks) const {
  for (const Box& region : changesOf(level).regions) {
    forEachReadingBox(*input_.hierarchy, level, region, Reach::Patch, {}, [&](const Box& here) {
      input_.hierarchy->level(level).forEachOverlapping(
          here, [&](const Patch& patch) { marks.mark(localOf(patch.id)); });
    });
  }
}

void FillShapes::lookAtOtherRanks(std::int32_t table, std::vector<std::int32_t> rows,
                                  std::span<const std::int32_t> senders) {
  ShapeData& data = known_[static_cast<std::size_t>(table)].data;
  const FillNeed& need = known_[static_cast<std::size_t>(table)].need;
  if (need.reach == Reach::WholeLevel) return;
  SlotMarks receiving(locals(need.readerLevel));
  for (const std::int32_t slot : rows) receiving.mark(slot);
  for (const std::int32_t slot : data.rows) receiving.mark(slot);
  std::vector<Neighbour> own;
  data.remoteSources.clear();
  for (const std::int32_t slot : receiving.takeSorted()) {
    own.clear();
    addRow(need, slot, own, data.remoteSources);
  }
  sortRemoteSources(need, data);
  SlotMarks sending(locals(need.level));
  for (const std::int32_t slot : senders) sending.mark(slot);
  for (const std::int32_t slot : changesOf(need.level).slots) sending.mark(slot);
  forEachSlotReadAnew(need, [&](std::int32_t slot) { sending.mark(slot); });
  if (mayPassOn(need)) markBeside(need.level, sending);
  data.remoteReaders.clear();
  findRemoteReaders(need, sending.takeSorted(), data);
}

ReaderLists FillShapes::readersOf(std::int32_t table, std::vector<std::int32_t> slots) const {
  const FillNeed& need = known_[static_cast<std::size_t>(table)].need;
  const NeighbourTable& rows = tables_[static_cast<std::size_t>(table)];
  std::vector<Box> boxes;
  for (const std::int32_t slot : slots) boxes.push_back(ownPatch(slot).cells);
  const std::int64_t first = locals(need.readerLevel).begin;
  const Range sources = locals(need.level);
  std::vector<std::int32_t> positions(static_cast<std::size_t>(sources.size()), -1);
  for (std::size_t n = 0; n < slots.size(); ++n)
    positions[static_cast<std::size_t>(slots[n] - sources.begin)] = static_cast<std::int32_t>(n);
  struct Pair {
    std::int32_t position;
    std::int32_t row;
  };
  std::vector<Pair> pairs;
  ReaderLists found;
  std::vector<std::int64_t> counts(slots.size(), 0);
  for (const std::int32_t reader :
       readingSlots(need.level, joined(std::move(boxes)), need.reach, need.halo)) {
    const auto row = static_cast<std::int32_t>(reader - first);
    for (const Neighbour& n : rows.row(row)) {
      const std::int32_t position = positions[static_cast<std::size_t>(n.source - sources.begin)];
      if (position < 0) continue;
      pairs.push_back({position, row});
      ++counts[static_cast<std::size_t>(position)];
    }
  }
  std::int64_t begin = 0;
  for (const std::int64_t count : counts) {
    found.lists.places.emplace_back(begin, 0);
    begin += count;
  }
  found.lists.pool.resize(pairs.size());
  for (const Pair& pair : pairs) {
    ListPlace& place = found.lists.places[static_cast<std::size_t>(pair.position)];
    found.lists.pool[static_cast<std::size_t>(place.begin() + place.count())] = pair.row;
    place.grow();
  }
  found.slots = std::move(slots);
  return found;
}

}  // namespace tessera::detail
