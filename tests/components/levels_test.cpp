#include <string>

#include <gtest/gtest.h>

#include "components/levels/stamp.hpp"
#include "grid/refined_levels.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// Three levels, the middle one of two boxes that touch walls and each other; cut into patches as asked.
std::string threeLevels(const std::string& sizes0, const std::string& sizes1, const std::string& sizes2,
                        const std::string& periodic = "[true, false, false]") {
  return "simulation.components = ['levels']\n"
         "time = { dt = 1, max_steps = 3 }\n"
         "[grid]\n"
         "cells = [10, 8, 4]\n"
         "patch_size = " +
         sizes0 + "\nperiodic = " + periodic +
         "\n[[grid.level]]\n"
         "lower = [0, 0.25, 0]\n"
         "upper = [0.6, 0.75, 1]\n"
         "patch_size = " +
         sizes1 +
         "\n[[grid.level]]\n"
         "level = 1\n"
         "lower = [0.6, 0.5, 0.5]\n"
         "upper = [0.9, 1, 1]\n"
         "[[grid.level]]\n"
         "ratio = 4\n"
         "lower = [0.2, 0.4, 0.3]\n"
         "upper = [0.45, 0.6, 0.8]\n"
         "patch_size = " +
         sizes2 + "\n";
}

void expectNothingWrong(const Outcome& o) {
  EXPECT_EQ(o.steps, 3);
  EXPECT_EQ(o.start.at("levels.wrong"), 0.0);
  EXPECT_EQ(o.end.at("levels.wrong"), 0.0);
}

TEST(Levels, EveryValueIsRightOnAnyNumberOfRanksAndThreads) {
  const std::string deck = threeLevels("[4, 8, 2]", "[5, 4, 8]", "[16, 9, 5]");
  const Outcome expected = simulateText(deck).run();
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (const int threads : {0, 2}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(threads) + " threads");
      const Outcome o = simulateText(deck).ranks(ranks).threads(threads).run();
      expectNothingWrong(o);
      EXPECT_EQ(firstDifference(expected, o), "");
    }
  }
}

TEST(Levels, EveryValueIsRightOnEveryLayout) {
  const Outcome expected = simulateText(threeLevels("[10, 8, 4]", "[99, 99, 99]", "[99, 99, 99]")).run();
  expectNothingWrong(expected);
  for (const char* sizes0 : {"[3, 3, 4]", "[10, 1, 4]"}) {
    for (const char* sizes1 : {"[1, 8, 8]", "[7, 3, 2]"}) {
      for (const char* sizes2 : {"[4, 99, 99]", "[3, 16, 7]"}) {
        SCOPED_TRACE(std::string(sizes0) + sizes1 + sizes2);
        const Outcome o = simulateText(threeLevels(sizes0, sizes1, sizes2)).ranks(3).run();
        expectNothingWrong(o);
        EXPECT_EQ(firstDifference(expected, o), "");
      }
    }
  }
}

TEST(Levels, EveryValueIsRightWithWallsAndWithImages) {
  for (const char* periodic : {"[false, false, false]", "[true, true, true]"}) {
    SCOPED_TRACE(periodic);
    expectNothingWrong(
        simulateText(threeLevels("[4, 8, 2]", "[5, 4, 8]", "[16, 9, 5]", periodic)).ranks(4).run());
  }
}

TEST(Levels, DeclaresAllThatItsTasksTouch) {
  expectNothingWrong(
      simulateText(threeLevels("[4, 8, 2]", "[5, 4, 8]", "[16, 9, 5]")).ranks(2).checked().run());
}

TEST(Levels, RunsOnOneLevelToo) {
  const Outcome o =
      simulateText(
          "simulation.components = ['levels']\ntime = { dt = 1, max_steps = 3 }\ngrid.cells = [8, 8, 1]\n")
          .run();

  expectNothingWrong(o);
  EXPECT_EQ(o.fields.at("levels.stamp")({3, 2, 0}), stampOf(0, {3, 2, 0}, 3));
}

TEST(Levels, ACoveredCellHoldsTheAverageOfTheFinestCells) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["levels"]
time = { dt = 1, max_steps = 1 }
grid = { cells = [4, 4, 1], level = [{ lower = [0.25, 0.25, 0], upper = [0.5, 0.5, 1] }] }
)deck")
                        .run();

  // The cells (2..3, 2..3) of level 1: 1e8 for the level, 7 for the step, and 1000 j + i on the mean.
  EXPECT_EQ(o.fields.at("levels.stamp on level 1")({2, 3, 0}), 101'003'009.0);
  EXPECT_EQ(o.fields.at("levels.stamp")({1, 1, 0}), 101'002'509.5);
  EXPECT_EQ(o.fields.at("levels.stamp")({2, 1, 0}), 1'001'009.0);
  EXPECT_EQ(o.fields.at("levels.fill on level 1")({2, 3, 0}), 101'002'509.5);
}

TEST(Levels, WhatIsExpectedBesideAPatchComesFromTheLevelBelow) {
  Geometry geometry;
  geometry.cells = {4, 4, 1};
  const auto mesh = refinedHierarchy(geometry, {Division::By::Patches, {1, 1, 1}},
                                     {{2, {Box{{1, 1, 0}, {2, 2, 1}}}, {16, 16, 16}}});
  const StampExpectation expected(*mesh, 1, 0);

  EXPECT_EQ(expected({2, 2, 0}), stampOf(1, {2, 2, 0}, 0));
  EXPECT_EQ(expected({4, 2, 0}), stampOf(0, {2, 1, 0}, 0));
  EXPECT_EQ(expected({-1, 2, 0}), stampOf(0, {0, 1, 0}, 0));
}

}  // namespace
}  // namespace tessera::test
