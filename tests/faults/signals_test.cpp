// Every signal that asks to stop, to whichever process of a job, at any moment: a checkpoint and 75.
#include <csignal>
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/faults/shell.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

std::string longDeck() {
  return smallDeck("end = 100\ndt = 1e-4", "[output]\nevery = 0.0037\n[checkpoint]\nevery_steps = 370\n",
                   "cells = [24, 20, 1]\npatch_size = [8, 8, 1]");
}

/// Whether a process holds a signal back or catches it: before that it is not yet the program.
bool takes(pid_t process, int number) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("SigBlk:", 0) != 0 && line.rfind("SigCgt:", 0) != 0) continue;
    if ((std::stoull(line.substr(7), nullptr, 16) >> (number - 1) & 1U) != 0) return true;
  }
  return false;
}

/// Whether all that is left of a child is that this process asks how it ended.
bool hasEnded(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(stat, text);
  return text.find(") Z") != std::string::npos;
}

class SignalToAJob : public testing::TestWithParam<int> {};

TEST_P(SignalToAJob, AtAnyMomentLeavesACheckpointAndSeventyFive) {
  std::signal(GetParam(), SIG_DFL);  // under nohup this program, and what it starts, would ignore SIGHUP
  for (const char* ranks : {"1", "2"}) {
    for (const int milliseconds : {0, 150, 400, 1500}) {
      const Workplace place;
      place.file("long.toml", longDeck());
      RunningProgram program(Workplace::command({"run", "long.toml", "-n", ranks, "--threads", "1"}),
                             place.path());
      ASSERT_TRUE(eventually([&] { return takes(program.pid(), GetParam()); }));
      usleep(static_cast<useconds_t>(milliseconds) * 1000);
      kill(program.pid(), GetParam());
      const ProgramResult result = program.wait();
      EXPECT_EQ(result.exitCode, 75) << strsignal(GetParam()) << ", " << ranks << " rank(s), after "
                                     << milliseconds << " ms: " << result.out << result.err;
      EXPECT_EQ(resultOf(place, "long", "exit_code"), "75");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllThatBatchSystemsSend, SignalToAJob,
                         testing::Values(SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU));

// Libraries that the program is linked with start before it, and some of them take signals for themselves.
TEST(SignalToAProgram, IsNotTakenByALibraryThatStarts) {
  std::signal(SIGHUP, SIG_DFL);
  for (int n = 0; n < 20; ++n) {
    const Workplace place;
    place.file("long.toml", longDeck());
    RunningProgram program(Workplace::command({"run", "long.toml", "--threads", "1"}), place.path());
    while (!takes(program.pid(), SIGHUP) && kill(program.pid(), 0) == 0) continue;
    kill(program.pid(), SIGHUP);
    const ProgramResult result = program.wait();
    ASSERT_EQ(result.exitCode, 75) << "start " << n << ": " << result.err;
  }
}

// From the first instruction to the last: none takes the place of the exit code. 6: under load a run may take
// so long that a signal is a second wish.
TEST(SignalToAProgram, AgainAndAgainUntilItsEndIsNoDeath) {
  for (int n = 0; n < 20; ++n) {
    const Workplace place;
    place.file("small.toml", smallDeck("max_steps = 3"));
    RunningProgram program(Workplace::command({"run", "small.toml", "-q", "--threads", "1"}), place.path());
    while (!takes(program.pid(), SIGUSR2) && kill(program.pid(), 0) == 0) continue;
    while (!hasEnded(program.pid())) kill(program.pid(), SIGUSR2);
    const ProgramResult result = program.wait();
    ASSERT_THAT(result.exitCode, testing::AnyOf(0, 75, 6)) << "run " << n << ": " << result.err;
  }
}

TEST(SignalToEveryProcess, OfAJobIsOneWish) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const Workplace place;
    place.file("long.toml", longDeck());
    RunningProgram program(Workplace::command({"run", "long.toml", "-n", "2", "--threads", "1"}),
                           place.path());
    ASSERT_TRUE(eventually([&] { return place.has("long/out/fields_000000.hdf"); }));
    for (const pid_t process : program.descendants()) kill(process, number);
    kill(program.pid(), number);
    const ProgramResult result = program.wait();
    EXPECT_EQ(result.exitCode, 75) << strsignal(number) << result.err;
  }
}

TEST(SignalToEveryProcess, TwiceWithinTwentyMillisecondsIsOneWish) {
  for (int n = 0; n < 4; ++n) {
    const Workplace place;
    place.file("long.toml", longDeck());
    RunningProgram program(Workplace::command({"run", "long.toml", "-n", "2", "--threads", "1"}),
                           place.path());
    ASSERT_TRUE(eventually([&] { return place.has("long/out/fields_000000.hdf"); }));
    kill(program.pid(), SIGTERM);
    usleep(20000);
    kill(program.pid(), SIGTERM);
    const ProgramResult result = program.wait();
    EXPECT_EQ(result.exitCode, 75) << result.err;
  }
}

// A machine that is busy delivers what was sent at once seconds apart.
TEST(SignalToEveryProcess, SecondsApartIsStillOneWish) {
  const Workplace place;
  place.file("long.toml", longDeck());
  RunningProgram program(Workplace::command({"run", "long.toml", "-n", "2", "--threads", "1"}), place.path());
  ASSERT_TRUE(eventually([&] { return place.has("long/out/fields_000000.hdf"); }));
  const std::vector<pid_t> all = program.descendants();
  ASSERT_EQ(all.size(), 4U);
  kill(all[3], SIGSTOP);  // so that the job cannot answer in between
  for (const pid_t process : {all[2], program.pid(), all[0], all[1]}) {
    kill(process, SIGTERM);
    usleep(1200 * 1000);
  }
  kill(all[3], SIGCONT);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.exitCode, 75) << result.err;
}

TEST(SignalToEveryProcess, ToTheLauncherOfMpiOrItsProxyIsOneToTheJob) {
  for (const std::size_t which : {0U, 1U}) {
    const Workplace place;
    place.file("long.toml", longDeck());
    RunningProgram program(Workplace::command({"run", "long.toml", "-n", "2", "--threads", "1"}),
                           place.path());
    ASSERT_TRUE(eventually([&] { return place.has("long/out/fields_000000.hdf"); }));
    const std::vector<pid_t> all = program.descendants();
    ASSERT_GT(all.size(), which);
    kill(all[which], SIGTERM);
    EXPECT_EQ(program.wait().exitCode, 75) << "process " << which << " of the job";
  }
}

TEST(ReaderThatGoesAway, LosesTheOutputAndNothingElse) {
  for (const char* ranks : {"1", "2"}) {
    const Workplace place;
    place.file("small.toml", smallDeck("max_steps = 3000", "[output]\nevery_steps = 1000\n"));
    const std::string run = "$T run small.toml --threads 1 -n " + std::string(ranks);
    const ProgramResult head = shell(place, "set -o pipefail; " + run + " --out a | head -n 1 >/dev/null");
    EXPECT_EQ(head.exitCode, 0) << head.err;
    EXPECT_EQ(resultOf(place, "a", "step"), "3000");
    const ProgramResult closed = shell(place, run + " --out b >&-");
    EXPECT_EQ(closed.exitCode, 0) << closed.err;
    EXPECT_EQ(resultOf(place, "b", "step"), "3000");
  }
}

TEST(Launcher, AProxyThatIsKilledStopsTheRanksWithACheckpointOrNamesTheLastOne) {
  const Workplace place;
  place.file("long.toml", longDeck());
  RunningProgram program(Workplace::command({"run", "long.toml", "-n", "2", "--threads", "1"}), place.path());
  ASSERT_TRUE(eventually([&] { return place.has("long/checkpoints/ckpt-000370"); }));
  const std::vector<pid_t> all = program.descendants();
  ASSERT_GE(all.size(), 4U);
  kill(all[1], SIGKILL);
  const ProgramResult result = program.wait();
  EXPECT_THAT(result.exitCode, testing::AnyOf(75, 6)) << result.err;
  for (const pid_t process : all) EXPECT_NE(kill(process, 0), 0) << "process " << process << " is left";
}

TEST(StandardOutput, ThatCannotBeWrittenIsFive) {
  const Workplace place;
  place.file("small.toml", smallDeck());
  for (const char* command : {"describe", "list", "check small.toml", "--help"}) {
    const ProgramResult result = shell(place, std::string("$T ") + command + " >/dev/full");
    EXPECT_EQ(result.exitCode, 5) << command;
    EXPECT_THAT(result.err, HasSubstr("standard output")) << command;
  }
}

TEST(TemporaryFolder, ThatIsFullDoesNotTurnAJobIntoAFailure) {
  const Workplace place;
  place.file("small.toml", smallDeck());
  EXPECT_EQ(shell(place, "TMPDIR=/nowhere $T run small.toml -n 2 -q").exitCode, 0);
}

}  // namespace
}  // namespace tessera::test
