#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/regression/run_program.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

/// A coefficient of space, walls of several kinds, a wave of the source.
constexpr const char* kPoissonDeck = R"deck(
simulation.components = ["poisson"]
time = { dt = 1, max_steps = 2 }
grid = { cells = [24, 16, 12], patches = [3, 2, 2], periodic = [false, true, false] }
[poisson]
coefficient = "1 + x^2 + 0.5*sin(2*pi*y)*z"
source = "sin(3*x)*cos(2*pi*y) + t*z"
boundary.x_low = { type = "dirichlet", value = "z" }
boundary.x_high = { type = "neumann", value = "1" }
boundary.z_low.type = "neumann"
)deck";

class Solvers : public testing::Test {
 protected:
  void SetUp() override { place_.file("deck.toml", kPoissonDeck); }

  ProgramResult run(const std::string& name, const std::string& ranks,
                    std::vector<std::string> settings) const {
    std::vector<std::string> arguments{"run", "deck.toml", "-q", "-n", ranks, "--out", name};
    for (const std::string& setting : settings) {
      arguments.push_back("--set");
      arguments.push_back(setting);
    }
    return place_.tessera(arguments);
  }
  double number(const std::string& name, const char* table, const std::string& key) const {
    return nlohmann::json::parse(place_.read(name + "/result.json"))[table][key].get<double>();
  }
  /// Whether this build has hypre.
  bool hasHypre() const {
    return place_.tessera({"check", "deck.toml", "--set", "solver.library=\"hypre\""}).exitCode == 0;
  }

  Workplace place_;
};

TEST_F(Solvers, ARunTellsWhatItsSolvesHaveCost) {
  ASSERT_EQ(run("own", "2", {}).exitCode, 0);

  EXPECT_EQ(number("own", "statistics", "solves"), 2.0);
  EXPECT_EQ(number("own", "statistics", "solve_setups"), 1.0);
  EXPECT_GT(number("own", "statistics", "solve_iterations"), 4.0);
  EXPECT_THAT(place_.read("own/history.csv"), HasSubstr("poisson.solve.iterations,poisson.solve.residual"));
}

TEST_F(Solvers, ASolveThatIsGivenUpEndsWithFourAndASentenceOnAnyRanks) {
  for (const std::string ranks : {"1", "4"}) {
    const ProgramResult given = run("up" + ranks, ranks, {"solver.max_iterations=1"});

    EXPECT_EQ(given.exitCode, 4);
    EXPECT_EQ(countOf(given.err, "a linear solve does not come to its tolerance"), 1) << given.err;
    EXPECT_THAT(given.err, HasSubstr("poisson.solve, level 0"));
  }
}

TEST_F(Solvers, TheGraphOfAProgramShowsItsSolvesOnAnyNumberOfRanks) {
  const ProgramResult few = place_.tessera({"graph", "deck.toml", "--ranks", "3", "--rank", "1"});
  EXPECT_EQ(few.exitCode, 0) << few.err;
  EXPECT_THAT(few.out, HasSubstr("program step, item by item\n  run poisson\n"
                                 "  solve poisson.solve for potential\n    level 0: 1536 cells in 2 boxes, "
                                 "beside those of 2 other ranks\n"));
  const ProgramResult many = place_.tessera({"graph", "deck.toml", "--ranks", "16384", "--rank", "5000",
                                             "--plan", "poisson", "--format", "json", "--set",
                                             "grid.cells=[128,128,64]", "--set", "grid.patches=[32,32,16]"});
  ASSERT_EQ(many.exitCode, 0) << many.err;
  const auto items = nlohmann::json::parse(many.out)["program"]["items"];
  EXPECT_EQ(items[1]["item"], "solve poisson.solve for potential");
  EXPECT_EQ(items[1]["solves"][0]["cells"], 64);
  EXPECT_EQ(items[1]["solves"][0]["neighbours"], 26);
}

TEST_F(Solvers, MethodsOfHypreAreRefusedForOurOwn) {
  const ProgramResult gmres = run("gmres", "1", {"solver.method=\"gmres\""});

  EXPECT_EQ(gmres.exitCode, 2);
  EXPECT_THAT(gmres.err, HasSubstr("needs solver.library = \"hypre\""));
}

/// Each step begins with the solution of the last one.
TEST_F(Solvers, ARestartGivesTheSameBitsFromAnyStepOn) {
  const auto steps = [this](const std::string& name, const std::string& ranks, int most) {
    return run(
        name, ranks,
        {"time.max_steps=" + std::to_string(most),
         "grid.level=[{ratio=2, lower=[0.25,0.25,0.25], upper=[0.75,0.75,0.75], patch_size=[8,8,6]}]"});
  };
  ASSERT_EQ(steps("whole", "2", 4).exitCode, 0);
  for (int k = 1; k <= 3; ++k) {
    const std::string name = "parts" + std::to_string(k);
    ASSERT_EQ(steps(name, "2", k).exitCode, 0);
    const ProgramResult again =
        place_.tessera({"restart", name, "-q", "-n", k == 2 ? "1" : "3", "--set", "time.max_steps=4"});
    ASSERT_EQ(again.exitCode, 0) << again.err;
    const ProgramResult compared = place_.tessera({"compare", "--exact", "whole", name});
    EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
  }
}

TEST_F(Solvers, HypreFindsWhatOurOwnFinds) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  ASSERT_EQ(run("own", "1", {}).exitCode, 0);

  int n = 0;
  for (const std::string method : {"cg", "gmres", "bicgstab"}) {
    for (const std::string preconditioner : {"multigrid", "smg", "jacobi"}) {
      const std::string name = "hypre" + std::to_string(n++);
      const ProgramResult other =
          // SMG has many short messages: more ranks than cores, each looking for some all the time, take
          // minutes.
          run(name, n % 2 == 0 ? "1" : "2",
              {"solver.library=\"hypre\"", "solver.method=\"" + method + "\"",
               "solver.preconditioner=\"" + preconditioner + "\"", "solver.max_iterations=500"});
      ASSERT_EQ(other.exitCode, 0) << method << ' ' << preconditioner << ": " << other.err;
      for (const std::string column : {"poisson.total", "poisson.min", "poisson.max"}) {
        EXPECT_NEAR(number(name, "diagnostics", column), number("own", "diagnostics", column), 1e-8)
            << method << ' ' << preconditioner << ": " << column;
      }
      EXPECT_EQ(number(name, "statistics", "solve_setups"), 1.0);
    }
  }
}

TEST_F(Solvers, HypreGivesTheSameBitsWithASetUpThatIsKept) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  ASSERT_EQ(run("kept", "2", {"solver.library=\"hypre\""}).exitCode, 0);
  ASSERT_EQ(run("fresh", "2", {"solver.library=\"hypre\"", "solver.setup_every=1"}).exitCode, 0);

  EXPECT_EQ(number("fresh", "statistics", "solve_setups"), 2.0);
  const ProgramResult compared = place_.tessera({"compare", "--exact", "kept", "fresh"});
  EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
}

TEST_F(Solvers, HypreIsGivenUpAsOurOwnIs) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  for (const std::string ranks : {"1", "4"}) {
    const ProgramResult given =
        run("up" + ranks, ranks, {"solver.library=\"hypre\"", "solver.max_iterations=1"});
    EXPECT_EQ(given.exitCode, 4);
    EXPECT_EQ(countOf(given.err, "a linear solve does not come to its tolerance"), 1) << given.err;
  }
}

/// With a level inside and one in that.
const std::vector<std::string> kOnLevels = {
    "solver.library=\"hypre\"",
    "grid.level=[{ratio=2, lower=[0.25,0.25,0.25], upper=[0.75,0.75,0.75], patch_size=[8,8,6]}, "
    "{ratio=2, level=2, lower=[0.375,0.375,0.375], upper=[0.625,0.625,0.625], patch_size=[8,8,6]}]"};

TEST_F(Solvers, HypreFindsWhatOurOwnFindsOnLevelsAndRanks) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  ASSERT_EQ(run("own", "2", {kOnLevels[1], "solver.tolerance=1e-12"}).exitCode, 0);
  for (const std::string method : {"cg", "gmres"}) {
    for (const std::string ranks : {"1", "2"}) {
      std::vector<std::string> settings = kOnLevels;
      settings.push_back("solver.method=\"" + method + "\"");
      settings.push_back("solver.tolerance=1e-12");
      const std::string name = method + ranks;
      const ProgramResult other = run(name, ranks, settings);
      ASSERT_EQ(other.exitCode, 0) << name << ": " << other.err;
      for (const std::string column : {"poisson.total", "poisson.min", "poisson.max"}) {
        EXPECT_NEAR(number(name, "diagnostics", column), number("own", "diagnostics", column), 1e-10)
            << name << ": " << column;
      }
      EXPECT_EQ(number(name, "statistics", "solve_setups"), 1.0);
    }
  }
}

TEST_F(Solvers, HypreOnLevelsHasTheSameBitsOnTheSameRanksWithAnySetUp) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  std::vector<std::string> settings = kOnLevels;
  ASSERT_EQ(run("kept", "2", settings).exitCode, 0);
  ASSERT_EQ(run("again", "2", settings).exitCode, 0);
  settings.emplace_back("solver.setup_every=1");
  ASSERT_EQ(run("fresh", "2", settings).exitCode, 0);
  EXPECT_EQ(number("fresh", "statistics", "solve_setups"), 2.0);
  for (const char* other : {"again", "fresh"}) {
    const ProgramResult compared = place_.tessera({"compare", "--exact", "kept", other});
    EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
  }
}

TEST_F(Solvers, HypreIsGivenUpOnLevelsAsOurOwnIs) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  for (const std::string ranks : {"1", "2"}) {
    std::vector<std::string> settings = kOnLevels;
    settings.emplace_back("solver.max_iterations=1");
    const ProgramResult given = run("up" + ranks, ranks, settings);
    EXPECT_EQ(given.exitCode, 4);
    EXPECT_EQ(countOf(given.err, "a linear solve does not come to its tolerance"), 1) << given.err;
    EXPECT_THAT(given.err, HasSubstr("poisson.solve, levels 0 to 2"));
  }
}

/// A closed box with tubes, of which the border of a finer level cuts one.
constexpr const char* kTubesDeck = R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 3, cfl = 0.4 }
solver = { library = "hypre", tolerance = 1e-12 }
[grid]
cells = [16, 16, 1]
patches = [2, 2, 1]
[[grid.level]]
lower = [0.25, 0.25, 0]
upper = [0.75, 0.625, 1]
patch_size = [8, 6, 1]
[lowmach]
mixing.density = [8, 1]
viscosity = 0.02
diffusivity = 0.02
gravity = [0, -1, 0]
reference_density = 4
initial.mixture_fraction = "0.5 + 0.5*sin(4*x)*cos(5*y)"
solid.where = "(x - 0.4)^2 + (y - 0.45)^2 < 0.005 || (x - 0.75)^2 + (y - 0.4)^2 < 0.01"
)deck";

TEST_F(Solvers, HypreGivesOneAnswerAroundTubesOnLevels) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  place_.file("deck.toml", kTubesDeck);
  ASSERT_EQ(run("one", "1", {}).exitCode, 0);
  ASSERT_EQ(run("two", "2", {}).exitCode, 0);
  ASSERT_EQ(run("again", "2", {}).exitCode, 0);

  const ProgramResult compared = place_.tessera({"compare", "--exact", "two", "again"});
  EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
  const double energy = number("one", "diagnostics", "lowmach.kinetic_energy");
  ASSERT_GT(energy, 1e-6);
  EXPECT_NEAR(number("two", "diagnostics", "lowmach.kinetic_energy"), energy, 1e-9 * energy);
  const double speed = number("one", "diagnostics", "lowmach.max_velocity");
  EXPECT_NEAR(number("two", "diagnostics", "lowmach.max_velocity"), speed, 1e-9 * speed);
}

TEST_F(Solvers, OnFailureHoldsForHypreToo) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  for (const std::vector<std::string>& base :
       {std::vector<std::string>{"solver.library=\"hypre\""}, kOnLevels}) {
    const auto with = [&](const std::string& name, const std::vector<std::string>& more) {
      std::vector<std::string> settings = base;
      settings.insert(settings.end(), more.begin(), more.end());
      return run(name + std::to_string(base.size()), "2", settings);
    };
    for (const std::string what : {"stop", "retry", "warn"}) {
      const ProgramResult given =
          with(what, {"solver.max_iterations=1", "solver.on_failure=\"" + what + "\""});
      EXPECT_EQ(given.exitCode, what == "warn" ? 0 : 4) << what << given.err;
      const std::string said =
          what == "warn" ? place_.read(what + std::to_string(base.size()) + "/result.json") : given.err;
      EXPECT_THAT(said, HasSubstr("a linear solve does not come to its tolerance")) << what;
    }
    const ProgramResult coefficient = with("coefficient", {"poisson.coefficient=\"sqrt(x - 0.5)\""});
    EXPECT_EQ(coefficient.exitCode, 2) << coefficient.err;
    EXPECT_THAT(coefficient.err, HasSubstr("poisson.coefficient"));
    const ProgramResult source = with("source", {"poisson.source=\"sqrt(x - 0.5)\""});
    EXPECT_EQ(source.exitCode, 4) << source.err;
    EXPECT_THAT(source.err, HasSubstr("poisson.source = -nan"));
    const ProgramResult singular = with(
        "singular", {"poisson.boundary.x_low.type=\"neumann\"", "poisson.boundary.z_high.type=\"neumann\""});
    EXPECT_EQ(singular.exitCode, 4) << singular.err;
    EXPECT_THAT(singular.err, HasSubstr("no side gives a value, and the sources do not add up to 0"));
  }
}

/// A solve of some seconds, for which nobody waits that long.
TEST_F(Solvers, ASolveThatDoesNotEndIsSeenByTheWatchdogOfEitherLibrary) {
  const bool isThere = hasHypre();
  for (const std::string library : {"own", "hypre"}) {
    if (library == "hypre" && !isThere) continue;
    for (const std::string& levels :
         {std::string("[]"),
          std::string("[{ lower = [0.25,0.25,0], upper = [0.75,0.75,1], patch_size = [48,48,48] }]")}) {
      const ProgramResult hung = place_.tessera({"run",
                                                 "deck.toml",
                                                 "-q",
                                                 "-n",
                                                 "2",
                                                 "--watchdog",
                                                 "2",
                                                 "--out",
                                                 "hung" + library + std::to_string(levels.size()),
                                                 "--set",
                                                 "grid.cells=[96,96,96]",
                                                 "--set",
                                                 "grid.patches=[2,2,2]",
                                                 "--set",
                                                 "grid.level=" + levels,
                                                 "--set",
                                                 "solver.library=\"" + library + "\"",
                                                 "--set",
                                                 "solver.method=\"bicgstab\"",
                                                 "--set",
                                                 "solver.preconditioner=\"jacobi\"",
                                                 "--set",
                                                 "solver.max_iterations=1000000"});
      EXPECT_EQ(hung.exitCode, 6) << library << levels << hung.err;
      EXPECT_THAT(hung.err, HasSubstr("no progress for 2 s"));
      EXPECT_THAT(hung.err, HasSubstr("the call \"poisson.solve\"")) << library << levels;
      EXPECT_LT(hung.seconds, 30.0);
    }
  }
}

/// What a run tells of its solves does not depend on who solves.
TEST_F(Solvers, HypreOnLevelsIsInHistoryStatisticsAndTrace) {
  if (!hasHypre()) GTEST_SKIP() << "needs hypre: ./tessera setup --with-hypre";
  std::vector<std::string> arguments{"run", "deck.toml", "-q", "-n", "2", "--trace", "--out", "told"};
  for (const std::string& setting : kOnLevels) arguments.insert(arguments.end(), {"--set", setting});
  ASSERT_EQ(place_.tessera(arguments).exitCode, 0);

  EXPECT_EQ(number("told", "statistics", "solves"), 2.0);
  EXPECT_EQ(number("told", "statistics", "solve_setups"), 1.0);
  EXPECT_EQ(number("told", "statistics", "solve_failures"), 0.0);
  EXPECT_GT(number("told", "statistics", "solve_seconds"), 0.0);
  const double all = number("told", "statistics", "solve_iterations");
  const nlohmann::json last = nlohmann::json::parse(place_.read("told/result.json"))["diagnostics"];
  EXPECT_GT(last["poisson.solve.iterations"].get<double>(), 1.0);
  EXPECT_LT(last["poisson.solve.iterations"].get<double>(), all);
  EXPECT_LE(last["poisson.solve.residual"].get<double>(), 1e-10);
  EXPECT_THAT(place_.read("told/history.csv"), HasSubstr("poisson.solve.iterations,poisson.solve.residual"));
  RunningProgram unpacked({"gzip", "-dc", "told/trace.json.gz"}, place_.path());
  EXPECT_EQ(countOf(unpacked.wait().out, "\"poisson.solve\""), 4) << "two solves of two ranks";
}

}  // namespace
}  // namespace tessera::test
