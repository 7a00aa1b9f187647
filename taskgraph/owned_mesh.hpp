#pragma once

#include <memory>

#include "grid/hierarchy.hpp"
#include "grid/rank_map.hpp"

namespace tessera {

/// A mesh and the rank of each of its patches: what a run stands on at a moment. The same on every rank.
struct OwnedMesh {
  std::shared_ptr<const Hierarchy> hierarchy;
  RankMap owners;
};

}  // namespace tessera
