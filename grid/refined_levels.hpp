#pragma once

#include <memory>
#include <string>
#include <vector>

#include "grid/hierarchy.hpp"

namespace tessera {

/// One static refined level of the deck ([[grid.level]]): where it lies and how it is cut.
struct RefinedLevel {
  std::int64_t ratio = 2;        ///< to the next coarser level, on every resolved axis: 2 or 4
  std::vector<Box> boxes;        ///< in cells of the next coarser level; may touch, may not overlap
  Extent patchSize{16, 16, 16};  ///< in cells of this level; each box is cut on its own
};

/// Why one box cannot be refined, as a half sentence, and what to do about it.
struct BoxFault {
  std::size_t level = 0;  ///< position in the list of refined levels: level number - 1
  std::size_t box = 0;    ///< position in `boxes`
  std::string why;
  std::string fix;
};

/// How a box has to lie inside the boxes of the level below.
enum class Nesting {
  Covered,   ///< it may end where they end, for tasks that read no halo there
  WithRing,  ///< they go on for a cell around it, from which a halo can be filled
};

/// Every box that is empty, leaves the domain, overlaps another of its level, or is not nested inside the
/// boxes of the level below. Looks at boxes only, so a mistake of a deck is found before a patch is made.
std::vector<BoxFault> findBoxFaults(const Geometry& geometry, const std::vector<RefinedLevel>& levels,
                                    Nesting nesting);

/// The refinement ratio of a level along each axis: `ratio`, and 1 along an axis that is not resolved.
Extent ratioAlongAxes(const Geometry& geometry, std::int64_t ratio);

/// Level 0 as `Hierarchy::uniform` makes it, and the given levels above. Boxes are cut into patches along
/// lines that depend on the box only. Throws DeckError naming level and box when a box lies outside the
/// domain, overlaps another, or is not nested inside the level below it.
std::shared_ptr<const Hierarchy> refinedHierarchy(const Geometry& geometry, const Division& division,
                                                  const std::vector<RefinedLevel>& levels);

}  // namespace tessera
