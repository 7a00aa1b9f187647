#include "grid/regrid/regrid.hpp"

#include <algorithm>

#include "grid/refine.hpp"
#include "grid/refined_levels.hpp"
#include "grid/regrid/regridder.hpp"

namespace tessera {
namespace {

/// Cells of the next coarser level along each axis of a block.
Extent coarseBlock(const RegridRules& rules, std::size_t level) {
  const Extent ratio = ratioAlongAxes(rules.geometry, rules.levels[level].ratio);
  Extent block;
  for (int d = 0; d < kAxes; ++d) block[d] = rules.levels[level].tile[d] / ratio[d];
  return block;
}

/// All cells that a level could have, 0 being the first refined one.
Extent cellsOf(const RegridRules& rules, std::size_t level) {
  Extent cells = rules.geometry.cells;
  for (std::size_t n = 0; n <= level; ++n)
    cells = refine(Box{{}, cells}, ratioAlongAxes(rules.geometry, rules.levels[n].ratio)).hi;
  return cells;
}

Extent latticeOf(const RegridRules& rules, std::size_t level) {
  const Extent cells = cellsOf(rules, level);
  Extent lattice;
  for (int d = 0; d < kAxes; ++d) lattice[d] = cells[d] / rules.levels[level].tile[d];
  return lattice;
}

Halo ringOf(const RegridRules& rules, std::size_t level) {
  Halo ring;
  for (int d = 0; d < kAxes; ++d) {
    if (rules.geometry.active(d)) ring.lo[d] = ring.hi[d] = rules.levels[level].nesting[d];
  }
  return ring;
}

std::unique_ptr<Regridder> regridderOf(const RegridRules& rules) {
  return rules.kind == RegridderKind::Tiled ? makeTiledRegridder()
                                            : makeClusteringRegridder(rules.efficiency);
}

/// Flags on the next coarser level what has to be there around and under a region, in blocks of its level.
void flagBelow(const RegridRules& rules, std::size_t level, const std::vector<Box>& region, BlockSet& below) {
  const Extent block = coarseBlock(rules, level);
  const Halo ring = ringOf(rules, level);
  const Extent ratio = ratioAlongAxes(rules.geometry, rules.levels[level - 1].ratio);
  for (const Box& part : region)
    flagCells(rules, level - 1, coarsen(grow(refine(part, block), ring), ratio), below);
}

/// So that one or more patches are tiles even where none is allowed to be as long.
Extent longestInBlocks(const RefinedLattice& level) {
  Extent longest;
  for (int d = 0; d < kAxes; ++d) longest[d] = std::max<std::int64_t>(1, level.longest[d] / level.tile[d]);
  return longest;
}

}  // namespace

std::vector<std::string> findLatticeFaults(const RegridRules& rules) {
  std::vector<std::string> faults;
  for (std::size_t level = 0; level < rules.levels.size(); ++level) {
    const Extent cells = cellsOf(rules, level);
    const Extent ratio = ratioAlongAxes(rules.geometry, rules.levels[level].ratio);
    for (int d = 0; d < kAxes; ++d) {
      const std::int64_t tile = rules.levels[level].tile[d];
      const std::string of = "a tile of " + std::to_string(tile) + " cells along " + "xyz"[d];
      if (tile % ratio[d] != 0) {
        faults.push_back(of + " does not hold whole cells of level " + std::to_string(level) +
                         "; give a multiple of the ratio, " + std::to_string(ratio[d]));
      } else if (cells[d] % tile != 0) {
        faults.push_back(of + " does not divide the " + std::to_string(cells[d]) + " that level " +
                         std::to_string(level + 1) + " has across the domain; give a number that does, or " +
                         "change grid.cells");
      }
    }
  }
  return faults;
}

std::vector<BlockSet> noFlags(const RegridRules& rules) {
  std::array<bool, kAxes> wraps{};
  for (int d = 0; d < kAxes; ++d) wraps[static_cast<std::size_t>(d)] = rules.geometry.wraps(d);
  std::vector<BlockSet> flags;
  for (std::size_t level = 0; level < rules.levels.size(); ++level)
    flags.emplace_back(latticeOf(rules, level), wraps);
  return flags;
}

void flagCells(const RegridRules& rules, std::size_t level, const Box& coarserCells, BlockSet& flags) {
  if (!coarserCells.empty()) flags.add(coarsen(coarserCells, coarseBlock(rules, level)));
}

std::vector<std::vector<Box>> regrid(const RegridRules& rules, std::vector<BlockSet> flags) {
  const std::unique_ptr<Regridder> regridder = regridderOf(rules);
  std::vector<std::vector<Box>> patches(rules.levels.size());
  for (std::size_t level = rules.levels.size(); level-- > 0;) {
    const std::vector<Box> region = regridder->regionOf(flags[level]);
    for (const Box& box : region) {
      for (const Box& patch : regridder->patchesOf(box, longestInBlocks(rules.levels[level])))
        patches[level].push_back(refine(patch, rules.levels[level].tile));
    }
    std::sort(patches[level].begin(), patches[level].end(), beforeByPosition);
    if (level > 0) flagBelow(rules, level, region, flags[level - 1]);
  }
  return patches;
}

std::shared_ptr<const Hierarchy> regriddedHierarchy(const RegridRules& rules, const Level& coarsest,
                                                    const std::vector<std::vector<Box>>& patches) {
  std::vector<Level> levels{coarsest};
  auto next = static_cast<PatchId>(coarsest.patches().size());
  for (std::size_t n = 0; n < patches.size(); ++n) {
    const auto number = static_cast<LevelId>(n + 1);
    std::vector<Patch> ofLevel;
    for (const Box& cells : patches[n]) ofLevel.push_back({next++, number, cells});
    levels.emplace_back(number, rules.geometry, Box{{}, cellsOf(rules, n)},
                        ratioAlongAxes(rules.geometry, rules.levels[n].ratio), std::move(ofLevel));
  }
  return std::make_shared<const Hierarchy>(rules.geometry, std::move(levels));
}

}  // namespace tessera
