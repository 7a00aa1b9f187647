#include "grid/level.hpp"

#include <algorithm>
#include <cstdio>

namespace tessera {

std::string asText(const Patch& patch) {
  char name[48];
  std::snprintf(name, sizeof name, "L%d/P%04lld ", patch.level, static_cast<long long>(patch.id));
  return name + asText(patch.cells);
}

void sortByPosition(std::vector<const Patch*>& patches) {
  const auto before = [](const Patch* a, const Patch* b) { return beforeByPosition(a->cells, b->cells); };
  std::sort(patches.begin(), patches.end(), before);
  patches.erase(std::unique(patches.begin(), patches.end()), patches.end());
}

Level::Level(LevelId number, const Geometry& geometry, Box domain, Extent ratio, std::vector<Patch> patches)
    : number_(number),
      geometry_(geometry),
      domain_(domain),
      ratio_(ratio),
      patches_(std::move(patches)),
      index_(patches_) {
  for (int d = 0; d < kAxes; ++d) {
    spacing_[d] = (geometry.upper[d] - geometry.lower[d]) / static_cast<double>(domain.extent()[d]);
  }
  for (const Patch& patch : patches_) cells_ += patch.cells.volume();
}

Box Level::domainOf(Centering centering) const {
  Box box = domain_;
  for (int d = 0; d < kAxes; ++d) {
    if (onBorders(centering, d) && geometry_.active(d) && !geometry_.wraps(d)) ++box.hi[d];
  }
  return box;
}

Box Level::ownedBy(const Patch& patch, Centering centering) const {
  Box box = patch.cells;
  for (int d = 0; d < kAxes; ++d) {
    const bool upperBorder = onBorders(centering, d) && geometry_.active(d) && !geometry_.wraps(d);
    if (upperBorder && box.hi[d] == domain_.hi[d]) ++box.hi[d];
  }
  return box;
}

Halo Level::effectiveHalo(Halo halo) const {
  for (int d = 0; d < kAxes; ++d) {
    if (!geometry_.hasHalo(d)) halo.lo[d] = halo.hi[d] = 0;
  }
  return halo;
}

}  // namespace tessera
