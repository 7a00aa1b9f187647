#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry/box.hpp"
#include "grid/label.hpp"
#include "taskgraph/owned_mesh.hpp"

namespace tessera {

/// Indices of one variable that patch `from` of a mesh stores and patch `to` of the next mesh will store.
struct MigrationPiece {
  LabelId label = -1;
  PatchId from = -1;
  PatchId to = -1;
  Box box;
  friend bool operator==(const MigrationPiece&, const MigrationPiece&) = default;
};

/// What one rank sends to another one, or gets from it: the pieces one behind the other, x fastest in each.
/// Both sides list them in the same order, by label and place.
struct MigrationMessage {
  Rank peer = 0;
  std::int64_t bytes = 0;
  std::vector<MigrationPiece> pieces;
  friend bool operator==(const MigrationMessage&, const MigrationMessage&) = default;
};

/// How values get from one mesh to the next, from one rank's point of view.
struct MigrationPlan {
  std::vector<MigrationPiece> local;       ///< from own patches to own patches
  std::vector<MigrationMessage> sends;     ///< by peer
  std::vector<MigrationMessage> receives;  ///< by peer
  std::vector<MigrationPiece> fresh;       ///< of own patches, what no patch had before; `from` is -1
};

/// What becomes of indices that the mesh before has not.
enum class FreshIndices {
  Refused,  ///< there are none, else InternalError
  Listed,   ///< in `MigrationPlan::fresh`, for the caller to fill
};

/// The plan that carries these variables over to another mesh, however its cells are cut into patches,
/// numbered and dealt out. A pure function: each rank makes its own without a word to others, and
/// the two sides of a message agree. Throws InternalError where a level of `after` has cells that it has not
/// in `before`, unless these are to be listed.
MigrationPlan planMigration(const OwnedMesh& before, const OwnedMesh& after,
                            std::span<const LevelLabel> which, const LabelTable& labels, Rank rank,
                            FreshIndices fresh = FreshIndices::Refused);

}  // namespace tessera
