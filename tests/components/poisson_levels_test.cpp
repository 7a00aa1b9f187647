#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "tests/components/order_of.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

std::string levelOf(const char* lower, const char* upper, int ratio, const char* patch) {
  return std::string("[[grid.level]]\nratio = ") + std::to_string(ratio) + "\nlower = " + lower +
         "\nupper = " + upper + "\npatch_size = " + patch + "\n";
}

/// u = 1 + 2 x - 3 y + z without sources; its value on all sides but two, through which 2 and -1 flow.
Simulate linear(const std::string& levels) {
  const std::string value = "{ type = \"dirichlet\", value = \"1 + 2*x - 3*y + z\" }\n";
  return simulateText(
      "simulation.components = [\"poisson\"]\ntime = { dt = 1, max_steps = 1 }\n"
      "solver.tolerance = 1e-13\n[grid]\ncells = [8, 8, 8]\npatches = [2, 1, 2]\n" +
      levels + "[poisson]\nsource = 0\nexact = \"1 + 2*x - 3*y + z\"\nboundary.y_low = " + value +
      "boundary.y_high = " + value + "boundary.z_high = " + value + "boundary.x_low = " + value +
      "boundary.x_high = { type = \"neumann\", value = 2 }\n"
      "boundary.z_low = { type = \"neumann\", value = -1 }\n");
}

/// Both libraries solve the same system.
class LevelsByLibrary : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (isHypre() && !hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  }
  static bool isHypre() { return std::string(GetParam()) == "hypre"; }
  /// Simulated ranks have no MPI: hypre is on one here, and on several in tests/regression/solvers_test.cpp.
  static Outcome solve(Simulate simulate, int ranks = 1) {
    return simulate.set(std::string("solver.library='") + GetParam() + "'")
        .ranks(isHypre() ? 1 : ranks)
        .run();
  }
};
INSTANTIATE_TEST_SUITE_P(Libraries, LevelsByLibrary, ::testing::Values("own", "hypre"),
                         [](const auto& info) { return info.param; });

TEST_P(LevelsByLibrary, ALinearSolutionIsExactThroughTheInterface) {
  const std::string inside = levelOf("[0.25, 0.25, 0.25]", "[0.75, 0.625, 0.75]", 2, "[8, 6, 8]");
  const std::string corner = levelOf("[0.5, 0, 0]", "[1, 0.5, 0.5]", 2, "[8, 8, 8]");
  const std::string finest = levelOf("[0.375, 0.375, 0.375]", "[0.625, 0.5, 0.5]", 2, "[8, 8, 4]");
  for (const std::string& levels :
       {inside, corner, inside + finest, levelOf("[0.25, 0.25, 0.25]", "[0.75, 0.5, 0.5]", 4, "[8, 8, 8]")}) {
    const Outcome o = solve(linear(levels), 2);
    EXPECT_LT(o.end.at("poisson.error_max"), 1e-11) << levels;
  }
}

/// Of the finest cells at each place, with u = exp(x) sin(3 y) + a bump.
Simulate smooth(std::int64_t n, const std::string& levels) {
  const std::string exact = "exp(x)*sin(3*y) + exp(-20*((x-0.5)^2 + (y-0.4)^2))";
  const std::string value = "{ type = \"dirichlet\", value = \"" + exact + "\" }\n";
  return simulateText(
      "simulation.components = [\"poisson\"]\ntime = { dt = 1, max_steps = 1 }\n[grid]\ncells = [" +
      std::to_string(n) + ", " + std::to_string(n) + ", 1]\npatches = [2, 2, 1]\n" + levels +
      "[poisson]\nsource = \"8*exp(x)*sin(3*y) + (80 - 1600*((x-0.5)^2 + (y-0.4)^2)) * "
      "exp(-20*((x-0.5)^2 + (y-0.4)^2))\"\nexact = \"" +
      exact + "\"\nboundary.x_low = " + value + "boundary.x_high = " + value + "boundary.y_low = " + value +
      "boundary.y_high = " + value);
}

const std::string kTwo = levelOf("[0.25, 0.25, 0]", "[0.75, 0.625, 1]", 2, "[8, 8, 1]");
const std::string kThree = kTwo + levelOf("[0.375, 0.3125, 0]", "[0.625, 0.5, 1]", 2, "[16, 16, 1]");

TEST_P(LevelsByLibrary, IsSecondOrderInTheLargestErrorOnTwoAndThreeLevels) {
  for (const std::string& levels : {kTwo, kThree}) {
    const auto error = [&](std::int64_t n) { return solve(smooth(n, levels)).end.at("poisson.error_max"); };
    EXPECT_GE(orderOf(error, {16, 32, 64}), 1.9) << levels;
    EXPECT_LT(error(32), smooth(32, "").run().end.at("poisson.error_max"));
  }
}

/// What flows into a side of a level through its cells, for u = 0 on the side: cells of `field` in `cells`.
double inflow(const WholeField& field, Box cells, double h) {
  double sum = 0.0;
  forEachIndex(cells, [&](Index x) { sum += 2.0 * (0.0 - field(x)) / h * h; });
  return sum;
}

/// Through each face between levels the same flows on both sides, or the sums would differ by parts of 1e-2.
TEST_P(LevelsByLibrary, WhatLeavesThroughTheSidesIsWhatTheSourcesGive) {
  const Outcome o =
      solve(simulateText("simulation.components = [\"poisson\"]\ntime = { dt = 1, max_steps = 1 }\n"
                         "solver.tolerance = 1e-13\n[grid]\ncells = [16, 16, 1]\n" +
                         kThree + "[poisson]\nsource = \"if(x > 0.3, if(y < 0.4, 100*x*y, 1), 1)\"\n"));
  const WholeField& u = o.fields.at("potential");
  double in = 0.0;
  for (const auto& [lo, hi] : {std::pair<Index, Index>{{0, 0, 0}, {1, 16, 1}},
                               {{15, 0, 0}, {16, 16, 1}},
                               {{0, 0, 0}, {16, 1, 1}},
                               {{0, 15, 0}, {16, 16, 1}}})
    in += inflow(u, {lo, hi}, 1.0 / 16.0);
  double sources = 0.0;
  const auto add = [&](std::int64_t n, const Box& cells, const Box& under) {
    forEachIndex(cells, [&](Index x) {
      const double px = (static_cast<double>(x.i) + 0.5) / static_cast<double>(n);
      const double py = (static_cast<double>(x.j) + 0.5) / static_cast<double>(n);
      if (!under.contains(x))
        sources += (px > 0.3 && py < 0.4 ? 100.0 * px * py : 1.0) / static_cast<double>(n * n);
    });
  };
  add(16, {{0, 0, 0}, {16, 16, 1}}, {{4, 4, 0}, {12, 10, 1}});
  add(32, {{8, 8, 0}, {24, 20, 1}}, {{12, 10, 0}, {20, 16, 1}});
  add(64, {{24, 20, 0}, {40, 32, 1}}, {});

  EXPECT_NEAR(sources + in, 0.0, 1e-11);
}

/// Walls of several kinds, a coefficient of space and a source of time and space, on three levels of which
/// two touch walls or reach across a period.
constexpr const char* kMixed = R"deck(
simulation.components = ["poisson"]
time = { dt = 0.5, max_steps = 2 }
[grid]
cells = [20, 16, 8]
patches = [1, 1, 1]
periodic = [false, true, false]
[[grid.level]]
ratio = 2
lower = [0, 0.25, 0.25]
upper = [0.6, 0.75, 0.75]
patch_size = [8, 8, 8]
[[grid.level]]
level = 1
ratio = 2
lower = [0.6, 0, 0.25]
upper = [0.8, 1, 0.75]
patch_size = [8, 8, 8]
[[grid.level]]
level = 2
ratio = 2
lower = [0.1, 0.375, 0.375]
upper = [0.3, 0.625, 0.5]
patch_size = [8, 8, 8]
[poisson]
coefficient = "1 + x^2 + 0.5*sin(2*pi*y)*z"
source = "exp(-10*((x-0.3)^2 + (y-0.5)^2)) * (1 + t)"
boundary.x_low = { type = "dirichlet", value = "y*z + t" }
boundary.x_high = { type = "neumann", value = "cos(2*pi*y)" }
boundary.z_low.type = "neumann"
boundary.z_high = { type = "dirichlet", value = "x" }
)deck";

TEST(PoissonLevels, HasTheSameBitsForAnyRanksThreadsAndPatches) {
  const Outcome right = simulateText(kMixed).run();
  ASSERT_GT(right.end.at("poisson.solve.iterations"), 2.0);

  for (const int ranks : {1, 2, 5}) {
    const Outcome o = simulateText(kMixed).patches({3, 2, 2}).ranks(ranks).threads(ranks % 3).run();
    EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks";
  }
  const Outcome fresh = simulateText(kMixed).ranks(3).set("solver.setup_every=1").run();
  EXPECT_EQ(firstDifference(right, fresh), "");
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    EXPECT_EQ(firstDifference(right, simulateText(kMixed).patches({3, 2, 2}).ranks(3).seed(seed).run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, simulateText(kMixed).patches({3, 2, 2}).devices(devices).run()), "");
}

/// The other meshes have patches that end in the middle of coarse cells.
TEST(PoissonLevels, HasTheSameBitsWhereverPatchesEnd) {
  const Outcome right = simulateText(kMixed).run();

  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Outcome o = simulateText(kMixed).patches({3, 2, 2}).ranks(3).adoptions(seed).run();
    EXPECT_EQ(firstDifference(right, o), "") << "seed " << seed;
  }
}

TEST_P(LevelsByLibrary, FixesTheMeanWhereNoSideGivesAValue) {
  const Outcome o =
      solve(simulateText("simulation.components = [\"poisson\"]\ntime = { dt = 1, max_steps = 1 }\n"
                         "solver.tolerance = 1e-12\n[grid]\ncells = [16, 16, 1]\n"
                         "periodic = [true, false, false]\n" +
                         kThree +
                         "[poisson]\nsource = \"sin(2*pi*x) + cos(pi*y)\"\nmean = 3\n"
                         "boundary.y_low.type = \"neumann\"\nboundary.y_high.type = \"neumann\"\n"),
            2);

  EXPECT_NEAR(o.end.at("poisson.total"), 3.0, 1e-12);
}

TEST(PoissonLevels, TakesAboutTheSameIterationsOnAnyMesh) {
  double least = 1e9;
  double most = 0.0;
  for (const std::int64_t n : {16, 32, 64, 128}) {
    const double iterations = smooth(n, kThree).run().end.at("poisson.solve.iterations");
    least = std::min(least, iterations);
    most = std::max(most, iterations);
  }

  EXPECT_LE(most - least, 3.0) << least << " to " << most;
  EXPECT_LE(most, 12.0);
}

TEST(PoissonLevels, IsSecondOrderBetweenTwoMaterialsOnAFinerLevel) {
  const auto error = [](std::int64_t n) {
    return simulate("poisson/two_materials")
        .cells({n, 8, 1})
        .set("grid.level=[{ratio=2, lower=[0.375,0.25,0], upper=[0.75,0.75,1], patch_size=[8,8,1]}]")
        .run(1)
        .end.at("poisson.error_max");
  };

  EXPECT_GE(orderOf(error, {16, 32, 64}), 1.9);
}

TEST(PoissonLevels, OneLevelIsSolvedByBicgstabAsWell) {
  const auto run = [](const char* method) {
    return simulateText(kMixed)
        .set("grid.level=[]")
        .set("solver.tolerance=1e-12")
        .set(std::string("solver.method='") + method + "'")
        .run();
  };
  const WholeField cg = run("cg").fields.at("potential");
  const WholeField other = run("bicgstab").fields.at("potential");

  double largest = 0.0;
  forEachIndex(cg.box, [&](Index x) { largest = std::max(largest, std::abs(cg(x) - other(x))); });
  EXPECT_LT(largest, 1e-9);
}

TEST(HypreLevels, EachMethodFindsWhatOurOwnFinds) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  const auto run = [](const std::string& more) {
    return simulateText(std::string(kMixed) + "[solver]\ntolerance = 1e-12\n" + more).run();
  };
  const Outcome right = run("");
  for (const std::string method : {"cg", "bicgstab", "gmres"}) {
    const Outcome o = run("library = \"hypre\"\nmethod = \"" + method + "\"\n");
    EXPECT_LT(largestDifference(right, o), 1e-10) << method;
    EXPECT_LE(o.end.at("poisson.solve.residual"), 1e-12);
    EXPECT_LE(o.end.at("poisson.solve.iterations"), method == "bicgstab" ? 15.0 : 30.0) << method;
    EXPECT_EQ(o.solves.setups, 1);
  }
  for (const std::string preconditioner : {"jacobi", "none"}) {
    const Outcome o =
        run("library = \"hypre\"\nmethod = \"bicgstab\"\nmax_iterations = 2000\npreconditioner = \"" +
            preconditioner + "\"\n");
    EXPECT_LT(largestDifference(right, o), 1e-10) << preconditioner;
  }
}

TEST(HypreLevels, ASetUpThatIsKeptGivesTheBitsOfAFreshOne) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  for (const char* method : {"bicgstab", "gmres"}) {
    const auto run = [&](const char* every) {
      return simulateText(kMixed)
          .set("solver.library='hypre'")
          .set(std::string("solver.method='") + method + "'")
          .set(std::string("solver.setup_every=") + every)
          .set("time.max_steps=3")
          .run();
    };
    const Outcome kept = run("0");
    const Outcome fresh = run("1");
    EXPECT_EQ(kept.solves.setups, 1);
    EXPECT_EQ(fresh.solves.setups, 3);
    EXPECT_EQ(run("2").solves.setups, 2);
    EXPECT_EQ(firstDifference(kept, fresh), "");
  }
}

TEST(HypreLevels, SmgIsRefusedWithItsPlaceInTheDeck) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  try {
    simulateText(kMixed).set("solver.library='hypre'").set("solver.preconditioner='smg'").run();
    FAIL() << "SMG knows several levels";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_THAT(error.message(), ::testing::HasSubstr("\"smg\" solves on one level"));
  }
}

/// Of the cell that the sentence names: of what is left of the residual, not of the right-hand side.
TEST_P(LevelsByLibrary, TheWorstCellHasLessLeftAfterMoreIterations) {
  const auto worst = [](const char* iterations) {
    try {
      solve(simulateText(kMixed).set(std::string("solver.max_iterations=") + iterations));
    } catch (const Error& error) {
      const std::string text = error.message();
      const std::string before = ", residual ";
      return std::stod(text.substr(text.find(before, text.find("worst cell")) + before.size()));
    }
    return 0.0;
  };
  const double first = worst("1");
  const double third = worst("3");
  EXPECT_GT(third, 0.0);
  EXPECT_LT(third, 0.5 * first);
}

TEST_P(LevelsByLibrary, OneIterationIsTooFew) {
  for (const int ranks : {1, 4}) {
    try {
      solve(simulateText(kMixed).set("solver.max_iterations=1"), ranks);
      FAIL() << "an iteration was enough";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Numerical);
      EXPECT_THAT(error.message(), ::testing::AllOf(::testing::HasSubstr("poisson.solve, levels 0 to 2"),
                                                    ::testing::HasSubstr("iterations  1 of at most 1"),
                                                    ::testing::HasSubstr("of level ")));
    }
  }
}

}  // namespace
}  // namespace tessera::test
