#include <random>
#include <signal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

TEST(Failure, AKilledRankEndsTheJobAndTheNewestCheckpointLoads) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int n = 0; n < 3; ++n) {
    const Workplace place;
    place.file("endless.toml", endlessHeat("[checkpoint]\nevery_steps = 50\n"));
    RunningProgram program(Workplace::command({"run", "-n", "3", "--threads", "1", "endless.toml", "-q"}),
                           place.path());
    ASSERT_TRUE(eventually([&] { return place.has("endless/checkpoints/ckpt-000050"); }));
    usleep(std::uniform_int_distribution<unsigned>(0, 200'000)(random));
    const std::vector<pid_t> below = program.descendants();
    ASSERT_GE(below.size(), 3U);
    const double before = program.wait(0.0).seconds;
    ::kill(below[below.size() - 1 - std::uniform_int_distribution<std::size_t>(0, 2)(random)], SIGKILL);
    const ProgramResult run = program.wait();
    EXPECT_NE(run.exitCode, 0);
    EXPECT_NE(run.exitCode, -1);
    EXPECT_LT(run.seconds - before, 30.0);

    const ProgramResult again = place.tessera({"restart", "endless", "-q", "--set", "time.max_steps=1"});
    EXPECT_EQ(again.exitCode, 0) << again.err;
  }
}

TEST(Failure, ADiskThatIsFullForFieldsIsAWarningAndTheRunGoesOn) {
  for (const std::string ranks : {"1", "4"}) {
    const Workplace place;
    place.file("small.toml",
               smallHeat("max_steps = 40", "[output]\nevery_steps = 1\n[checkpoint]\nat_end = false\n"));

    const ProgramResult run = place.onSmallDisk(
        "size=300k", {"run", "-n", ranks, "--threads", "1", "small.toml", "-q", "--out", "disk/run"});

    EXPECT_EQ(run.exitCode, 5) << run.err;
    EXPECT_THAT(run.err, HasSubstr("could not be written, the run goes on"));
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
