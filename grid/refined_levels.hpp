#pragma once

#include <memory>
#include <vector>

#include "grid/hierarchy.hpp"

namespace tessera {

/// One static refined level of the deck ([[grid.level]]): where it lies and how it is cut.
struct RefinedLevel {
  std::int64_t ratio = 2;        ///< to the next coarser level, on every resolved axis: 2 or 4
  std::vector<Box> boxes;        ///< in cells of the next coarser level; may touch, may not overlap
  Extent patchSize{16, 16, 16};  ///< in cells of this level; each box is cut on its own
};

/// Level 0 as `Hierarchy::uniform` makes it, and the given levels above. Boxes are cut into patches along
/// lines that depend on the box only. Throws DeckError naming level and box when a box lies outside the
/// domain, overlaps another, or is not nested inside the level below it.
std::shared_ptr<const Hierarchy> refinedHierarchy(const Geometry& geometry, const Division& division,
                                                  const std::vector<RefinedLevel>& levels);

}  // namespace tessera
