#include "taskgraph/detail/fill_shapes.hpp"

#include <algorithm>
#include <deque>

#include "grid/refine.hpp"

namespace tessera::detail {
namespace {

bool sameShape(const FillShape& a, const FillShape& b) {
  return a.reach == b.reach && a.level == b.level && a.readerLevel == b.readerLevel &&
         a.centering == b.centering && a.halo == b.halo;
}

}  // namespace

const ShapeData& FillShapes::of(const FillNeed& need) {
  const FillShape shape{need.reach, need.level, need.readerLevel, centeringOf(need), need.halo};
  for (const auto& [known, data] : known_) {
    if (sameShape(known, shape)) return data;
  }
  return known_.emplace_back(shape, make(need)).second;
}

ShapeData FillShapes::make(const FillNeed& need) {
  ShapeData data;
  data.table = static_cast<std::int32_t>(tables_.size());
  tables_.emplace_back();
  if (need.reach == Reach::WholeLevel) {
    const Range own = locals(need.level);
    NeighbourTable& table = tables_.back();
    for (std::int64_t local = own.begin; local < own.end; ++local) {
      table.list.push_back({static_cast<std::int32_t>(local), {0, 0, 0}});
    }
    table.offsets = {0, own.size()};
    return data;
  }
  lookAround(need, data);
  if (input_.owners->size() != graphs_.ownPatches.size()) findRemoteReaders(need, data);
  return data;
}

void FillShapes::lookAround(const FillNeed& need, ShapeData& data) {
  const Level& level = input_.hierarchy->level(need.level);
  const Range rows = locals(need.readerLevel);
  NeighbourTable& table = tables_[static_cast<std::size_t>(data.table)];
  table.offsets.reserve(static_cast<std::size_t>(rows.size()) + 1);
  table.offsets.push_back(0);
  for (std::int64_t local = rows.begin; local < rows.end; ++local) {
    const Patch& reader = ownPatch(local);
    const PatchId self = need.reach == Reach::Patch ? reader.id : -1;
    std::int64_t provided = 0;
    forEachSource(level, centeringOf(need), targetOf(need, reader), self, [&](const FillSource& source) {
      provided += source.region.volume();
      const std::int32_t own = localOf(source.patch->id);
      if (own >= 0) {
        table.list.push_back(
            {own,
             {static_cast<std::int8_t>(source.period.i), static_cast<std::int8_t>(source.period.j),
              static_cast<std::int8_t>(source.period.k)}});
      } else {
        data.remoteSources.push_back(
            {static_cast<std::int32_t>(local - rows.begin), source.patch, source.region});
      }
    });
    table.offsets.push_back(static_cast<std::int64_t>(table.list.size()));
    // Rows are much alike: room for all of them like the first avoids copying a list of gigabytes while it
    // grows.
    if (local == rows.begin) table.list.reserve(table.list.size() * static_cast<std::size_t>(rows.size()));
    if (need.reach == Reach::Coarser) expectProvided(need, reader, provided);
  }
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
  throw PlanError(
      {Message("a read of the coarser level leaves it")
           .line("label  ", input_.labels->info(need.label).name, " under patch ", asText(reader))
           .line("reads  fromCoarser with ", asText(wanted), ", of which level ", need.level, " lacks ",
                 wanted.volume() - provided)
           .line("fix    read fewer layers, or enlarge the boxes of level ", need.level, " in [[grid.level]]")
           .text()});
}

void FillShapes::findRemoteReaders(const FillNeed& need, ShapeData& data) {
  const Level& level = input_.hierarchy->level(need.level);
  std::vector<const Patch*> readers;
  const Range own = locals(need.level);
  for (std::int64_t local = own.begin; local < own.end; ++local) {
    for (const Patch* reader : possibleReaders(*input_.hierarchy, ownPatch(local), need.reach, need.halo)) {
      if (ownerOf(reader->id) != input_.rank) readers.push_back(reader);
    }
  }
  std::sort(readers.begin(), readers.end(), [](const Patch* a, const Patch* b) { return a->id < b->id; });
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
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
    missing += open.volume();
    coarser.forEachOverlapping(
        cellsOwning(coarsen(open, level.ratioToCoarser()), centering), [&](const Patch& below) {
          const Box region =
              intersect(open, refine(coarser.ownedBy(below, centering), level.ratioToCoarser()));
          if (region.empty()) return;
          missing -= region.volume();
          found.push_back({reader.id, &below, shift(region, shiftOf(level, period)), period});
        });
  };
  for (std::int64_t k = images.first.k; k <= images.last.k; ++k) {
    for (std::int64_t j = images.first.j; j <= images.last.j; ++j) {
      for (std::int64_t i = images.first.i; i <= images.last.i; ++i) {
        const Index period{i, j, k};
        std::deque<Box> open{
            intersect(shift(target, Index{} - shiftOf(level, period)), level.domainOf(centering))};
        level.forEachOverlapping(cellsOwning(open.front(), centering), [&](const Patch& covering) {
          const Box owned = level.ownedBy(covering, centering);
          for (std::size_t left = open.size(); left > 0; --left) {
            for (const Box& part : subtract(open.front(), owned)) open.push_back(part);
            open.pop_front();
          }
        });
        for (const Box& part : open) lookBelow(part, period);
      }
    }
  }
  if (missing == 0) return;
  throw PlanError(
      {Message("a halo leaves both its level and the coarser one")
           .line("label  ", input_.labels->info(need.label).name, " around patch ", asText(reader))
           .line("where  ", missing, " cells are on no patch of level ", need.level, " or ", need.level - 1)
           .line("fix    enlarge the boxes of level ", need.level - 1, " in [[grid.level]]")
           .text()});
}

}  // namespace tessera::detail
