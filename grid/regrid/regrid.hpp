#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "grid/hierarchy.hpp"
#include "grid/regrid/block_set.hpp"

namespace tessera {

/// How a refined level may lie. Its blocks are `tile` cells of it along each axis, from the lower corner of
/// the domain on.
struct RefinedLattice {
  std::int64_t ratio = 2;      ///< to the next coarser level, along each resolved axis
  Extent tile{1, 1, 1};        ///< in cells of the level; 1 along axes that are not resolved
  Extent longest{16, 16, 16};  ///< of a patch, in cells of the level
  /// So many cells of the next coarser level have to be there around it.
  Extent nesting{1, 1, 1};
};

enum class RegridderKind { Tiled, Clustering };

/// All that a mesh depends on beside the flags.
struct RegridRules {
  Geometry geometry;
  std::vector<RefinedLattice> levels;  ///< above level 0, coarsest first
  RegridderKind kind = RegridderKind::Tiled;
  double efficiency = 0.7;  ///< of Clustering
};

/// Why no level can lie as the rules say, as sentences with what to do about it; empty where all can.
std::vector<std::string> findLatticeFaults(const RegridRules& rules);

/// One set of blocks for each refined level, none flagged yet.
std::vector<BlockSet> noFlags(const RegridRules& rules);

/// Flags the blocks in which cells of the next coarser level lie; `level` counts from 0, the first one above
/// level 0.
void flagCells(const RegridRules& rules, std::size_t level, const Box& coarserCells, BlockSet& flags);

/// The patches of each refined level, in cells of the level and in the order of their places. Every flagged
/// block is refined. From the finest level on, what has to be there around and under it is flagged on the
/// next coarser one, so all levels are nested. A pure function of flags and rules.
std::vector<std::vector<Box>> regrid(const RegridRules& rules, std::vector<BlockSet> flags);

/// The hierarchy of these patches above a given level 0. A level may have none.
std::shared_ptr<const Hierarchy> regriddedHierarchy(const RegridRules& rules, const Level& coarsest,
                                                    const std::vector<std::vector<Box>>& patches);

}  // namespace tessera
