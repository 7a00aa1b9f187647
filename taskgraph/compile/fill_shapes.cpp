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

}  // namespace

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
  std::int64_t provided = 0;
  forEachSource(input_.hierarchy->level(need.level), centeringOf(need), targetOf(need, reader), self,
                [&](const FillSource& source) {
                  if (need.reach == Reach::Coarser) provided += source.region.volume();
                  const std::int32_t slot = localOf(source.patch->id);
                  if (slot >= 0) {
                    own.push_back({slot,
                                   {static_cast<std::int8_t>(source.period.i),
                                    static_cast<std::int8_t>(source.period.j),
                                    static_cast<std::int8_t>(source.period.k)}});
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
    return beforeByPlace(ownPatch(rows.begin + a.row).cells, ownPatch(rows.begin + b.row).cells);
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
  throw PlanError(
      {Message("a read of the coarser level leaves it")
           .line("label  ", input_.labels->info(need.label).name, " under patch ", asText(reader))
           .line("reads  fromCoarser with ", asText(wanted), ", of which level ", need.level, " lacks ",
                 wanted.volume() - provided)
           .line("fix    read fewer layers, or enlarge the boxes of level ", need.level, " in [[grid.level]]")
           .text()});
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
  sortByPlace(readers);
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

Halo FillShapes::haloBelow(const FillNeed& need) const {
  const Extent ratio = input_.hierarchy->level(need.level).ratioToCoarser();
  Halo below;
  for (int d = 0; d < kAxes; ++d) {
    below.lo[d] = (need.halo.lo[d] + ratio[d] - 1) / ratio[d];
    below.hi[d] = (need.halo.hi[d] + ratio[d] - 1) / ratio[d];
  }
  return below;
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
