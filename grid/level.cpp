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
  if (cells_ < domain_.volume()) borders_ = BorderOwners(geometry_, domain_, patches_, index_);
}

Box Level::domainOf(Centering centering) const {
  Box box = domain_;
  for (int d = 0; d < kAxes; ++d) {
    if (onBorders(centering, d) && geometry_.active(d) && !geometry_.wraps(d)) ++box.hi[d];
  }
  return box;
}

bool Level::exists(Index x, Centering centering) const {
  Index sides{1, 1, 1};
  for (int d = 0; d < kAxes; ++d) {
    if (onBorders(centering, d) && geometry_.hasHalo(d)) sides[d] = 2;
  }
  bool found = false;
  for (std::int64_t n = 0; n < sides.i * sides.j * sides.k; ++n) {
    Index cell = x - Index{n % sides.i, n / sides.i % sides.j, n / (sides.i * sides.j)};
    for (int d = 0; d < kAxes; ++d) {
      const std::int64_t cells = domain_.extent()[d];
      if (geometry_.wraps(d)) cell[d] = ((cell[d] % cells) + cells) % cells;
    }
    index_.visit({cell, cell + Index{1, 1, 1}}, [&](std::size_t) { found = true; });
  }
  return found;
}

Halo Level::effectiveHalo(Halo halo) const {
  for (int d = 0; d < kAxes; ++d) {
    if (!geometry_.hasHalo(d)) halo.lo[d] = halo.hi[d] = 0;
  }
  return halo;
}

}  // namespace tessera
