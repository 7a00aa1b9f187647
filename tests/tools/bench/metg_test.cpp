#include "tools/bench/taskbench/metg.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tools/bench/taskbench/sweep.hpp"

namespace tessera::bench {
namespace {

/// A task of `work` seconds costs `overhead` more; one thread, a unit of work a second.
SweepPoint point(double work, double overhead) { return {work + overhead, work / (work + overhead)}; }

TEST(Metg, IsTwiceTheOverheadWhereTasksCostAConstant) {
  std::vector<SweepPoint> sweep;
  for (double work = 1000.0; work > 1.0; work /= 1.1) sweep.push_back(point(work, 20.0));

  const Metg metg = metgOf(sweep, 1.0);

  EXPECT_EQ(metg.bound, Metg::Bound::Exact);
  EXPECT_NEAR(metg.granularity, 40.0, 0.1);
}

TEST(Metg, LiesBetweenTheTwoPointsByTheLogarithm) {
  const std::vector<SweepPoint> sweep{{400.0, 1.0}, {100.0, 0.75}, {25.0, 0.25}};

  EXPECT_NEAR(metgOf(sweep, 1.0).granularity, 50.0, 1e-9);  // half the way from 100 to 25
}

TEST(Metg, IsABoundWhereTheSweepDoesNotReachIt) {
  const std::vector<SweepPoint> good{{400.0, 1.0}, {100.0, 0.75}};
  EXPECT_EQ(metgOf(good, 1.0).bound, Metg::Bound::AtMost);
  EXPECT_EQ(metgOf(good, 1.0).granularity, 100.0);

  EXPECT_EQ(metgOf(good, 4.0).bound, Metg::Bound::MoreThan);
  EXPECT_EQ(metgOf(good, 4.0).granularity, 400.0);
}

TEST(Metg, ACoarsePointThatWasDisturbedDoesNotCount) {
  const std::vector<SweepPoint> sweep{{900.0, 0.1}, {400.0, 1.0}, {100.0, 0.75}, {25.0, 0.25}};

  EXPECT_NEAR(metgOf(sweep, 1.0).granularity, 50.0, 1e-9);
}

TEST(Metg, AFinePointThatWasDisturbedDoesNotMakeItWorse) {
  const std::vector<SweepPoint> sweep{{400.0, 1.0}, {100.0, 0.75}, {900.0, 0.01}};

  EXPECT_EQ(metgOf(sweep, 1.0).granularity, 100.0);
}

TEST(Metg, OfSeveralSweepsTheMiddleOneCounts) {
  const MetgSpread spread = spreadOf({{5.0}, {1.0}, {100.0}});

  EXPECT_EQ(spread.least.granularity, 1.0);
  EXPECT_EQ(spread.median.granularity, 5.0);
  EXPECT_EQ(spread.greatest.granularity, 100.0);
}

TEST(Metg, ASweepHalvesTheTasksDownToNothing) {
  EXPECT_EQ(halvedDownFrom(8), (std::vector<std::int64_t>{8, 4, 2, 1, 0}));
}

}  // namespace
}  // namespace tessera::bench
