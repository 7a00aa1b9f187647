#include "grid/borders/border_owners.hpp"

#include <algorithm>
#include <deque>

#include "core/geometry/box_difference.hpp"

namespace tessera {
namespace {

constexpr Centering kOnBorders[] = {Centering::Node, Centering::FaceX, Centering::FaceY, Centering::FaceZ};

void take(std::deque<Box>& boxes, const Box& gone) {
  for (std::size_t left = boxes.size(); left > 0; --left) {
    forEachOutside(boxes.front(), gone, [&](const Box& rest) { boxes.push_back(rest); });
    boxes.pop_front();
  }
}

/// Finds what one patch has after another.
class OwnerSearch {
 public:
  OwnerSearch(const Geometry& geometry, const Box& domain, std::span<const Patch> patches,
              const PatchIndex& index)
      : geometry_(geometry), domain_(domain), patches_(patches), index_(index) {}

  /// The upper borders of a patch that are no lower border of another one.
  std::deque<Box> openBorders(const Patch& patch, Centering centering) const {
    std::deque<Box> open;
    forEachOutside(closedBox(geometry_, patch.cells, centering),
                   lowerBorders(geometry_, domain_, patch.cells, centering),
                   [&](const Box& upper) { open.push_back(upper); });
    forEachBeside(patch, [&](const Patch& other, Index by) {
      take(open, shift(lowerBorders(geometry_, domain_, other.cells, centering), by));
    });
    return open;
  }

  /// Leaves out what belongs to a patch that comes before.
  void takeEarlier(const Patch& patch, Centering centering, std::deque<Box>& open) const {
    forEachBeside(patch, [&](const Patch& other, Index by) {
      if (isBefore(other, by, patch)) take(open, shift(closedBox(geometry_, other.cells, centering), by));
    });
  }

 private:
  /// Of two images of one patch the lower index counts.
  static bool isBefore(const Patch& other, Index by, const Patch& patch) {
    if (other.id != patch.id) return beforeByPosition(other.cells, patch.cells);
    for (int d = kAxes - 1; d >= 0; --d) {
      if (by[d] != 0) return by[d] > 0;
    }
    return false;
  }

  /// Calls `visit(patch, by)` for what touches a patch, moved `by` whole domains; itself left out.
  template <class Visit>
  void forEachBeside(const Patch& patch, Visit&& visit) const {
    const Box around = grow(patch.cells, uniformHalo(1));
    Index first;
    Index last;
    for (int d = 0; d < kAxes; ++d) {
      if (!geometry_.wraps(d)) continue;
      if (around.lo[d] < domain_.lo[d]) first[d] = -1;
      if (around.hi[d] > domain_.hi[d]) last[d] = 1;
    }
    const Extent n = domain_.extent();
    for (std::int64_t k = first.k; k <= last.k; ++k) {
      for (std::int64_t j = first.j; j <= last.j; ++j) {
        for (std::int64_t i = first.i; i <= last.i; ++i) {
          const Index by{i * n.i, j * n.j, k * n.k};
          index_.visit(shift(around, Index{} - by), [&](std::size_t other) {
            if (patches_[other].id != patch.id || !(by == Index{})) visit(patches_[other], by);
          });
        }
      }
    }
  }

  const Geometry& geometry_;
  const Box& domain_;
  std::span<const Patch> patches_;
  const PatchIndex& index_;
};

}  // namespace

Box closedBox(const Geometry& geometry, const Box& cells, Centering centering) {
  Box box = cells;
  for (int d = 0; d < kAxes; ++d) {
    if (onBorders(centering, d) && geometry.hasHalo(d)) ++box.hi[d];
  }
  return box;
}

Box lowerBorders(const Geometry& geometry, const Box& domain, const Box& cells, Centering centering) {
  Box box = cells;
  for (int d = 0; d < kAxes; ++d) {
    const bool ends = onBorders(centering, d) && geometry.active(d) && !geometry.wraps(d);
    if (ends && box.hi[d] == domain.hi[d]) ++box.hi[d];
  }
  return box;
}

BorderOwners::BorderOwners(const Geometry& geometry, const Box& domain, std::span<const Patch> patches,
                           const PatchIndex& index) {
  const OwnerSearch search(geometry, domain, patches, index);
  for (std::size_t n = 0; n < patches.size(); ++n) {
    // Where no node is open, no face is.
    if (search.openBorders(patches[n], Centering::Node).empty()) continue;
    for (const Centering centering : kOnBorders) {
      std::deque<Box> open = search.openBorders(patches[n], centering);
      search.takeEarlier(patches[n], centering, open);
      for (const Box& box : open)
        partsOf_[static_cast<std::size_t>(centering)].push_back({static_cast<std::int32_t>(n), box});
    }
    empty_ = false;
  }
}

}  // namespace tessera
