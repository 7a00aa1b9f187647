#include <random>
#include <signal.h>
#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

/// One of the ranks of a job, not the launcher.
pid_t rankOf(const RunningProgram& program, std::size_t ranks, std::size_t rank) {
  const std::vector<pid_t> below = program.descendants();
  return below.size() < ranks ? -1 : below[below.size() - ranks + rank];
}

/// Row 1 of the table of faults: 20 times a rank is killed at a random moment. The runs go on from each
/// other's checkpoints, and in the end nothing shows of it.
TEST(Failure, AKilledRankAtAnyMomentEndsTheJobWithSixAndTheRunGoesOnUnbroken) {
  const unsigned seed = testSeed();
  SCOPED_TRACE("replay: TESSERA_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr std::size_t kRanks = 3;
  const Workplace place;
  place.file("endless.toml", endlessHeat("[checkpoint]\nevery_steps = 50\n"));
  std::string what = "run";
  for (int n = 0; n < 20; ++n) {
    RunningProgram program(Workplace::command({what, "-n", "3", "--threads", "1",
                                               what == "run" ? "endless.toml" : "endless", "-q"}),
                           place.path());
    const std::string log = "endless/log.jsonl";
    const std::size_t before = what == "run" ? 0 : place.read(log).size();
    ASSERT_TRUE(eventually([&] {
      return place.has(log) && place.read(log).find("\"checkpoint\"", before) != std::string::npos;
    }));
    usleep(std::uniform_int_distribution<unsigned>(0, 60'000)(random));
    const pid_t victim =
        rankOf(program, kRanks, std::uniform_int_distribution<std::size_t>(0, kRanks - 1)(random));
    ASSERT_GT(victim, 0);
    const double at = program.wait(0.0).seconds;
    ::kill(victim, SIGKILL);
    const ProgramResult run = program.wait();

    EXPECT_EQ(run.exitCode, 6) << run.err;
    EXPECT_LT(run.seconds - at, 5.0);
    EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr("tessera restart endless"));
    EXPECT_EQ(resultOf(place, "endless", "status"), "failed");
    EXPECT_EQ(resultOf(place, "endless", "exit_code"), "6");
    what = "restart";
  }

  const std::string info = place.tessera({"info", "endless"}).out;
  const std::string key = "checkpoint  step ";
  ASSERT_NE(info.find(key), std::string::npos) << info;
  const std::string end =
      "time.max_steps=" + std::to_string(std::stoll(info.substr(info.find(key) + key.size())) + 5);
  ASSERT_EQ(place.tessera({"restart", "endless", "-q", "--set", end}).exitCode, 0);
  ASSERT_EQ(place.tessera({"run", "endless.toml", "-q", "--out", "whole", "--set", end}).exitCode, 0);
  const ProgramResult compared = place.tessera({"compare", "--exact", "whole", "endless"});
  EXPECT_EQ(compared.exitCode, 0) << compared.out;
  EXPECT_EQ(place.read("endless/history.csv"), place.read("whole/history.csv"));
}

TEST(Failure, ARankKilledBeforeTheFirstCheckpointIsSixAndTheMessageSaysToStartAgain) {
  const Workplace place;
  place.file("endless.toml", endlessHeat("[checkpoint]\nevery_seconds = 0\n"));
  RunningProgram program(Workplace::command({"run", "-n", "2", "--threads", "1", "endless.toml", "-q"}),
                         place.path());
  ASSERT_TRUE(eventually([&] { return place.has("endless/out/fields.hdf.series"); }));
  ::kill(rankOf(program, 2, 1), SIGKILL);
  const ProgramResult run = program.wait();
  EXPECT_EQ(run.exitCode, 6);
  EXPECT_THAT(run.err, HasSubstr("start it again"));
}

/// Steps of implicit heat that are nothing but a solve of hundreds of iterations: whenever a rank is killed
/// the others wait for it inside of one.
TEST(Failure, ARankKilledInsideASolveEndsTheJobWithSixAndTheRunGoesOnUnbroken) {
  const unsigned seed = testSeed();
  SCOPED_TRACE("replay: TESSERA_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const Workplace place;
  place.file("long.toml", R"deck(
simulation.components = ["heat"]
time = { dt = 1, max_steps = 100000 }
grid = { cells = [64, 64, 1], patches = [2, 2, 1] }
solver = { preconditioner = "none", max_iterations = 100000 }
output.fields = []
checkpoint.every_steps = 1
[heat]
conductivity = 1
initial = "x*y"
scheme = "backward_euler"
boundary.x_low = { type = "dirichlet", value = "1 + 0.1*sin(t)" }
)deck");
  for (const std::size_t victim : {std::size_t{1}, std::size_t{0}}) {
    const bool again = victim == 0;
    const std::size_t before = again ? place.read("long/log.jsonl").size() : 0;
    RunningProgram program(Workplace::command({again ? "restart" : "run", "-n", "2", "--threads", "1",
                                               again ? "long" : "long.toml", "-q"}),
                           place.path());
    ASSERT_TRUE(eventually([&] {
      return place.has("long/log.jsonl") &&
             place.read("long/log.jsonl").find("\"checkpoint\"", before) != std::string::npos;
    }));
    usleep(std::uniform_int_distribution<unsigned>(0, 20'000)(random));
    const pid_t killed = rankOf(program, 2, victim);
    ASSERT_GT(killed, 0);
    const double at = program.wait(0.0).seconds;
    ::kill(killed, SIGKILL);
    const ProgramResult run = program.wait();

    EXPECT_EQ(run.exitCode, 6) << run.err;
    EXPECT_LT(run.seconds - at, 5.0);
    EXPECT_THAT(run.err, HasSubstr("tessera restart long"));
  }
  const std::string info = place.tessera({"info", "long"}).out;
  const std::string key = "checkpoint  step ";
  ASSERT_NE(info.find(key), std::string::npos) << info;
  const std::string end =
      "time.max_steps=" + std::to_string(std::stoll(info.substr(info.find(key) + key.size())) + 1);
  ASSERT_EQ(place.tessera({"restart", "long", "-q", "--set", end}).exitCode, 0);
  ASSERT_EQ(place.tessera({"run", "long.toml", "-q", "--out", "whole", "--set", end}).exitCode, 0);
  const ProgramResult compared = place.tessera({"compare", "--exact", "whole", "long"});
  EXPECT_EQ(compared.exitCode, 0) << compared.out;
}

/// Fields and checkpoints are written by all ranks; here one of them cannot any more.
TEST(Failure, ARankThatCannotWriteHoldsNobodyUpAndTheOlderCheckpointIsWhole) {
  const Workplace place;
  place.file("endless.toml", endlessHeat("[output]\nevery_steps = 500\n[checkpoint]\nevery_steps = 500\n"));
  RunningProgram program(Workplace::command({"run", "-n", "3", "--threads", "1", "endless.toml", "-q"}),
                         place.path());
  ASSERT_TRUE(eventually([&] { return place.has("endless/checkpoints/ckpt-000500"); }));
  const rlimit tiny{16, 16};
  ASSERT_EQ(::prlimit(rankOf(program, 3, 2), RLIMIT_FSIZE, &tiny, nullptr), 0);
  const auto logged = [&](const char* text) { return countOf(place.read("endless/log.jsonl"), text) > 0; };
  ASSERT_TRUE(eventually([&] { return logged("the fields of step") && logged("the checkpoint of step"); }));
  program.signal(SIGTERM);
  const ProgramResult run = program.wait();

  EXPECT_EQ(run.exitCode, 5) << run.err;
  EXPECT_THAT(run.err, HasSubstr("File too large"));
  EXPECT_EQ(resultOf(place, "endless", "status"), "stopped");
  EXPECT_EQ(resultOf(place, "endless", "exit_code"), "5");
  EXPECT_THAT(place.tessera({"info", "endless"}).out, testing::Not(HasSubstr("DAMAGED")));
  EXPECT_EQ(place.tessera({"restart", "endless", "-q", "--set", "time.max_steps=20000"}).exitCode, 0);
}

TEST(Failure, ADiskThatIsFullForFieldsIsAWarningAndTheRunGoesOn) {
  for (const std::string ranks : {"1", "4"}) {
    const Workplace place;
    place.file("small.toml",
               smallHeat("max_steps = 40", "[output]\nevery_steps = 1\n[checkpoint]\nat_end = false\n"));

    const ProgramResult run = place.onSmallDisk(
        "size=300k", {"run", "-n", ranks, "--threads", "1", "small.toml", "-q", "--out", "disk/run"});

    EXPECT_EQ(run.exitCode, 5) << run.err;
    EXPECT_THAT(run.err, HasSubstr("could not be written, the run continues"));
    EXPECT_THAT(run.err, HasSubstr("No space left on device"));
    EXPECT_THAT(run.err, testing::Not(HasSubstr("MPI_Abort")));
    EXPECT_EQ(resultOf(place, "copy/run", "status"), "done");
    EXPECT_EQ(resultOf(place, "copy/run", "step"), "40");
    EXPECT_EQ(resultOf(place, "copy/run", "exit_code"), "5");
  }
}

TEST(Failure, ADiskThatIsFullForCheckpointsKeepsTheOlderOnes) {
  for (const std::string policy : {"continue", "stop"}) {
    const Workplace place;
    place.file("small.toml", smallHeat("max_steps = 12",
                                       "[output]\nfields = []\n[history]\nevery_steps = 0\n[checkpoint]\n"
                                       "every_steps = 1\nkeep = 1000\non_failure = \"" +
                                           policy + "\"\n"));

    const ProgramResult run = place.onSmallDisk(
        "size=100k", {"run", "-n", "2", "--threads", "1", "small.toml", "-q", "--out", "disk/run"});

    EXPECT_EQ(run.exitCode, 5) << run.err;
    EXPECT_THAT(run.err, HasSubstr("checkpoint of step"));
    EXPECT_THAT(run.err, HasSubstr("No space left on device"));
    const ProgramResult info = place.tessera({"info", "copy/run"});
    EXPECT_THAT(info.out, HasSubstr("checkpoint  step 1,"));
    EXPECT_THAT(info.out, testing::Not(HasSubstr("DAMAGED")));
    EXPECT_THAT(info.out, testing::Not(HasSubstr("step 12,")));
  }
}

}  // namespace
}  // namespace tessera::test
