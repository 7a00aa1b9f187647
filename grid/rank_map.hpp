#pragma once

#include <vector>

#include "grid/hierarchy.hpp"

namespace tessera {

/// Which rank owns each patch, by patch id. A pure function of the hierarchy and the number of ranks.
using RankMap = std::vector<Rank>;

/// Cuts each level along a Morton curve through the patch centres into `ranks` parts of nearly equal cells.
/// Ranks beyond the number of patches own none.
RankMap distribute(const Hierarchy& hierarchy, int ranks);

}  // namespace tessera
