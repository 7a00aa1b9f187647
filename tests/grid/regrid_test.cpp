// Meshes from flags: what every one of them has to be, for flags drawn at random.
#include "grid/regrid/regrid.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grid/refine.hpp"
#include "grid/refined_levels.hpp"
#include "grid/regrid/flag_lives.hpp"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Patches = std::vector<std::vector<Box>>;

/// Rules, and flagged cells of each level but the finest one.
struct RegridCase {
  RegridRules rules;
  std::vector<std::vector<Index>> cells;
};

class DrawnCase {
 public:
  explicit DrawnCase(std::uint64_t seed) : random_(seed) {}

  RegridCase draw(RegridderKind kind) {
    RegridCase drawn;
    const int axes = 1 + static_cast<int>(below(3));
    drawn.rules.kind = kind;
    drawn.rules.efficiency = 0.3 + 0.1 * static_cast<double>(below(7));
    for (int d = 0; d < axes; ++d) {
      drawn.rules.geometry.cells[d] = 8 * static_cast<std::int64_t>(1 + below(axes == 3 ? 2 : 4));
      drawn.rules.geometry.periodic[static_cast<std::size_t>(d)] = below(2) == 0;
    }
    const std::size_t levels = 1 + below(3);
    for (std::size_t n = 0; n < levels; ++n) drawn.rules.levels.push_back(lattice(drawn.rules.geometry));
    Extent cellsOfLevel = drawn.rules.geometry.cells;
    for (const RefinedLattice& level : drawn.rules.levels) {
      drawn.cells.emplace_back();
      for (std::size_t n = below(12); n-- > 0;)
        drawn.cells.back().push_back({at(cellsOfLevel.i), at(cellsOfLevel.j), at(cellsOfLevel.k)});
      cellsOfLevel = refine(Box{{}, cellsOfLevel}, ratioAlongAxes(drawn.rules.geometry, level.ratio)).hi;
    }
    return drawn;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::int64_t at(std::int64_t cells) {
    return static_cast<std::int64_t>(below(static_cast<std::size_t>(cells)));
  }

  RefinedLattice lattice(const Geometry& geometry) {
    RefinedLattice level;
    level.ratio = below(4) == 0 ? 4 : 2;
    const std::int64_t coarse = std::int64_t{1} << below(3);
    for (int d = 0; d < kAxes; ++d) {
      level.tile[d] = geometry.active(d) ? level.ratio * coarse : 1;
      level.longest[d] = geometry.active(d) ? level.tile[d] * static_cast<std::int64_t>(1 + below(3)) : 1;
      level.nesting[d] = static_cast<std::int64_t>(1 + below(4));
    }
    return level;
  }

  std::mt19937_64 random_;
};

std::vector<BlockSet> flagsOf(const RegridCase& c) {
  std::vector<BlockSet> flags = noFlags(c.rules);
  for (std::size_t level = 0; level < c.cells.size(); ++level) {
    for (const Index& cell : c.cells[level])
      flagCells(c.rules, level, {cell, cell + Index{1, 1, 1}}, flags[level]);
  }
  return flags;
}

Level coarsest(const RegridRules& rules, std::int64_t pieces) {
  Extent patches{1, 1, 1};
  for (int d = 0; d < kAxes; ++d) {
    if (rules.geometry.active(d)) patches[d] = pieces;
  }
  return Hierarchy::uniform(rules.geometry, {Division::By::Patches, patches})->level(0);
}

std::vector<RefinedLevel> asDeckLevels(const RegridRules& rules, const Patches& patches) {
  std::vector<RefinedLevel> levels;
  for (std::size_t n = 0; n < patches.size(); ++n) {
    RefinedLevel level;
    level.ratio = rules.levels[n].ratio;
    for (const Box& box : patches[n])
      level.boxes.push_back(coarsen(box, ratioAlongAxes(rules.geometry, level.ratio)));
    levels.push_back(std::move(level));
  }
  return levels;
}

class Regrid : public ::testing::TestWithParam<RegridderKind> {
 protected:
  static constexpr std::uint64_t kSeeds = 400;

  RegridCase drawn(std::uint64_t seed) const { return DrawnCase(seed).draw(GetParam()); }
  static std::string replay(std::uint64_t seed) { return "seed " + std::to_string(seed); }
};

TEST_P(Regrid, RefinesEveryFlaggedCell) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const RegridCase c = drawn(seed);
    const auto mesh = regriddedHierarchy(c.rules, coarsest(c.rules, 1), regrid(c.rules, flagsOf(c)));
    for (std::size_t level = 0; level < c.cells.size(); ++level) {
      for (const Index& cell : c.cells[level]) {
        const Box finer = refine(Box{cell, cell + Index{1, 1, 1}},
                                 ratioAlongAxes(c.rules.geometry, c.rules.levels[level].ratio));
        std::int64_t cells = 0;
        mesh->level(static_cast<LevelId>(level + 1)).forEachOverlapping(finer, [&](const Patch& patch) {
          cells += intersect(patch.cells, finer).volume();
        });
        ASSERT_EQ(cells, finer.volume())
            << replay(seed) << ", cell " << asText(cell) << " of level " << level;
      }
    }
  }
}

/// Patches are disjoint, inside the domain and the level below, and as much of that is around them as asked.
TEST_P(Regrid, NestsLevelsWithTheRingThatTasksNeed) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const RegridCase c = drawn(seed);
    const Patches patches = regrid(c.rules, flagsOf(c));
    const std::vector<RefinedLevel> levels = asDeckLevels(c.rules, patches);
    ASSERT_THAT(findBoxFaults(c.rules.geometry, levels, Nesting::WithRing), IsEmpty()) << replay(seed);
    for (std::size_t n = 0; n < levels.size(); ++n) {
      Halo halo;
      for (int d = 0; d < kAxes; ++d)
        halo.lo[d] = halo.hi[d] = c.rules.levels[n].nesting[d] * c.rules.levels[n].ratio;
      ASSERT_THAT(findShortLevels(c.rules.geometry, levels, {n, Reach::Patch, halo}), IsEmpty())
          << replay(seed) << ", level " << n + 1;
    }
  }
}

TEST_P(Regrid, CutsAlongTheLattice) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const RegridCase c = drawn(seed);
    const Patches patches = regrid(c.rules, flagsOf(c));
    for (std::size_t n = 0; n < patches.size(); ++n) {
      const RefinedLattice& level = c.rules.levels[n];
      EXPECT_TRUE(std::is_sorted(patches[n].begin(), patches[n].end(), beforeByPosition));
      for (const Box& patch : patches[n]) {
        for (int d = 0; d < kAxes; ++d) {
          ASSERT_EQ(patch.lo[d] % level.tile[d], 0) << replay(seed);
          ASSERT_EQ(patch.hi[d] % level.tile[d], 0) << replay(seed);
          ASSERT_LE(patch.extent()[d], std::max(level.tile[d], level.longest[d])) << replay(seed);
        }
      }
    }
  }
}

TEST_P(Regrid, GivesMirroredPatchesForMirroredFlags) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const RegridCase c = drawn(seed);
    for (int axis = 0; axis < kAxes; ++axis) {
      if (!c.rules.geometry.active(axis)) continue;
      RegridCase mirrored = c;
      Patches expected = regrid(c.rules, flagsOf(c));
      std::int64_t cells = c.rules.geometry.cells[axis];
      for (std::size_t n = 0; n < c.cells.size(); ++n) {
        for (Index& cell : mirrored.cells[n]) cell[axis] = cells - 1 - cell[axis];
        cells *= c.rules.levels[n].ratio;
        for (Box& patch : expected[n]) {
          const std::int64_t lower = patch.lo[axis];
          patch.lo[axis] = cells - patch.hi[axis];
          patch.hi[axis] = cells - lower;
        }
        std::sort(expected[n].begin(), expected[n].end(), beforeByPosition);
      }
      ASSERT_EQ(regrid(c.rules, flagsOf(mirrored)), expected) << replay(seed) << ", axis " << axis;
    }
  }
}

TEST_P(Regrid, DoesNotDependOnWhoFoundWhichFlag) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const RegridCase c = drawn(seed);
    const Patches right = regrid(c.rules, flagsOf(c));
    std::mt19937_64 random(seed);
    for (const std::size_t ranks : {2U, 5U, 8U}) {
      std::vector<BlockSet> flags = noFlags(c.rules);
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        RegridCase mine = c;
        for (std::vector<Index>& cells : mine.cells) {
          std::shuffle(cells.begin(), cells.end(), std::mt19937_64(seed));  // the same on each rank
          std::vector<Index> dealt;
          for (std::size_t n = rank; n < cells.size(); n += ranks) dealt.push_back(cells[n]);
          if (!cells.empty()) dealt.push_back(cells[random() % cells.size()]);  // found by several
          cells = std::move(dealt);
        }
        std::vector<BlockSet> found = flagsOf(mine);
        for (std::size_t n = 0; n < flags.size(); ++n) flags[n].add(found[n]);
      }
      ASSERT_EQ(regrid(c.rules, std::move(flags)), right) << replay(seed) << ", " << ranks << " ranks";
    }
    EXPECT_EQ(regriddedHierarchy(c.rules, coarsest(c.rules, 1), right)->level(1).cellCount(),
              regriddedHierarchy(c.rules, coarsest(c.rules, 3), right)->level(1).cellCount());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Regrid, ::testing::Values(RegridderKind::Tiled, RegridderKind::Clustering),
                         [](const auto& info) {
                           return info.param == RegridderKind::Tiled ? "Tiled" : "Clustering";
                         });

TEST(TiledRegridder, GivesAMeshAgainForTheFlagsOfThatMesh) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const RegridCase c = DrawnCase(seed).draw(RegridderKind::Tiled);
    const Patches once = regrid(c.rules, flagsOf(c));
    std::vector<BlockSet> flags = noFlags(c.rules);
    for (std::size_t n = 0; n < once.size(); ++n) {
      for (const Box& patch : once[n])
        flagCells(c.rules, n, coarsen(patch, ratioAlongAxes(c.rules.geometry, c.rules.levels[n].ratio)),
                  flags[n]);
    }
    ASSERT_EQ(regrid(c.rules, std::move(flags)), once) << "seed " << seed;
  }
}

RegridRules line(RegridderKind kind, double efficiency = 0.7) {
  RegridRules rules;
  rules.geometry.cells = {32, 1, 1};
  rules.kind = kind;
  rules.efficiency = efficiency;
  rules.levels = {{2, {4, 1, 1}, {16, 1, 1}, {1, 1, 1}}};
  return rules;
}

Patches refinedFrom(const RegridRules& rules, std::vector<Index> cells) {
  return regrid(rules, flagsOf({rules, {std::move(cells)}}));
}

TEST(TiledRegridder, RefinesTheTileOfAFlaggedCell) {
  EXPECT_THAT(refinedFrom(line(RegridderKind::Tiled), {{5, 0, 0}}),
              ElementsAre(ElementsAre(Box{{8, 0, 0}, {12, 1, 1}})));
}

TEST(ClusteringRegridder, CutsWhereNothingIsFlagged) {
  EXPECT_THAT(refinedFrom(line(RegridderKind::Clustering), {{0, 0, 0}, {2, 0, 0}, {20, 0, 0}}),
              ElementsAre(ElementsAre(Box{{0, 0, 0}, {8, 1, 1}}, Box{{40, 0, 0}, {44, 1, 1}})));
}

TEST(ClusteringRegridder, MakesFewerBoxesWhereTheyMayBeEmptier) {
  EXPECT_THAT(refinedFrom(line(RegridderKind::Clustering, 0.5), {{0, 0, 0}, {4, 0, 0}}),
              ElementsAre(ElementsAre(Box{{0, 0, 0}, {12, 1, 1}})));
}

TEST(RegridRules, SayWhichTileDoesNotFitAndWhatToGive) {
  RegridRules rules = line(RegridderKind::Tiled);
  EXPECT_THAT(findLatticeFaults(rules), IsEmpty());
  rules.levels[0].tile = {24, 1, 1};
  EXPECT_THAT(findLatticeFaults(rules), ElementsAre(HasSubstr("24 cells along x does not divide the 64")));
  rules.levels[0].tile = {5, 1, 1};
  EXPECT_THAT(findLatticeFaults(rules), ElementsAre(HasSubstr("give a multiple of the ratio, 2")));
}

TEST(FlagLives, KeepABlockForSoManyRegridsAndGoOnFromTheirNumbers) {
  const RegridRules rules = line(RegridderKind::Tiled);
  FlagLives lives(2);
  const auto next = [&](FlagLives& of, bool flagged) {
    std::vector<BlockSet> flags = noFlags(rules);
    if (flagged) flags[0].add(Index{3, 0, 0});
    of.prolong(flags);
    return flags[0].contains({3, 0, 0});
  };
  EXPECT_TRUE(next(lives, true));
  EXPECT_TRUE(next(lives, false));
  FlagLives restored(2);
  restored.restore(0, lives.numbersOf(0));
  EXPECT_EQ(restored.numbersOf(0), (std::vector<double>{3, 0, 0, 1}));
  for (FlagLives* of : {&lives, &restored}) {
    EXPECT_TRUE(next(*of, false));
    EXPECT_FALSE(next(*of, false));
  }
}

}  // namespace
}  // namespace tessera
