// Values of expressions on cells: computed once along axes on which they do not depend.
#include "components/expression_fill.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "grid/hierarchy.hpp"

namespace tessera::test {
namespace {

std::shared_ptr<const Hierarchy> domain() {
  Geometry geometry;
  geometry.cells = {150, 5, 4};
  geometry.upper = {1.5, 0.7, 0.9};
  return Hierarchy::uniform(geometry, {Division::By::Patches, {1, 1, 1}});
}

TEST(ExpressionFill, IsTheExpressionAtEachIndexWhateverAxesItDependsOn) {
  const auto hierarchy = domain();
  const Level& level = hierarchy->level(0);
  const Box box{{3, 1, 1}, {149, 4, 4}};  // rows of more than two pieces
  for (const std::string text : {"1.5", "t", "x", "y*t", "z", "x + 2*y", "y - z", "sin(z)*x", "x*y + z*t"}) {
    const Expression f = Expression::parse(text);
    for (const Centering centering : {Centering::Cell, Centering::FaceY, Centering::Node}) {
      std::vector<int> visits(static_cast<std::size_t>(level.domain().volume()), 0);
      forEachValue(f, level, box, centering, 0.25, [&](Index x, double value) {
        const Real3 at = level.position(x, centering);
        ASSERT_EQ(value, f(at.x, at.y, at.z, 0.25)) << text << ' ' << asText(x);
        ASSERT_TRUE(box.contains(x)) << asText(x);
        ++visits[static_cast<std::size_t>(x.i + 150 * (x.j + 5 * x.k))];
      });
      std::int64_t once = 0;
      for (const int n : visits) once += n == 1 ? 1 : 0;
      EXPECT_EQ(once, box.volume()) << text;
    }
  }
}

TEST(ExpressionFill, OfNoCellsIsNothing) {
  const auto hierarchy = domain();
  forEachValue(Expression::parse("x"), hierarchy->level(0), Box{{3, 1, 1}, {9, 1, 4}}, Centering::Cell, 0.0,
               [](Index, double) { FAIL(); });
}

}  // namespace
}  // namespace tessera::test
