#include <fstream>
#include <random>
#include <signal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

/// After a stop: a restart by some steps equals a run that was never stopped.
void expectToGoOnUnbroken(const Workplace& place, const std::string& run) {
  const std::int64_t step = std::stoll(resultOf(place, run, "step"));
  const std::string end = "time.max_steps=" + std::to_string(step + 5);
  const ProgramResult again = place.tessera({"restart", run, "-q", "--set", end});
  ASSERT_EQ(again.exitCode, 0) << again.err;
  ASSERT_EQ(place.tessera({"run", "endless.toml", "-q", "--out", "whole", "--set", end}).exitCode, 0);
  const ProgramResult compared = place.tessera({"compare", "--exact", "whole", run});
  EXPECT_EQ(compared.exitCode, 0) << compared.out;
  EXPECT_EQ(place.read(run + "/history.csv"), place.read("whole/history.csv"));
  std::filesystem::remove_all(place.path() / "whole");
}

void expectStopped(const Workplace& place, const ProgramResult& run, const std::string& reason) {
  EXPECT_EQ(run.exitCode, 75) << run.err;
  EXPECT_EQ(resultOf(place, "endless", "status"), "stopped");
  EXPECT_EQ(resultOf(place, "endless", "exit_code"), "75");
  EXPECT_THAT(resultOf(place, "endless", "reason"), HasSubstr(reason));
}

TEST(Stop, SigtermAndSigintWriteACheckpointToGoOnFrom) {
  for (const int number : {SIGTERM, SIGINT}) {
    const Workplace place;
    place.file("endless.toml", endlessHeat());
    RunningProgram program(Workplace::command({"run", "endless.toml", "-q"}), place.path());
    ASSERT_TRUE(eventually([&] { return place.has("endless/out/fields.hdf.series"); }));
    program.signal(number);
    expectStopped(place, program.wait(), number == SIGTERM ? "SIGTERM" : "SIGINT");
    expectToGoOnUnbroken(place, "endless");
  }
}

TEST(Stop, SigtermToTheLauncherAtRandomTimesStopsAllRanksAtTheSameStep) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int n = 0; n < 3; ++n) {
    const Workplace place;
    place.file("endless.toml", endlessHeat());
    RunningProgram program(Workplace::command({"run", "-n", "3", "--threads", "1", "endless.toml", "-q"}),
                           place.path());
    ASSERT_TRUE(eventually([&] { return place.has("endless/log.jsonl"); }));
    usleep(std::uniform_int_distribution<unsigned>(0, 300'000)(random));
    program.signal(SIGTERM);
    const ProgramResult run = program.wait();
    // The launcher's own exit code says nothing here: signalled itself, MPICH's ends with 0 or not, as it
    // falls.
    EXPECT_EQ(resultOf(place, "endless", "exit_code"), "75") << run.err;
    EXPECT_NE(run.exitCode, -1);
    expectToGoOnUnbroken(place, "endless");
  }
}

TEST(Stop, ASignalToOneRankStopsAll) {
  const Workplace place;
  place.file("endless.toml", endlessHeat());
  RunningProgram program(Workplace::command({"run", "-n", "2", "--threads", "1", "endless.toml", "-q"}),
                         place.path());
  ASSERT_TRUE(eventually([&] { return place.has("endless/out/fields.hdf.series"); }));
  const std::vector<pid_t> below = program.descendants();
  ASSERT_FALSE(below.empty());
  ::kill(below.back(), SIGTERM);
  const ProgramResult run = program.wait();
  EXPECT_EQ(run.exitCode, 75) << run.err;
  expectToGoOnUnbroken(place, "endless");
}

TEST(Stop, WallTimeIsKept) {
  const Workplace place;
  place.file("endless.toml", endlessHeat());
  const ProgramResult run = place.tessera({"run", "endless.toml", "-q", "--wall", "1s"});
  expectStopped(place, run, "--wall");
  EXPECT_LT(run.seconds, 10.0);
  expectToGoOnUnbroken(place, "endless");
}

TEST(Stop, WallTimeThatIsOverAtOnceLeavesTheFirstState) {
  const Workplace place;
  place.file("endless.toml", endlessHeat());
  const ProgramResult run = place.tessera({"run", "endless.toml", "-q", "--wall", "0"});
  expectStopped(place, run, "--wall");
  EXPECT_EQ(resultOf(place, "endless", "step"), "0");
  expectToGoOnUnbroken(place, "endless");
}

TEST(Stop, AFileInTheRunFolderStopsOnce) {
  const Workplace place;
  place.file("endless.toml", endlessHeat());
  RunningProgram program(Workplace::command({"run", "-n", "2", "--threads", "1", "endless.toml", "-q"}),
                         place.path());
  ASSERT_TRUE(eventually([&] { return place.has("endless/out/fields.hdf.series"); }));
  place.file("endless/stop", "");
  expectStopped(place, program.wait(), "file");
  EXPECT_FALSE(place.has("endless/stop"));
  expectToGoOnUnbroken(place, "endless");
}

TEST(Stop, ASignalDuringACheckpointNeedsNoSecondOne) {
  bool met = false;
  for (int n = 0; n < 20 && !met; ++n) {
    const Workplace place;
    place.file("endless.toml", endlessHeat("[output]\nfields = []\n[checkpoint]\nevery_steps = 7\n"));
    RunningProgram program(Workplace::command({"run", "endless.toml", "-q", "--threads", "1", "--set",
                                               "grid.cells=[1024, 1024, 1]"}),
                           place.path());
    std::filesystem::path temporary;
    ASSERT_TRUE(eventually([&] {
      std::error_code none;
      for (const auto& entry :
           std::filesystem::directory_iterator(place.path() / "endless/checkpoints", none)) {
        if (entry.path().extension() == ".tmp") temporary = entry.path();
      }
      return !temporary.empty();
    }));
    program.signal(SIGTERM);
    met = std::filesystem::exists(temporary);  // else the signal came too late to prove anything
    const ProgramResult run = program.wait();
    EXPECT_EQ(run.exitCode, 75) << run.err;
    if (met) {
      EXPECT_EQ(std::stoll(resultOf(place, "endless", "step")) % 7, 0);
    }
  }
  EXPECT_TRUE(met) << "no signal met a checkpoint";
}

TEST(Stop, ASecondSignalEndsAtOnceAndTheOlderCheckpointIsWhole) {
  const Workplace place;
  // Steps so long that the first signal is still waiting for the end of one.
  place.file(
      "endless.toml",
      "[simulation]\ncomponents = [\"heat\"]\n[grid]\ncells = [1024, 1024, 1]\npatches = [1, 1, 1]\n[heat]\n"
      "conductivity = 1\ninitial = 1\nsource = \"sin(x)*exp(sin(y)*cos(x*t))*exp(sin(x*y))*exp(cos(x+y))\"\n"
      "[time]\nmax_steps = 100000\n[checkpoint]\nevery_steps = 1\n[output]\nfields = []\n");
  RunningProgram program(Workplace::command({"run", "endless.toml", "-q", "--executor", "in-order"}),
                         place.path());
  ASSERT_TRUE(eventually([&] { return place.has("endless/checkpoints/ckpt-000001"); }));
  program.signal(SIGTERM);
  usleep(1'100'000);
  program.signal(SIGTERM);
  const ProgramResult run = program.wait();
  EXPECT_EQ(run.exitCode, 75);
  const ProgramResult info = place.tessera({"info", "endless"});
  EXPECT_EQ(info.exitCode, 0) << info.err;
  EXPECT_EQ(info.out.find("DAMAGED"), std::string::npos) << info.out;
}

}  // namespace
}  // namespace tessera::test
