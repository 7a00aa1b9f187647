#include "tools/simulation/output/border_values.hpp"

#include <atomic>

#include <gtest/gtest.h>

#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/archive/field_output.hpp"

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

}  // namespace
}  // namespace tessera
