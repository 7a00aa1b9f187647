#include "grid/hierarchy.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "grid/rank_map.hpp"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Geometry box(Extent cells, std::array<bool, 3> periodic = {false, false, false}) {
  Geometry g;
  g.cells = cells;
  g.periodic = periodic;
  return g;
}

TEST(Hierarchy, UnevenCutsDifferByAtMostOneCell) { EXPECT_THAT(cutAxis(10, 4), ElementsAre(0, 3, 6, 8, 10)); }

TEST(Hierarchy, PatchesCoverEveryCellOnce) {
  const auto h = Hierarchy::uniform(box({7, 5, 3}), {Division::By::PatchSize, {3, 2, 2}});
  std::multiset<std::int64_t> cells;
  for (const Patch& p : h->level(0).patches()) {
    for (auto k = p.cells.lo.k; k < p.cells.hi.k; ++k) {
      for (auto j = p.cells.lo.j; j < p.cells.hi.j; ++j) {
        for (auto i = p.cells.lo.i; i < p.cells.hi.i; ++i) cells.insert((k * 5 + j) * 7 + i);
      }
    }
  }
  EXPECT_EQ(cells.size(), 105U);
  EXPECT_EQ(std::set<std::int64_t>(cells.begin(), cells.end()).size(), 105U);
}

TEST(Hierarchy, EveryNodeIsOwnedByExactlyOnePatch) {
  for (const bool periodic : {false, true}) {
    const auto h =
        Hierarchy::uniform(box({6, 4, 1}, {periodic, periodic, false}), {Division::By::Patches, {3, 2, 1}});
    const Level& level = h->level(0);
    std::int64_t owned = 0;
    for (const Patch& p : level.patches())
      level.forEachOwned(p, Centering::Node, [&](const Box& box) { owned += box.volume(); });
    EXPECT_EQ(owned, level.domainOf(Centering::Node).volume());
    EXPECT_EQ(owned, periodic ? 24 : 35);
  }
}

TEST(Hierarchy, ACutThatDoesNotFitNamesTheAxisAndTheRange) {
  try {
    Hierarchy::uniform(box({8, 4, 1}), {Division::By::Patches, {2, 5, 1}});
    FAIL();
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(), HasSubstr("y has 4 cells"));
    EXPECT_THAT(error.message(), HasSubstr("patches = 5"));
    EXPECT_THAT(error.message(), HasSubstr("from 1 to 4"));
  }
}

TEST(Hierarchy, HashTellsMeshesApartAndNothingElse) {
  const Division two{Division::By::Patches, {2, 1, 1}};
  EXPECT_EQ(Hierarchy::uniform(box({8, 8, 1}), two)->hash(), Hierarchy::uniform(box({8, 8, 1}), two)->hash());
  EXPECT_NE(Hierarchy::uniform(box({8, 8, 1}), two)->hash(),
            Hierarchy::uniform(box({8, 8, 1}), {Division::By::Patches, {1, 2, 1}})->hash());
  EXPECT_NE(Hierarchy::uniform(box({8, 8, 1}), two)->hash(),
            Hierarchy::uniform(box({8, 8, 1}, {true, false, false}), two)->hash());
}

TEST(Hierarchy, CountsCellsBeyond32Bits) {
  const auto h = Hierarchy::uniform(box({1LL << 33, 4, 1}), {Division::By::Patches, {4, 1, 1}});
  EXPECT_EQ(h->cellCount(), 1LL << 35);
  EXPECT_EQ(h->patch(3).cells.lo.i, 3LL << 31);
}

TEST(PatchIndex, FindsExactlyThePatchesThatOverlap) {
  const auto h = Hierarchy::uniform(box({20, 13, 9}), {Division::By::PatchSize, {3, 4, 5}});
  const Level& level = h->level(0);
  for (const Box& query :
       {Box{{2, 3, 4}, {8, 9, 6}}, Box{{-5, -5, -5}, {1, 1, 1}}, Box{{0, 0, 0}, {20, 13, 9}},
        Box{{19, 12, 8}, {40, 40, 40}}, Box{{30, 0, 0}, {31, 1, 1}}}) {
    std::vector<PatchId> expected;
    for (const Patch& p : level.patches()) {
      if (!intersect(p.cells, query).empty()) expected.push_back(p.id);
    }
    std::vector<PatchId> found;
    level.forEachOverlapping(query, [&](const Patch& p) { found.push_back(p.id); });
    EXPECT_EQ(found, expected);
  }
}

TEST(RankMap, SharesDifferByAtMostAPatchAndAreContiguousOnTheCurve) {
  const auto h = Hierarchy::uniform(box({32, 32, 32}), {Division::By::Patches, {8, 8, 8}});
  for (const int ranks : {1, 2, 3, 7, 8, 64, 600}) {
    const RankMap owners = distribute(*h, ranks);
    std::vector<int> count(static_cast<std::size_t>(ranks), 0);
    for (const Rank r : owners) ++count[static_cast<std::size_t>(r)];
    const auto [low, high] = std::minmax_element(count.begin(), count.end());
    EXPECT_LE(*high - *low, 1) << ranks << " ranks";
  }
  const RankMap eight = distribute(*h, 8);
  EXPECT_EQ(eight[0], 0);
  EXPECT_EQ(eight.back(), 7);
}

}  // namespace
}  // namespace tessera
