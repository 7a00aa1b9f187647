#include <algorithm>

#include "taskgraph/compile/fill_shapes.hpp"

namespace tessera::detail {
namespace {

/// So many rows are always remade; of more, over all tables, at most half: beyond that a full compile is
/// faster.
constexpr std::int64_t kFewRows = 1'000;

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

}  // namespace

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
    addRow(need, slot, row, data.remoteSources);
    room = table.replace(slot - used.begin, row) && room;
    if (changed(slot)) markSources(slot);
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
