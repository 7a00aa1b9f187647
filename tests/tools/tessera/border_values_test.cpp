#include "tools/simulation/output/border_values.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "datawarehouse/archive/field_output.hpp"
#include "grid/hierarchy.hpp"

namespace tessera {
namespace {

/// Numbers that tell the index and the component.
std::vector<double> stampsOf(const Box& box, const Box& known, int components) {
  std::vector<double> values;
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) {
        Index x{i, j, k};
        for (int d = 0; d < kAxes; ++d) x[d] = std::min(x[d], known.hi[d] - 1);
        for (int c = 0; c < components; ++c)
          values.push_back(static_cast<double>(x.i + 100 * x.j + 10000 * x.k) + 0.25 * c);
      }
    }
  }
  return values;
}

TEST(BorderValues, AreThoseThatThePatchStores) {
  for (const Extent cells : {Extent{6, 5, 4}, Extent{7, 4, 1}, Extent{1, 4, 1}}) {
    Geometry geometry;
    geometry.cells = cells;
    geometry.periodic = {true, false, false};
    const auto hierarchy = Hierarchy::uniform(
        geometry, {Division::By::PatchSize, {std::min<std::int64_t>(3, cells.i), 2, cells.k}});
    const Level& level = hierarchy->level(0);
    for (const Centering centering :
         {Centering::Node, Centering::FaceX, Centering::FaceY, Centering::FaceZ}) {
      for (const Patch& patch : level.patches()) {
        const Box closed = level.closedBox(patch, centering);
        const Box wanted = valueBox(patch.cells, centering);
        std::vector<double> values(static_cast<std::size_t>(2 * wanted.volume()), -1.0);
        spreadToValueBox(closed, stampsOf(closed, closed, 2), wanted, values, 2);
        EXPECT_EQ(values, stampsOf(wanted, closed, 2)) << asText(centering) << " of " << asText(patch);
      }
    }
  }
}

}  // namespace
}  // namespace tessera
