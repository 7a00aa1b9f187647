#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grid/hierarchy.hpp"

namespace tessera {

/// One level of a mesh as a file holds it: plain numbers of which nothing is known yet.
struct StoredLevel {
  Extent ratio{1, 1, 1};     ///< to the next coarser level; 1 on level 0 and along axes that are not resolved
  std::vector<Box> patches;  ///< in cells of the level, in the order of their ids
};

/// The mesh that numbers from a file describe, level 0 first. Throws InputError with a sentence where they
/// are none: a box without volume, cells that no 63 bits count, patches that overlap, that leave the domain
/// or the next coarser level, or that leave a part of level 0 out.
std::shared_ptr<const Hierarchy> meshOf(const Geometry& geometry, const std::vector<StoredLevel>& levels);

/// The boxes of patches as text: six numbers a patch, lower corner and the corner beyond the upper one, "0 0
/// 0 16 16 1". One text a level keeps a manifest short and quick to read.
std::string textOfBoxes(std::span<const Patch> patches);
/// The reverse. Throws InputError where the text holds something else.
std::vector<Box> boxesOfText(std::string_view text);

/// Cells, corners and periodic axes, a line each, as people compare them.
std::vector<std::string> linesOf(const Geometry& geometry);

}  // namespace tessera
