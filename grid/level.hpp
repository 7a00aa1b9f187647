#pragma once

#include <span>
#include <vector>

#include "grid/geometry.hpp"
#include "grid/patch.hpp"
#include "grid/patch_index.hpp"

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
  /// The indices that `patch` owns: its cells, or their lower borders (and the domain's upper border, where
  /// the patch touches it). Every index of the level is owned by exactly one patch where patches cover the
  /// level.
  Box ownedBy(const Patch& patch, Centering centering) const;
  /// The given halo with the axes that carry none set to zero.
  Halo effectiveHalo(Halo halo) const;

  /// Position of an index of `centering`; the same bits for the same index, whatever the patch.
  Real3 position(Index x, Centering centering) const {
    Real3 p;
    for (int d = 0; d < kAxes; ++d) {
      const double offset = onBorders(centering, d) ? 0.0 : 0.5;
      p[d] = geometry_.lower[d] + (static_cast<double>(x[d]) + offset) * spacing_[d];
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
};

}  // namespace tessera
