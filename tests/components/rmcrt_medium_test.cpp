#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/burns_christon.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

Simulate smallCube(std::int64_t cells = 8) {
  return simulate("rmcrt/burns_christon").cells({cells, cells, cells}).set("rmcrt.rays=5");
}

double absorptionAt(Index x, double h) {
  const auto at = [h](std::int64_t cell) { return (static_cast<double>(cell) + 0.5) * h; };
  return burnsChristonAbsorption({at(x.i), at(x.j), at(x.k)});
}

// divQ = absorption (4 emissive power - incident), to the round-off of its terms.
TEST(RmcrtIncident, BelongsToTheDivergenceOfTheFlux) {
  const Outcome o = smallCube().set("rmcrt.incident=true").run();

  const WholeField& divQ = o.fields.at("rmcrt.divQ");
  const WholeField& incident = o.fields.at("rmcrt.incident");
  double largest = 0.0;
  double least = 4.0;
  forEachIndex(divQ.box, [&](Index x) {
    largest = std::max(largest, std::abs(divQ(x) - absorptionAt(x, 0.125) * (4.0 - incident(x))));
    least = std::min(least, incident(x));
  });
  EXPECT_LT(largest, 4e-15);
  EXPECT_GT(least, 0.0);
  EXPECT_EQ(divQ.values, smallCube().run().fields.at("rmcrt.divQ").values);
}

TEST(RmcrtIncident, IsKnownWhereNothingIsAbsorbedAndOnLevels) {
  const Outcome clear = smallCube()
                            .set("rmcrt.absorption=0")
                            .set("rmcrt.stefan_boltzmann=1")
                            .set("rmcrt.wall.temperature=1")
                            .set("rmcrt.incident=true")
                            .run();
  EXPECT_NEAR(clear.fields.at("rmcrt.incident")({3, 4, 5}), 4.0, 1e-14);

  const Outcome levels =
      simulate("rmcrt/burns_christon_two_level").set("rmcrt.rays=2").set("rmcrt.incident=true").run();
  double mean = 0.0;
  for (std::int64_t k = 0; k < 4; ++k) {
    for (std::int64_t j = 0; j < 4; ++j) {
      for (std::int64_t i = 0; i < 4; ++i)
        mean += levels.fields.at("rmcrt.incident on level 1")({i, j, k}) / 64.0;
    }
  }
  EXPECT_NEAR(levels.fields.at("rmcrt.incident")({0, 0, 0}), mean, 1e-14);
}

TEST(RmcrtFloat, IsTheSameToTheBitsThatFloatHas) {
  const Outcome exact = smallCube().run();
  const Outcome rounded = smallCube().set("rmcrt.precision=\"float\"").run();

  double largest = 0.0;
  forEachIndex(exact.fields.at("rmcrt.divQ").box, [&](Index x) {
    largest =
        std::max(largest, std::abs(exact.fields.at("rmcrt.divQ")(x) - rounded.fields.at("rmcrt.divQ")(x)));
  });
  EXPECT_GT(largest, 0.0);
  EXPECT_LT(largest, 1e-6);
}

}  // namespace
}  // namespace tessera::test
