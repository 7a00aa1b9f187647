#pragma once

#include <algorithm>
#include <vector>

#include "grid/level.hpp"

namespace tessera::detail {

/// What a task that declares `halo` may read on a patch: its cells grown by the halo, and all that the patch owns.
/// For nodes and faces, halo(0, 1) is therefore the upper border of each cell, also at the end of the domain.
Box readBox(const Level& level, const Patch& patch, Centering centering, const Halo& halo);

/// The indices of a patch that have to be in memory and filled so that a task may read `halo` around it. Beyond the
/// grown patch this includes the interior that boundary conditions mirror, where the patch is thinner than its halo.
Box haloTarget(const Level& level, const Patch& patch, Centering centering, const Halo& halo);

/// A part of a target that another patch (or another image of the same) owns: its indices are region - shift.
struct HaloSource {
  const Patch* patch = nullptr;
  Box region;
  Index shift;
};

/// Every source of `target`, in an order that depends on the geometry only: images by z, y, x, then patch ids.
std::vector<HaloSource> haloSources(const Level& level, const Patch& patch, Centering centering, const Box& target);

/// The patches whose target may overlap what `patch` owns, each once, ascending. May hold a few too many.
std::vector<const Patch*> haloReaders(const Level& level, const Patch& patch, const Halo& halo);

/// A part of a target beyond one side of the domain.
struct BoundaryPart {
  int side = 0;
  Box region;
};

/// The parts of `target` beyond the domain, in the order in which conditions must be applied (x, then y over the x
/// halo, then z), so that edges and corners come out the same on every patch.
std::vector<BoundaryPart> boundaryParts(const Level& level, Centering centering, const Box& target);

}  // namespace tessera::detail
