#include "taskgraph/fill_geometry.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"
#include "grid/boundary_condition.hpp"
#include "grid/refine.hpp"

namespace tessera {
namespace {

bool hasBoundary(const Geometry& geometry, int axis) {
  return geometry.active(axis) && !geometry.wraps(axis);
}

}  // namespace

Halo reachOf(const Level& level, const Halo& halo) {
  const Halo own = level.effectiveHalo(halo);
  Halo reach;
  for (int d = 0; d < kAxes; ++d) {
    if (level.geometry().hasHalo(d)) reach.lo[d] = reach.hi[d] = std::max(own.lo[d], own.hi[d]) + 1;
  }
  return reach;
}

Box readBox(const Level& level, const Patch& patch, Centering centering, const Halo& halo) {
  return boundingBox(level.closedBox(patch, centering), grow(patch.cells, level.effectiveHalo(halo)));
}

Halo beyondBorders(const Geometry& geometry, Centering centering, Halo halo) {
  for (int d = 0; d < kAxes; ++d) {
    if (onBorders(centering, d) && geometry.hasHalo(d) && halo.hi[d] == 1) halo.hi[d] = 0;
  }
  return halo;
}

int axesOutside(const Box& box, const Box& inner) {
  int count = 0;
  for (int d = 0; d < kAxes; ++d) count += box.hi[d] <= inner.lo[d] || box.lo[d] >= inner.hi[d] ? 1 : 0;
  return count;
}

Patch seenPatch(const Hierarchy& hierarchy, const Patch& patch, Reach reach) {
  switch (reach) {
    case Reach::Coarser:
      return {patch.id, patch.level - 1, coarsen(patch.cells, hierarchy.level(patch.level).ratioToCoarser())};
    case Reach::Finer:
      return {patch.id, patch.level + 1,
              refine(patch.cells, hierarchy.level(patch.level + 1).ratioToCoarser())};
    case Reach::Patch:
    case Reach::WholeLevel:
      break;
  }
  return patch;
}

Box fillTarget(const Level& level, const Patch& seen, Centering centering, const Halo& halo, Reach reach) {
  if (reach == Reach::WholeLevel) return level.domainOf(centering);
  const Box grown = readBox(level, seen, centering, halo);
  const Box domain = level.domainOf(centering);
  Box target = grown;
  for (int d = 0; d < kAxes; ++d) {
    if (!hasBoundary(level.geometry(), d)) continue;
    const std::int64_t border = onBorders(centering, d) ? 1 : 0;
    const std::int64_t below = domain.lo[d] - grown.lo[d];
    const std::int64_t above = grown.hi[d] - domain.hi[d];
    if (below > 0)
      target.hi[d] = std::max(target.hi[d], std::min(domain.hi[d], domain.lo[d] + below + border));
    if (above > 0)
      target.lo[d] = std::min(target.lo[d], std::max(domain.lo[d], domain.hi[d] - above - border));
  }
  return target;
}

Index shiftOf(const Level& level, Index period) {
  const Extent n = level.domain().extent();
  return {period.i * n.i, period.j * n.j, period.k * n.k};
}

Images imagesOf(const Level& level, const Box& target) {
  const Box& domain = level.domain();
  Images images;
  for (int d = 0; d < kAxes; ++d) {
    if (!level.geometry().wraps(d)) continue;
    if (target.lo[d] >= domain.lo[d] && target.hi[d] <= domain.hi[d]) continue;
    const std::int64_t n = domain.extent()[d];
    images.first[d] = floorDivide(target.lo[d] - domain.lo[d], n);
    images.last[d] = floorDivide(target.hi[d] - 1 - domain.lo[d], n);
    TESSERA_EXPECT(images.first[d] >= -127 && images.last[d] <= 127,
                   "declare a halo of less than 127 domains");
  }
  return images;
}

Images imagesOf(const Level& level, Centering centering, const Box& target) {
  Images images = imagesOf(level, target);
  for (int d = 0; d < kAxes; ++d) {
    if (!level.geometry().wraps(d) || !onBorders(centering, d)) continue;
    images.first[d] = floorDivide(target.lo[d] - 1 - level.domain().lo[d], level.domain().extent()[d]);
  }
  return images;
}

Box cellsOwning(const Box& box, Centering centering) {
  Box cells = box;
  for (int d = 0; d < kAxes; ++d) {
    if (onBorders(centering, d)) --cells.lo[d];
  }
  return cells;
}

std::vector<const Patch*> possibleReaders(const Hierarchy& hierarchy, const Patch& source, Reach reach,
                                          const Halo& halo) {
  const Level& readers = hierarchy.level(readerLevelOf(source.level, reach));
  std::vector<const Patch*> found;
  forEachReadingBox(hierarchy, source.level, source.cells, reach, halo, [&](const Box& here) {
    readers.forEachOverlapping(here, [&](const Patch& other) { found.push_back(&other); });
  });
  sortByPosition(found);
  return found;
}

Halo haloBelow(const Halo& halo, Extent ratio) {
  Halo below;
  for (int d = 0; d < kAxes; ++d) {
    below.lo[d] = (halo.lo[d] + ratio[d] - 1) / ratio[d];
    below.hi[d] = (halo.hi[d] + ratio[d] - 1) / ratio[d];
  }
  return below;
}

Halo ringHalo(const Halo& halo, Extent ratio) {
  Halo ring = haloBelow(halo, ratio);
  for (int d = 0; d < kAxes; ++d) {
    if (ratio[d] == 1) continue;
    ++ring.lo[d];
    ++ring.hi[d];
  }
  return ring;
}

Box interpolatedFrom(const Box& fine, Extent ratio, Centering centering) {
  Box coarse = coarsen(fine, ratio);
  for (int d = 0; d < kAxes; ++d) {
    if (ratio[d] == 1) continue;
    if (!onBorders(centering, d)) {
      --coarse.lo[d];
      ++coarse.hi[d];
    } else if (floorDivide(fine.hi[d] - 1, ratio[d]) * ratio[d] != fine.hi[d] - 1) {
      ++coarse.hi[d];  // the next border above the last index
    }
  }
  return coarse;
}

BoundaryParts boundaryParts(const Level& level, Centering centering, const Box& target) {
  const Box domain = level.domainOf(centering);
  BoundaryParts found;
  const auto add = [&](int side, const Box& region) {
    if (!region.empty()) found.parts[static_cast<std::size_t>(found.count++)] = {side, region};
  };
  for (int axis = 0; axis < kAxes; ++axis) {
    if (!hasBoundary(level.geometry(), axis)) continue;
    Box filled = target;
    for (int later = axis + 1; later < kAxes; ++later) {
      if (!hasBoundary(level.geometry(), later)) continue;
      filled.lo[later] = std::max(filled.lo[later], domain.lo[later]);
      filled.hi[later] = std::min(filled.hi[later], domain.hi[later]);
    }
    Box low = filled;
    low.hi[axis] = std::min(low.hi[axis], domain.lo[axis]);
    add(sideOf(axis, false), low);
    Box high = filled;
    high.lo[axis] = std::max(high.lo[axis], domain.hi[axis]);
    add(sideOf(axis, true), high);
  }
  return found;
}

}  // namespace tessera
