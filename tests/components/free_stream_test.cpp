// Uniform flow through five levels with every kind of corner: nothing may change.
#include <string>

#include <gtest/gtest.h>

#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

void expectNothingChanges(const Simulate& deck, const std::string& what) {
  const Outcome before = Simulate(deck).run(0);
  const Outcome after = Simulate(deck).ranks(2).run();
  ASSERT_TRUE(after.fields.contains("gas.density on level 4"));
  for (const auto& [name, field] : before.fields) {
    for (std::size_t n = 0; n < field.values.size(); ++n)
      ASSERT_NEAR(field.values[n], after.fields.at(name).values[n], 1e-13) << name << ", " << what;
  }
}

TEST(FreeStream, StaysThroughFiveLevelsOfADeck) {
  for (const char* way : {"amr.subcycle=true", "amr.subcycle=false"})
    expectNothingChanges(simulate("euler/free_stream").set(way), way);
}

/// Each level is a box and a smaller one around its corner: faces, edges and corners that stand out and go
/// in, at walls, across periods, with patches that end anywhere.
std::string fiveLevelsInSpace() {
  return "simulation.components = ['euler']\n[grid]\ncells = [8, 8, 8]\npatch_size = [5, 8, 3]\n"
         "periodic = [true, false, true]\n"
         "[[grid.level]]\nlower = [0, 0, 0]\nupper = [0.625, 1, 0.75]\npatch_size = [9, 7, 12]\n"
         "[[grid.level]]\nlevel = 1\nlower = [0.75, 0.25, 0.125]\nupper = [1, 0.625, 0.5]\n"
         "[[grid.level]]\nlevel = 2\nlower = [0.125, 0.25, 0.1875]\nupper = [0.375, 0.625, 0.5]\n"
         "patch_size = [12, 7, 12]\n"
         "[[grid.level]]\nlevel = 2\nlower = [0.375, 0.25, 0.1875]\nupper = [0.5, 0.4375, 0.375]\n"
         "[[grid.level]]\nlevel = 3\nlower = [0.1875, 0.3125, 0.25]\nupper = [0.28125, 0.53125, 0.4375]\n"
         "[[grid.level]]\nlevel = 3\nlower = [0.28125, 0.3125, 0.25]\nupper = [0.375, 0.375, 0.3125]\n"
         "[[grid.level]]\nlevel = 4\nlower = [0.21875, 0.34375, 0.28125]\nupper = [0.25, 0.421875, "
         "0.34375]\n"
         "[time]\ncfl = 0.4\nmax_steps = 1\n[euler]\ninitial.density = 1.3\n"
         "initial.velocity = { x = 0.7, y = 0, z = -0.2 }\ninitial.pressure = 0.9\n"
         "boundary.y_low.type = 'reflect'\nboundary.y_high.type = 'reflect'\n";
}

TEST(FreeStream, StaysThroughFiveLevelsInSpace) {
  for (const char* way : {"amr.subcycle=true", "amr.subcycle=false"})
    expectNothingChanges(simulateText(fiveLevelsInSpace()).set(way), way);
}

}  // namespace
}  // namespace tessera::test
