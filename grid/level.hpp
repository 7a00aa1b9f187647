#pragma once

#include <span>
#include <vector>

#include "grid/borders/border_owners.hpp"
#include "grid/geometry.hpp"
#include "grid/patch.hpp"
#include "grid/search/patch_index.hpp"

namespace tessera {

/// All patches of one spacing. Immutable once built; safe to read from any thread.
class Level {
 public:
  /// `patches` must be disjoint and inside `domain`; `ratio` is the refinement ratio to the next coarser
  /// level
  /// ({1,1,1} on level 0). Checked by Hierarchy.
  Level(LevelId number, const Geometry& geometry, Box domain, Extent ratio, std::vector<Patch> patches);

  LevelId number() const { return number_; }
  const Geometry& geometry() const { return geometry_; }
  /// Every cell that the level could have: the physical box at this spacing.
  const Box& domain() const { return domain_; }
  const Real3& spacing() const { return spacing_; }
  Extent ratioToCoarser() const { return ratio_; }
  std::span<const Patch> patches() const { return patches_; }
  PatchId firstPatch() const { return patches_.empty() ? 0 : patches_.front().id; }
  std::int64_t cellCount() const { return cells_; }

  /// The patches of this level that have a cell in `cells`, in the order of their places
  /// (`beforeByPosition`).
  template <class Visit>
  void forEachOverlapping(const Box& cells, Visit&& visit) const {
    index_.visit(cells, [&](std::size_t n) { visit(patches_[n]); });
  }

  /// Indices of `centering` that exist on the level. Along an axis that wraps, the upper border is the lower
  /// one.
  Box domainOf(Centering centering) const;
  /// What `patch` stores and writes: its cells, or all nodes or faces on their borders. Where patches meet,
  /// each of them has the nodes and faces between them; at the end of an axis that wraps the last index is
  /// the image of the first one.
  Box closedBox(const Patch& patch, Centering centering) const {
    return tessera::closedBox(geometry_, patch.cells, centering);
  }
  /// Calls `visit(Box)` for the parts of its closed box that `patch`, of this level, owns: what others take
  /// from it. Each index that `exists` is owned once, of the images across a period one. These are the lower
  /// borders of its cells, the upper border of the domain, and what no patch has as a lower border, where
  /// the patch is the first by place that has it.
  template <class Visit>
  void forEachOwned(const Patch& patch, Centering centering, Visit&& visit) const {
    visit(lowerBorders(geometry_, domain_, patch.cells, centering));
    borders_.visit(static_cast<std::size_t>(patch.id - firstPatch()), centering, visit);
  }
  /// Whether a cell beside the index is on the level, or of a cell: whether it is.
  bool exists(Index x, Centering centering) const;
  /// The given halo with the axes that carry none set to zero.
  Halo effectiveHalo(Halo halo) const;

  /// Position of an index of `centering`; the same bits for the same index, whatever the patch. The upper
  /// border of an axis that wraps is at the place of the lower one, so that who computes both gets one value.
  Real3 position(Index x, Centering centering) const {
    Real3 p;
    for (int d = 0; d < kAxes; ++d) {
      const bool border = onBorders(centering, d);
      const bool isImage = border && x[d] == domain_.hi[d] && geometry_.wraps(d);
      const double at = static_cast<double>(isImage ? domain_.lo[d] : x[d]) + (border ? 0.0 : 0.5);
      p[d] = geometry_.lower[d] + at * spacing_[d];
    }
    return p;
  }

 private:
  LevelId number_;
  Geometry geometry_;
  Box domain_;
  Extent ratio_;
  Real3 spacing_;
  std::vector<Patch> patches_;
  std::int64_t cells_ = 0;
  PatchIndex index_;
  BorderOwners borders_;
};

}  // namespace tessera
