#include "taskgraph/detail/halo_geometry.hpp"

#include "grid/boundary_condition.hpp"

namespace tessera::detail {
namespace {

std::int64_t floorDivide(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

bool hasBoundary(const Geometry& geometry, int axis) { return geometry.active(axis) && !geometry.wraps(axis); }

/// Calls `visit(shift)` for each periodic image of the domain that `target` touches, z slowest.
template <class Visit>
void forEachImage(const Level& level, const Box& target, Visit&& visit) {
  const Box& domain = level.domain();
  const Extent period = domain.extent();
  Index first;
  Index last;
  for (int d = 0; d < kAxes; ++d) {
    if (!level.geometry().wraps(d)) continue;
    first[d] = floorDivide(target.lo[d] - domain.lo[d], period[d]);
    last[d] = floorDivide(target.hi[d] - 1 - domain.lo[d], period[d]);
  }
  for (std::int64_t k = first.k; k <= last.k; ++k) {
    for (std::int64_t j = first.j; j <= last.j; ++j) {
      for (std::int64_t i = first.i; i <= last.i; ++i) visit(Index{i * period.i, j * period.j, k * period.k});
    }
  }
}

/// Cells whose patches may own an index of `box`: a border index at the upper end belongs to the cell below it.
Box cellsOwning(const Box& box, Centering centering) {
  Box cells = box;
  for (int d = 0; d < kAxes; ++d) {
    if (onBorders(centering, d)) --cells.lo[d];
  }
  return cells;
}

}  // namespace

Box readBox(const Level& level, const Patch& patch, Centering centering, const Halo& halo) {
  return boundingBox(level.ownedBy(patch, centering), grow(patch.cells, level.effectiveHalo(halo)));
}

Box haloTarget(const Level& level, const Patch& patch, Centering centering, const Halo& halo) {
  const Box grown = readBox(level, patch, centering, halo);
  const Box domain = level.domainOf(centering);
  Box target = grown;
  for (int d = 0; d < kAxes; ++d) {
    if (!hasBoundary(level.geometry(), d)) continue;
    const std::int64_t border = onBorders(centering, d) ? 1 : 0;
    const std::int64_t below = domain.lo[d] - grown.lo[d];
    const std::int64_t above = grown.hi[d] - domain.hi[d];
    if (below > 0) target.hi[d] = std::max(target.hi[d], std::min(domain.hi[d], domain.lo[d] + below + border));
    if (above > 0) target.lo[d] = std::min(target.lo[d], std::max(domain.lo[d], domain.hi[d] - above - border));
  }
  return target;
}

std::vector<HaloSource> haloSources(const Level& level, const Patch& patch, Centering centering, const Box& target) {
  std::vector<HaloSource> sources;
  forEachImage(level, target, [&](Index shift_) {
    const Box here = shift(target, Index{} - shift_);
    level.forEachOverlapping(cellsOwning(here, centering), [&](const Patch& other) {
      if (other.id == patch.id && shift_ == Index{}) return;
      const Box region = intersect(here, level.ownedBy(other, centering));
      if (!region.empty()) sources.push_back({&other, shift(region, shift_), shift_});
    });
  });
  return sources;
}

std::vector<const Patch*> haloReaders(const Level& level, const Patch& patch, const Halo& halo) {
  const Halo own = level.effectiveHalo(halo);
  Halo reach;
  for (int d = 0; d < kAxes; ++d) {
    if (!level.geometry().hasHalo(d)) continue;
    // Mirrored interior widens a target on the side away from the boundary, borders by one more index.
    reach.lo[d] = reach.hi[d] = std::max(own.lo[d], own.hi[d]) + 1;
  }
  const Box around = grow(patch.cells, reach);
  std::vector<const Patch*> readers;
  forEachImage(level, around, [&](Index by) {
    level.forEachOverlapping(shift(around, Index{} - by), [&](const Patch& other) { readers.push_back(&other); });
  });
  const auto byId = [](const Patch* a, const Patch* b) { return a->id < b->id; };
  std::sort(readers.begin(), readers.end(), byId);
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  return readers;
}

std::vector<BoundaryPart> boundaryParts(const Level& level, Centering centering, const Box& target) {
  const Box domain = level.domainOf(centering);
  std::vector<BoundaryPart> parts;
  for (int axis = 0; axis < kAxes; ++axis) {
    if (!hasBoundary(level.geometry(), axis)) continue;
    Box filled = target;
    for (int later = axis + 1; later < kAxes; ++later) {
      if (!hasBoundary(level.geometry(), later)) continue;
      filled.lo[later] = std::max(filled.lo[later], domain.lo[later]);
      filled.hi[later] = std::min(filled.hi[later], domain.hi[later]);
    }
    Box low = filled;
    low.hi[axis] = domain.lo[axis];
    if (!low.empty()) parts.push_back({sideOf(axis, false), low});
    Box high = filled;
    high.lo[axis] = domain.hi[axis];
    if (!high.empty()) parts.push_back({sideOf(axis, true), high});
  }
  return parts;
}

}  // namespace tessera::detail
