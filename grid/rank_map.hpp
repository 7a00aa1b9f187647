#pragma once

#include <span>
#include <vector>

#include "grid/hierarchy.hpp"

namespace tessera {

/// Which rank owns each patch, by patch id. A pure function of the hierarchy and the number of ranks.
using RankMap = std::vector<Rank>;

/// Cuts each level along a Morton curve through the patch centres into `ranks` parts of nearly equal cells.
/// Ranks beyond the number of patches own none.
RankMap distribute(const Hierarchy& hierarchy, int ranks);

/// Cuts some patches of a level along that curve into `parts` of nearly equal cells, each without a gap among
/// them: the part of each patch, in the order of `patches`. Parts beyond the number of patches have none.
std::vector<int> cutAlongCurve(const Level& level, std::span<const Patch> patches, int parts);

}  // namespace tessera
