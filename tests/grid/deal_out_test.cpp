// Patches dealt out to ranks by what they cost.
#include "grid/balance/deal_out.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "grid/regrid/regrid.hpp"

namespace tessera {
namespace {

Geometry square(Extent cells) {
  Geometry g;
  g.upper = {1.0, 1.0, 1.0};
  g.cells = cells;
  return g;
}

constexpr Extent kTile{4, 4, 1};

/// 16 x 16 cells in patches of 4 x 4, and two finer levels in tiles of 4 x 4 at random places of the first
/// `part` of both axes.
std::shared_ptr<const Hierarchy> randomMesh(std::uint64_t seed, double part = 1.0) {
  RegridRules rules;
  rules.geometry = square({16, 16, 1});
  for (int n = 0; n < 2; ++n) rules.levels.push_back({2, kTile, {4, 4, 1}, {1, 1, 0}});
  std::vector<BlockSet> flags = noFlags(rules);
  std::mt19937_64 random(seed);
  for (std::size_t level = 0; level < 2; ++level) {
    const auto cells = static_cast<std::int64_t>(part * (16 << level));
    for (int n = 0; n < 6; ++n) {
      const Index at{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cells)),
                     static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cells)), 0};
      flagCells(rules, level, {at, at + Index{1, 1, 1}}, flags[level]);
    }
  }
  const auto coarsest = Hierarchy::uniform(rules.geometry, {Division::By::PatchSize, {4, 4, 1}});
  return regriddedHierarchy(rules, coarsest->level(0), regrid(rules, std::move(flags)));
}

std::vector<double> randomCosts(const Hierarchy& mesh, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> costs;
  for (std::int64_t n = 0; n < mesh.patchCount(); ++n)
    costs.push_back(static_cast<double>(1 + random() % 50));
  return costs;
}

std::vector<double> sharesOf(const std::vector<PatchId>& patches, const RankMap& owners,
                             const std::vector<double>& costs, int ranks) {
  std::vector<double> shares(static_cast<std::size_t>(ranks), 0.0);
  for (const PatchId patch : patches) {
    const auto n = static_cast<std::size_t>(patch);
    shares[static_cast<std::size_t>(owners[n])] += costs[n];
  }
  return shares;
}

/// The largest share is at most the mean and one patch more.
void expectEven(const std::vector<PatchId>& patches, const RankMap& owners, const std::vector<double>& costs,
                int ranks) {
  if (patches.empty()) return;
  double total = 0.0;
  double dearest = 0.0;
  for (const PatchId patch : patches) {
    total += costs[static_cast<std::size_t>(patch)];
    dearest = std::max(dearest, costs[static_cast<std::size_t>(patch)]);
  }
  const std::vector<double> shares = sharesOf(patches, owners, costs, ranks);
  EXPECT_LE(*std::max_element(shares.begin(), shares.end()), total / ranks + dearest);
}

TEST(DealOut, TheLargestShareIsAtMostTheMeanAndOnePatchMore) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto mesh = randomMesh(seed);
    const std::vector<double> costs = randomCosts(*mesh, seed);
    const int ranks = 1 + static_cast<int>(seed % 9);
    for (const Curve curve : {Curve::Morton, Curve::Hilbert}) {
      std::vector<PatchId> all(costs.size());
      std::iota(all.begin(), all.end(), 0);
      expectEven(all, dealOut(*mesh, costs, ranks, {curve, true}), costs, ranks);
      const RankMap apart = dealOut(*mesh, costs, ranks, {curve, false});
      for (const Level& level : mesh->levels()) {
        std::vector<PatchId> own;
        for (const Patch& patch : level.patches()) own.push_back(patch.id);
        expectEven(own, apart, costs, ranks);
      }
    }
  }
}

/// Patches of one cell, in the order of the curve.
std::vector<Index> wayThrough(Curve curve, Extent cells) {
  const auto mesh = Hierarchy::uniform(square(cells), {Division::By::PatchSize, {1, 1, 1}});
  const Level& level = mesh->level(0);
  std::vector<std::pair<std::uint64_t, Index>> places;
  for (const Patch& patch : level.patches())
    places.emplace_back(positionOnCurve(curve, patch.cells, level.domain(), level.geometry()),
                        patch.cells.lo);
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Index> way;
  for (const auto& [position, at] : places) way.push_back(at);
  return way;
}

std::int64_t longestLeap(const std::vector<Index>& way) {
  std::int64_t longest = 0;
  for (std::size_t n = 1; n < way.size(); ++n) {
    std::int64_t leap = 0;
    for (int d = 0; d < kAxes; ++d) leap += std::abs(way[n][d] - way[n - 1][d]);
    longest = std::max(longest, leap);
  }
  return longest;
}

TEST(DealOut, AHilbertCurveGoesFromEachPlaceToOneBesideIt) {
  for (const Extent cells : {Extent{16, 1, 1}, Extent{1, 16, 16}, Extent{16, 16, 1}, Extent{8, 8, 8}})
    EXPECT_EQ(longestLeap(wayThrough(Curve::Hilbert, cells)), 1)
        << asText(Box{{}, {cells.i, cells.j, cells.k}});
  EXPECT_GT(longestLeap(wayThrough(Curve::Morton, {16, 16, 1})), 1);
}

/// Part of the finer cells whose next coarser cell is on the same rank.
double partAtHome(const Hierarchy& mesh, const RankMap& owners) {
  double cells = 0.0;
  double atHome = 0.0;
  for (std::size_t number = 1; number < mesh.levels().size(); ++number) {
    for (const Patch& patch : mesh.levels()[number].patches()) {
      const Box under{{patch.cells.lo.i / 2, patch.cells.lo.j / 2, 0},
                      {patch.cells.hi.i / 2, patch.cells.hi.j / 2, 1}};
      mesh.levels()[number - 1].forEachOverlapping(under, [&](const Patch& parent) {
        const auto common = static_cast<double>(intersect(parent.cells, under).volume());
        cells += common;
        if (owners[static_cast<std::size_t>(parent.id)] == owners[static_cast<std::size_t>(patch.id)])
          atHome += common;
      });
    }
  }
  return atHome / cells;
}

TEST(DealOut, LevelsThatAreCutTogetherHaveChildrenNearParents) {
  double together = 0.0;
  double apart = 0.0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto mesh = randomMesh(seed, 0.5);
    const std::vector<double> costs = costsByCells(*mesh, {});
    together += partAtHome(*mesh, dealOut(*mesh, costs, 4, {Curve::Hilbert, true})) / 20;
    apart += partAtHome(*mesh, dealOut(*mesh, costs, 4, {Curve::Hilbert, false})) / 20;
  }
  EXPECT_GT(together, 0.75);
  EXPECT_LT(apart, 0.6);
}

// Whole numbers: no sum is rounded.
TEST(DealOut, CostsGoToOtherPatchesWithTheirCells) {
  const auto four = Hierarchy::uniform(square({16, 16, 1}), {Division::By::PatchSize, {4, 4, 1}});
  const auto eight = Hierarchy::uniform(square({16, 16, 1}), {Division::By::PatchSize, {8, 8, 1}});
  std::vector<double> costs = costsByCells(*eight, {});
  costs[2] *= 32.0;
  const std::vector<double> onFour = costsOn(*four, *eight, costs);
  EXPECT_EQ(std::accumulate(onFour.begin(), onFour.end(), 0.0), 64.0 * 35.0);
  EXPECT_EQ(*std::max_element(onFour.begin(), onFour.end()), 16.0 * 32.0);
  EXPECT_EQ(costsOn(*eight, *four, onFour), costs);
}

TEST(DealOut, CellsThatAreNewCostWhatCellsOfTheirLevelDo) {
  const auto mesh = randomMesh(3);
  std::vector<double> costs = costsByCells(*mesh, {});
  for (double& cost : costs) cost *= 2.0;
  const auto other = randomMesh(4);
  std::vector<double> expected = costsByCells(*other, {});
  for (double& cost : expected) cost *= 2.0;
  EXPECT_EQ(costsOn(*other, *mesh, costs), expected);
}

TEST(DealOut, AStepCostsWhatTheBusiestRankHas) {
  const auto mesh = randomMesh(1);
  const std::vector<double> costs = costsByCells(*mesh, std::vector<double>{1.0, 2.0, 4.0});
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  const RankMap alone(costs.size(), 1);
  EXPECT_EQ(costOfStep(*mesh, alone, costs, 4, false), all);
  EXPECT_EQ(costOfStep(*mesh, alone, costs, 4, true), all);
  EXPECT_EQ(imbalanceOf(*mesh, alone, costs, 4), 4.0);
  EXPECT_EQ(imbalanceOf(*mesh, alone, costs, 4, 1), 4.0);
  const RankMap even = dealOut(*mesh, costs, 4, {});
  EXPECT_LT(costOfStep(*mesh, even, costs, 4, false), 0.5 * all);
}

}  // namespace
}  // namespace tessera
