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
  const unsigned seed = testSeed();
  SCOPED_TRACE("replay: TESSERA_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  for (int n = 0; n < 10; ++n) {
    const Workplace place;
    place.file("endless.toml", endlessHeat());
    RunningProgram program(Workplace::command({"run", "-n", "3", "--threads", "1", "endless.toml", "-q"}),
                           place.path());
    ASSERT_TRUE(eventually([&] { return place.has("endless/log.jsonl"); }));
    usleep(std::uniform_int_distribution<unsigned>(0, 300'000)(random));
    program.signal(SIGTERM);
    expectStopped(place, program.wait(), "SIGTERM");
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

TEST(Stop, ThatTheStarterOfTheRanksIsKilledStopsThemWithACheckpoint) {
  const Workplace place;
  place.file("endless.toml", endlessHeat());
  RunningProgram program(Workplace::command({"run", "-n", "2", "--threads", "1", "endless.toml", "-q"}),
                         place.path());
  ASSERT_TRUE(eventually([&] { return place.has("endless/out/fields.hdf.series"); }));
  program.signal(SIGKILL);
  EXPECT_EQ(program.wait().exitCode, 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return resultOf(place, "endless", "status") == "stopped"; }));
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

/// A run whose third step never ends: the first signal waits for it for ever.
const char* const kHangs =
    "[simulation]\ncomponents = [\"faulty\"]\n[grid]\ncells = [8, 6, 1]\npatches = [2, 2, 1]\n"
    "[time]\ndt = 0.1\nmax_steps = 5\n[checkpoint]\nevery_steps = 1\n[faulty]\nhow = \"hang\"\npatch = 2\n";

void expectForcedEnd(const Workplace& place, const ProgramResult& run, const std::string& signal) {
  EXPECT_EQ(run.exitCode, 6);
  const std::string reason =
      "a second " + signal +
      " ended the run at once, without a checkpoint of this step; the last checkpoint is that of step 2";
  EXPECT_EQ(run.err, "tessera: error: " + reason + "\n  fix  continue with: tessera restart hangs\n");
  EXPECT_EQ(resultOf(place, "hangs", "status"), "failed");
  EXPECT_EQ(resultOf(place, "hangs", "exit_code"), "6");
  EXPECT_EQ(resultOf(place, "hangs", "reason"), reason);
  const ProgramResult info = place.tessera({"info", "hangs"});
  EXPECT_EQ(info.exitCode, 0) << info.err;
  EXPECT_THAT(info.out, testing::Not(HasSubstr("DAMAGED")));
  EXPECT_THAT(info.out, HasSubstr("checkpoint  step 2,"));
}

TEST(Stop, ASecondSignalEndsAtOnceWithSixAndNamesTheLastCheckpoint) {
  for (const std::string ranks : {"1", "3"}) {
    for (const int number : {SIGTERM, SIGINT}) {
      SCOPED_TRACE(ranks + " rank(s), signal " + std::to_string(number));
      const Workplace place;
      place.file("hangs.toml", kHangs);
      RunningProgram program(
          Workplace::faultyCommand({"run", "-n", ranks, "--threads", "1", "hangs.toml", "-q"}), place.path());
      ASSERT_TRUE(eventually([&] { return place.has("hanging"); }));
      program.signal(number);
      usleep(1'100'000);
      const double before = program.wait(0.0).seconds;
      program.signal(number);
      const ProgramResult run = program.wait();
      EXPECT_LT(run.seconds - before, 5.0);
      expectForcedEnd(place, run, number == SIGINT ? "SIGINT" : "SIGTERM");
    }
  }
}

/// `script` gives the program a terminal.
TEST(Stop, APersonAtATerminalIsToldWhatCtrlCDoes) {
  for (const std::string ranks : {"1", "2"}) {
    const Workplace place;
    place.file("endless.toml", endlessHeat());
    std::string command;
    for (const std::string& argument :
         Workplace::command({"run", "endless.toml", "-q", "-n", ranks, "--threads", "1"}))
      command += "'" + argument + "' ";
    RunningProgram program({"script", "-qec", "exec " + command, "typescript"}, place.path());
    ASSERT_TRUE(eventually([&] { return place.has("endless/out/fields.hdf.series"); }));
    const std::vector<pid_t> below = program.descendants();
    ASSERT_FALSE(below.empty());
    ::kill(below.front(), SIGINT);
    expectStopped(place, program.wait(), "SIGINT");
    EXPECT_THAT(place.read("typescript"), HasSubstr("a second signal ends the run at once"));
  }
}

TEST(Stop, TheSameSignalDeliveredTwiceIsNoSecondOne) {
  const Workplace place;
  place.file("endless.toml", endlessHeat());
  RunningProgram program(Workplace::command({"run", "-n", "2", "--threads", "1", "endless.toml", "-q"}),
                         place.path());
  ASSERT_TRUE(eventually([&] { return place.has("endless/out/fields.hdf.series"); }));
  program.signal(SIGINT);
  program.signal(SIGINT);
  expectStopped(place, program.wait(), "SIG");
}

}  // namespace
}  // namespace tessera::test
