#pragma once

#include <optional>
#include <vector>

#include "grid/rank_map.hpp"
#include "taskgraph/graph_compiler.hpp"

namespace tessera::detail {

/// What is different on one level, seen from one rank.
struct LevelChanges {
  bool same = true;  ///< the same patches in the same order, with the same owners
  Range before;      ///< slots in use before; those in use now are `localsOfLevel`
  /// Own slots that hold another patch than before, or none any more; ascending.
  std::vector<std::int32_t> slots;
  /// Boxes that together hold all patches, of any rank, that went, came, or changed owner or slot.
  std::vector<Box> regions;
  /// The same for patches that are or were another rank's.
  std::vector<Box> remoteRegions;
};

/// What is different between two meshes, by level.
struct MeshChanges {
  std::vector<LevelChanges> levels;
  std::int64_t patches = 0;  ///< that went, came, or changed owner or slot
};

/// Compares the mesh that `graphs` were compiled for with the next one, level by level, by box and owner, and
/// gives the slots of `graphs` to the next one's patches: a patch that stays keeps its slot, new ones take
/// those that became free, and where fewer come than go, patches of the last slots move into the gaps.
/// Nothing, and `graphs` are unusable, where a level has more own patches than room.
///
/// Cost: one comparison a patch of the hierarchy, and a look into the old patch index for each that changed.
std::optional<MeshChanges> moveToMesh(CompiledGraphs& graphs, const RankMap& ownersBefore,
                                      const CompileInput& next);

/// The same cells in fewer boxes, where boxes side by side make up a box.
std::vector<Box> joined(std::vector<Box> boxes);

}  // namespace tessera::detail
