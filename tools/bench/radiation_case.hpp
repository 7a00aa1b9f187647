#pragma once

#include <cstdint>
#include <memory>

#include "grid/hierarchy.hpp"
#include "grid/rank_map.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera::bench {

/// The two-level radiation step of the literature: a fine level with 12 tasks (four read one halo layer, one
/// reads two, one reads the whole coarse level) and a coarse level, ratio 4, onto which three labels are
/// averaged down and which runs two tasks of its own.
struct RadiationCase {
  LabelTable labels;
  StepPlan initial{"initial"};
  StepPlan step{"step"};

  RadiationCase();
};

/// A lattice of fine patches of 16^3 cells over a lattice of coarse patches; both cover the periodic domain.
std::shared_ptr<const Hierarchy> radiationMesh(Extent fineLattice, Extent coarseLattice);

/// Where a regrid changes patches of the fine level; always pairs along x.
enum class RegridPlace {
  Cluster,    ///< one block of patches in the middle of the level
  Octant,     ///< one block in the middle of its lower octant, which of eight ranks is the first one's
  Scattered,  ///< pairs all over the level, chosen at random
};

/// The radiation mesh with about `fraction` of its fine patches cut anew: of every three pairs one becomes a
/// pair of other sizes, one a single patch and one three patches.
std::shared_ptr<const Hierarchy> regriddedMesh(Extent fineLattice, Extent coarseLattice, double fraction,
                                               RegridPlace place);

}  // namespace tessera::bench
