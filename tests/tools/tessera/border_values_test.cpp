#include "tools/simulation/output/border_values.hpp"

#include <atomic>
#include <cmath>

#include <gtest/gtest.h>

#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/archive/field_output.hpp"
#include "grid/refined_levels.hpp"

namespace tessera {
namespace {

/// A number that tells the index, the same for the two names of a periodic border.
double stampOf(Index x, const Box& domain, int component) {
  for (int axis = 0; axis < kAxes; ++axis) {
    if (x[axis] >= domain.hi[axis]) x[axis] -= domain.extent()[axis];
  }
  return static_cast<double>(x.i + 100 * x.j + 10000 * x.k) + 0.25 * component;
}

/// The stamps of all indices of `box`, as a patch stores them.
std::vector<double> stampsOf(const Box& box, const Box& domain, int components) {
  std::vector<double> values;
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) {
        for (int c = 0; c < components; ++c) values.push_back(stampOf({i, j, k}, domain, c));
      }
    }
  }
  return values;
}

void expectStamps(const Geometry& geometry, const Division& division, Centering centering, int ranks) {
  const auto hierarchy = Hierarchy::uniform(geometry, division);
  const RankMap owners = distribute(*hierarchy, ranks);
  const Level& level = hierarchy->level(0);
  const Box domain = level.domainOf(centering);
  std::atomic<int> patches{0};
  LoopbackWorld world(ranks);
  runRanks(world, [&](Transport& transport) {
    const BorderValues borders{*hierarchy, owners, transport, centering, 2};
    const auto values = borders.gather(
        [&](const Patch& patch) { return stampsOf(level.ownedBy(patch, centering), domain, 2); });
    std::size_t local = 0;
    for (const Patch& patch : level.patches()) {
      if (owners[static_cast<std::size_t>(patch.id)] != transport.rank()) continue;
      EXPECT_EQ(values[local], stampsOf(valueBox(patch.cells, centering), domain, 2)) << asText(patch);
      ++local;
      ++patches;
    }
    EXPECT_EQ(values.size(), local);
  });
  EXPECT_EQ(patches, hierarchy->patchCount());
}

TEST(BorderValues, AreTheNeighboursOnAnyCenteringLayoutAndNumberOfRanks) {
  Geometry box;
  box.cells = {6, 5, 4};
  Geometry wrapped = box;
  wrapped.periodic = {true, true, false};
  Geometry flat;
  flat.cells = {7, 4, 1};
  for (const Geometry& geometry : {box, wrapped, flat}) {
    for (const Centering centering :
         {Centering::Node, Centering::FaceX, Centering::FaceY, Centering::FaceZ}) {
      for (const int ranks : {1, 2, 5}) {
        SCOPED_TRACE(asText(centering) + " on " + std::to_string(ranks) + " ranks");
        expectStamps(geometry, {Division::By::PatchSize, {3, 2, geometry.cells.k}}, centering, ranks);
      }
    }
  }
}

TEST(BorderValues, ThatNoPatchOwnsAreNoNumberAndNotZero) {
  Geometry geometry;
  geometry.cells = {8, 8, 8};
  const auto hierarchy = refinedHierarchy(geometry, {Division::By::PatchSize, {8, 8, 8}},
                                          {{2, {{{2, 2, 2}, {6, 6, 6}}}, {4, 4, 4}}});
  const RankMap owners = distribute(*hierarchy, 1);
  LoopbackWorld world(1);
  for (const Centering centering : {Centering::Node, Centering::FaceX, Centering::FaceY, Centering::FaceZ}) {
    const BorderValues borders{*hierarchy, owners, world.transport(0), centering, 1};
    const auto values = borders.gather([&](const Patch& patch) {
      const Level& level = hierarchy->level(patch.level);
      return stampsOf(level.ownedBy(patch, centering), level.domainOf(centering), 1);
    });
    const Level& fine = hierarchy->level(1);
    for (std::size_t n = 0; n < fine.patches().size(); ++n) {
      const Patch& patch = fine.patches()[n];
      const Box box = valueBox(patch.cells, centering);
      std::size_t at = 0;
      for (const double right : stampsOf(box, fine.domainOf(centering), 1)) {
        const Extent size = box.extent();
        const auto place = static_cast<std::int64_t>(at);
        const Index x = box.lo + Index{place % size.i, place / size.i % size.j, place / (size.i * size.j)};
        const double value = values[n + 1][at++];
        // The region is cells 4 to 11: nobody owns what lies on its border at 12.
        const bool owned = x.i < 12 && x.j < 12 && x.k < 12;
        ASSERT_TRUE(owned ? value == right : std::isnan(value)) << asText(centering) << asText(x) << value;
      }
    }
  }
}

}  // namespace
}  // namespace tessera
