#pragma once

#include <array>
#include <vector>

#include "core/geometry/box_difference.hpp"
#include "grid/hierarchy.hpp"
#include "grid/refine.hpp"
#include "taskgraph/access.hpp"

namespace tessera {

/// What a task that declares `halo` may read on a patch: its cells grown by the halo, and all that the patch
/// stores. Without a halo these are all nodes and faces of its cells.
Box readBox(const Level& level, const Patch& patch, Centering centering, const Halo& halo);

/// The layers of a halo that a patch does not store itself: the first one above is, of nodes and faces, the
/// upper border of the patch. Where nothing is left, a read needs no fill.
Halo beyondBorders(const Geometry& geometry, Centering centering, Halo halo);

/// Along how many axes a box of indices lies outside of `inner` altogether: 1 beside a face, 2 at an edge.
int axesOutside(const Box& box, const Box& inner);

/// The patch, in the indices of `source`, whose surroundings a read of this reach wants: the patch itself, or
/// its cells one level down or up.
Patch seenPatch(const Hierarchy& hierarchy, const Patch& patch, Reach reach);

/// The indices that a fill has to provide for a reading patch (seen from the level read): the read box and,
/// where the patch is thinner than its halo, the interior that boundary conditions mirror. The domain for a
/// whole level.
Box fillTarget(const Level& level, const Patch& seen, Centering centering, const Halo& halo, Reach reach);

/// A part of a target that a patch of the level owns, in the image `period` domains away: its own indices are
/// region - shift.
struct FillSource {
  const Patch* patch = nullptr;
  Box region;
  Index period;
  Index shift;
};

/// Number of cells to move by for an image some periods away.
Index shiftOf(const Level& level, Index period);

/// Calls `visit(FillSource)` for every part of `target` that a patch of the level owns, in an order that
/// depends on the geometry only: images by z, y, x, then patches by place. What the patch `self` stores is
/// left out (-1: there is none, and each index of the target that exists comes once).
template <class Visit>
void forEachSource(const Level& level, Centering centering, const Box& target, PatchId self, Visit&& visit);

/// Calls `visit(region)` for the parts of `target` that the source of an image provides, without those that
/// the reading patch stores itself (`stored`, which is empty where it stores nothing of the level).
template <class Visit>
void forEachSourceRegion(const Level& level, const Patch& source, Centering centering, const Box& target,
                         const Box& stored, Index shift, Visit&& visit);

/// What the target of a fill of that reach lacks no source for: of the patch's own level all that it stores.
inline Box storedBox(const Level& level, const Patch& seen, Centering centering, Reach reach) {
  return reach == Reach::Patch ? level.closedBox(seen, centering) : Box{};
}

/// Calls `visit(region, shift)` for what a patch owns, at its place in the domain, where the image of the
/// upper border of an axis that wraps is the lower one: own indices are region - shift.
template <class Visit>
void forEachInDomain(const Level& level, const Patch& patch, Centering centering, Visit&& visit);

/// Calls `visit(Box)` for the closed boxes of the level's patches, and of their images, that have an index of
/// `box`, a part of the domain.
template <class Visit>
void forEachClosedBox(const Level& level, Centering centering, const Box& box, Visit&& visit);

/// Calls `visit(box)` with boxes of the reading level: every patch whose target may overlap what the cells
/// `source` of `level` own has a cell in one of them; some others have, too.
template <class Visit>
void forEachReadingBox(const Hierarchy& hierarchy, LevelId level, const Box& source, Reach reach,
                       const Halo& halo, Visit&& visit);

/// The level whose patches read what lies on `level`.
constexpr LevelId readerLevelOf(LevelId level, Reach reach) {
  return reach == Reach::Coarser ? level + 1 : reach == Reach::Finer ? level - 1 : level;
}

/// The patches of the reading level whose target may overlap what `source` owns, each once, by place; may
/// hold a few too many.
std::vector<const Patch*> possibleReaders(const Hierarchy& hierarchy, const Patch& source, Reach reach,
                                          const Halo& halo);

/// How far along each axis a target may reach from the cells of its patch: mirrored interior widens a target
/// on the side away from the boundary, borders by one more index.
Halo reachOf(const Level& level, const Halo& halo);

/// A halo in cells of the next coarser level, rounded up.
Halo haloBelow(const Halo& halo, Extent ratio);
/// The coarser cells that interpolation asks for around a patch, of which a halo is interpolated: as far as
/// it reaches, and one more to all sides.
Halo ringHalo(const Halo& halo, Extent ratio);
/// The coarse indices that fine ones are interpolated from.
Box interpolatedFrom(const Box& fine, Extent ratio, Centering centering);

/// A part of a target beyond one side of the domain.
struct BoundaryPart {
  int side = 0;
  Box region;
};

/// At most six parts, in a fixed array: nothing is allocated while a step runs.
struct BoundaryParts {
  std::array<BoundaryPart, 6> parts;
  int count = 0;
};

/// The parts of `target` beyond the domain, in the order in which conditions must be applied (x, then y over
/// the x halo, then z), so that edges and corners come out the same on every patch.
BoundaryParts boundaryParts(const Level& level, Centering centering, const Box& target);

/// The periods first..last (on each axis) in which `target` sees the domain.
struct Images {
  Index first;
  Index last;
};
Images imagesOf(const Level& level, const Box& target);
/// Likewise where an index may be the upper border of a patch at the end of an axis that wraps, too.
Images imagesOf(const Level& level, Centering centering, const Box& target);

template <class Visit>
void forEachImage(const Images& images, Visit&& visit) {
  for (std::int64_t k = images.first.k; k <= images.last.k; ++k) {
    for (std::int64_t j = images.first.j; j <= images.last.j; ++j) {
      for (std::int64_t i = images.first.i; i <= images.last.i; ++i) visit(Index{i, j, k});
    }
  }
}

/// Cells whose patches may own an index of `box`: a border index at the upper end belongs to the cell below
/// it.
Box cellsOwning(const Box& box, Centering centering);

template <class Visit>
void forEachReadingBox(const Hierarchy& hierarchy, LevelId level, const Box& source, Reach reach,
                       const Halo& halo, Visit&& visit) {
  const Level& sources = hierarchy.level(level);
  const Level& readers = hierarchy.level(readerLevelOf(level, reach));
  const Box around = grow(source, reachOf(sources, halo));
  forEachImage(imagesOf(sources, around), [&](Index period) {
    Box here = shift(around, Index{} - shiftOf(sources, period));
    if (reach == Reach::Coarser) here = refine(here, readers.ratioToCoarser());
    if (reach == Reach::Finer) here = coarsen(here, sources.ratioToCoarser());
    visit(here);
  });
}

template <class Visit>
void forEachSource(const Level& level, Centering centering, const Box& target, PatchId self, Visit&& visit) {
  Box stored;
  if (self >= 0) {
    const auto place = static_cast<std::size_t>(self - level.firstPatch());
    stored = level.closedBox(level.patches()[place], centering);
  }
  forEachImage(imagesOf(level, centering, target), [&](Index period) {
    const Index by = shiftOf(level, period);
    const Box here = shift(target, Index{} - by);
    level.forEachOverlapping(cellsOwning(here, centering), [&](const Patch& other) {
      if (other.id == self && period == Index{}) return;
      forEachSourceRegion(level, other, centering, target, stored, by, [&](const Box& region) {
        visit(FillSource{&other, region, period, by});
      });
    });
  });
}

template <class Visit>
void forEachSourceRegion(const Level& level, const Patch& source, Centering centering, const Box& target,
                         const Box& stored, Index by, Visit&& visit) {
  level.forEachOwned(source, centering, [&](const Box& owned) {
    const Box region = intersect(target, shift(owned, by));
    if (!region.empty()) forEachOutside(region, stored, visit);
  });
}

template <class Visit>
void forEachInDomain(const Level& level, const Patch& patch, Centering centering, Visit&& visit) {
  const Box domain = level.domainOf(centering);
  level.forEachOwned(patch, centering, [&](const Box& owned) {
    forEachImage(imagesOf(level, owned), [&](Index period) {
      const Index by = Index{} - shiftOf(level, period);
      const Box region = intersect(shift(owned, by), domain);
      if (!region.empty()) visit(region, by);
    });
  });
}

template <class Visit>
void forEachClosedBox(const Level& level, Centering centering, const Box& box, Visit&& visit) {
  forEachImage(imagesOf(level, centering, box), [&](Index period) {
    const Index by = shiftOf(level, period);
    level.forEachOverlapping(cellsOwning(shift(box, Index{} - by), centering), [&](const Patch& patch) {
      visit(shift(level.closedBox(patch, centering), by));
    });
  });
}

}  // namespace tessera
