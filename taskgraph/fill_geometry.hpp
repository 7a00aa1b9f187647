#pragma once

#include <array>
#include <vector>

#include "grid/hierarchy.hpp"
#include "grid/refine.hpp"
#include "taskgraph/access.hpp"

namespace tessera {

/// What a task that declares `halo` may read on a patch: its cells grown by the halo, and all that the patch
/// owns. For nodes and faces, halo(0, 1) is therefore the upper border of each cell, also at the end of the
/// domain.
Box readBox(const Level& level, const Patch& patch, Centering centering, const Halo& halo);

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

/// Calls `visit(FillSource)` for every patch that owns a part of `target`, in an order that depends on the
/// geometry only: images by z, y, x, then patches by place. `self` is left out where it is its own unshifted
/// image
/// (-1: nobody is).
template <class Visit>
void forEachSource(const Level& level, Centering centering, const Box& target, PatchId self, Visit&& visit);

/// The part of `target` that the source of an image provides.
Box sourceRegion(const Level& level, const Patch& source, Centering centering, const Box& target,
                 Index period);

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

/// Cells whose patches may own an index of `box`: a border index at the upper end belongs to the cell below
/// it.
Box cellsOwning(const Box& box, Centering centering);

template <class Visit>
void forEachReadingBox(const Hierarchy& hierarchy, LevelId level, const Box& source, Reach reach,
                       const Halo& halo, Visit&& visit) {
  const Level& sources = hierarchy.level(level);
  const Level& readers = hierarchy.level(readerLevelOf(level, reach));
  const Box around = grow(source, reachOf(sources, halo));
  const Images images = imagesOf(sources, around);
  for (std::int64_t k = images.first.k; k <= images.last.k; ++k) {
    for (std::int64_t j = images.first.j; j <= images.last.j; ++j) {
      for (std::int64_t i = images.first.i; i <= images.last.i; ++i) {
        Box here = shift(around, Index{} - shiftOf(sources, {i, j, k}));
        if (reach == Reach::Coarser) here = refine(here, readers.ratioToCoarser());
        if (reach == Reach::Finer) here = coarsen(here, sources.ratioToCoarser());
        visit(here);
      }
    }
  }
}

template <class Visit>
void forEachSource(const Level& level, Centering centering, const Box& target, PatchId self, Visit&& visit) {
  const Images images = imagesOf(level, target);
  for (std::int64_t k = images.first.k; k <= images.last.k; ++k) {
    for (std::int64_t j = images.first.j; j <= images.last.j; ++j) {
      for (std::int64_t i = images.first.i; i <= images.last.i; ++i) {
        const Index period{i, j, k};
        const Index by = shiftOf(level, period);
        const Box here = shift(target, Index{} - by);
        level.forEachOverlapping(cellsOwning(here, centering), [&](const Patch& other) {
          if (other.id == self && period == Index{}) return;
          const Box region = intersect(here, level.ownedBy(other, centering));
          if (!region.empty()) visit(FillSource{&other, shift(region, by), period, by});
        });
      }
    }
  }
}

}  // namespace tessera
