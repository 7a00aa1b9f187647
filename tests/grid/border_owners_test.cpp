#include <array>
#include <map>
#include <memory>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "grid/level.hpp"

namespace tessera {
namespace {

template <class Visit>
void forEachIndex(const Box& box, Visit&& visit) {
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) visit(Index{i, j, k});
    }
  }
}

using Name = std::array<std::int64_t, kAxes>;

/// A level of a lattice of boxes, some of which are left out and some cut in two.
class RandomLevel {
 public:
  explicit RandomLevel(std::uint64_t seed) : random_(seed) {
    Geometry geometry;
    for (int d = 0; d < kAxes; ++d) {
      geometry.periodic[static_cast<std::size_t>(d)] = below(2) == 0;
      // Axes of one cell, of one patch and of several.
      cuts_[static_cast<std::size_t>(d)] = {0};
      const std::int64_t pieces = below(5) == 0 ? 1 : 1 + below(4);
      for (std::int64_t n = 0; n < pieces; ++n) {
        auto& cuts = cuts_[static_cast<std::size_t>(d)];
        cuts.push_back(cuts.back() + (pieces == 1 && below(2) == 0 ? 1 : 2 + below(2)));
      }
      geometry.cells[d] = cuts_[static_cast<std::size_t>(d)].back();
    }
    const std::int64_t kept = 1 + below(10);
    std::vector<Patch> patches;
    forEachIndex({{}, {pieces(0), pieces(1), pieces(2)}}, [&](Index n) {
      if (below(10) >= kept && !(n == Index{})) return;
      Box cells;
      for (int d = 0; d < kAxes; ++d) {
        cells.lo[d] = cuts_[static_cast<std::size_t>(d)][static_cast<std::size_t>(n[d])];
        cells.hi[d] = cuts_[static_cast<std::size_t>(d)][static_cast<std::size_t>(n[d]) + 1];
      }
      patches.push_back({7 + static_cast<PatchId>(patches.size()), 1, cells});
    });
    level = std::make_unique<Level>(1, geometry, Box{{}, geometry.cells}, Extent{2, 2, 2}, patches);
  }

  std::unique_ptr<Level> level;

 private:
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  std::int64_t pieces(int d) const {
    return static_cast<std::int64_t>(cuts_[static_cast<std::size_t>(d)].size()) - 1;
  }

  std::mt19937_64 random_;
  std::array<std::vector<std::int64_t>, kAxes> cuts_;
};

/// The first of the names that an index has across periods.
Name homeOf(const Level& level, Index x) {
  for (int d = 0; d < kAxes; ++d) {
    if (level.geometry().wraps(d)) x[d] %= level.domain().hi[d];
  }
  return {x.i, x.j, x.k};
}

constexpr Centering kAll[] = {Centering::Cell, Centering::Node, Centering::FaceX, Centering::FaceY,
                              Centering::FaceZ};

TEST(BorderOwners, EachIndexBesideACellHasOneOwner) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const RandomLevel drawn(seed);
    const Level& level = *drawn.level;
    for (const Centering centering : kAll) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + asText(centering));
      std::set<Name> wanted;
      std::map<Name, int> owners;
      for (const Patch& patch : level.patches()) {
        const Box closed = level.closedBox(patch, centering);
        forEachIndex(closed, [&](Index x) { wanted.insert(homeOf(level, x)); });
        level.forEachOwned(patch, centering, [&](const Box& owned) {
          ASSERT_TRUE(closed.contains(owned)) << asText(owned) << " of " << asText(patch);
          forEachIndex(owned, [&](Index x) { ++owners[homeOf(level, x)]; });
        });
      }
      for (const Name& x : wanted) ASSERT_EQ(owners[x], 1) << x[0] << " " << x[1] << " " << x[2];
      ASSERT_EQ(owners.size(), wanted.size());
      forEachIndex(level.domainOf(centering), [&](Index x) {
        ASSERT_EQ(level.exists(x, centering), wanted.count({x.i, x.j, x.k}) == 1);
      });
    }
  }
}

TEST(BorderOwners, ANodeThatNoCellStartsFromBelongsToTheFirstPatch) {
  Geometry geometry;
  geometry.cells = {8, 8, 1};
  // Two patches side by side, in the other order in the list.
  const Level level(1, geometry, {{}, {8, 8, 1}}, {2, 2, 1},
                    {{0, 1, {{4, 2, 0}, {6, 4, 1}}}, {1, 1, {{2, 2, 0}, {4, 4, 1}}}});
  std::int64_t first = 0;
  std::int64_t second = 0;
  level.forEachOwned(level.patches()[1], Centering::Node, [&](const Box& box) { first += box.volume(); });
  level.forEachOwned(level.patches()[0], Centering::Node, [&](const Box& box) { second += box.volume(); });
  EXPECT_EQ(first, 4 + 3);   // also (4, 4), between them
  EXPECT_EQ(second, 4 + 4);  // (6, 2..4) and (5, 4)
  EXPECT_TRUE(level.exists({6, 4, 0}, Centering::Node));
  EXPECT_FALSE(level.exists({7, 4, 0}, Centering::Node));
}

TEST(BorderOwners, BothNamesOfAPeriodicBorderAreAtOnePlace) {
  Geometry geometry;
  geometry.upper = {0.7, 0.3, 1.0};
  geometry.cells = {7, 3, 1};
  geometry.periodic = {true, false, false};
  const Level level(0, geometry, {{}, {7, 3, 1}}, {1, 1, 1}, {{0, 0, {{}, {7, 3, 1}}}});
  EXPECT_EQ(level.position({7, 3, 0}, Centering::Node).x, level.position({0, 3, 0}, Centering::Node).x);
  EXPECT_GT(level.position({7, 3, 0}, Centering::Node).y, level.position({7, 0, 0}, Centering::Node).y);
  EXPECT_GT(level.position({7, 0, 0}, Centering::Cell).x, 0.7);
}

}  // namespace
}  // namespace tessera
