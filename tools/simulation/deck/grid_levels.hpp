#pragma once

#include <cstddef>
#include <vector>

#include "core/deck/parameters.hpp"
#include "grid/refined_levels.hpp"

namespace tessera {

/// Adds `[[grid.level]]`, the boxes of static refined levels, to the table [grid], with the rules that they
/// have to keep. One entry is one box; entries that name the same `level` give it several.
void declareGridLevels(ParameterTable& grid);

/// What [grid] says of the physical box. The values have passed `check`.
Geometry geometryOf(const ParameterValues& grid);

/// The size of a patch when the deck does not say: large enough to hide the cost of a task, small enough to
/// share out. It may not depend on the machine, because a checkpoint belongs to its patches.
Extent usualPatchSize(const Geometry& geometry);

/// How many times smaller the cells of the finest level are than those of level 0, along each resolved axis.
double refinementOfLevels(const ParameterValues& grid);

/// The refined levels of a deck that has passed `check`, coarsest first; empty for a uniform mesh. Boxes are
/// snapped outward to whole cells of the next coarser level, and cover every axis that is not resolved.
std::vector<RefinedLevel> refinedLevelsOf(const ParameterValues& grid);

/// The place in the deck of a box of theirs, by its positions in that list.
DeckLocation whereOfBox(const ParameterValues& grid, std::size_t level, std::size_t box);

}  // namespace tessera
