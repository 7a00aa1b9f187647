#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ExitCodes, ZeroWhenTheRunReachesItsEnd) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 3"));

  const ProgramResult run = place.tessera({"run", "small.toml"});

  EXPECT_EQ(run.exitCode, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(resultOf(place, "small", "exit_code"), "0");
  EXPECT_EQ(resultOf(place, "small", "status"), "done");
}

TEST(ExitCodes, TwoForAnUnknownOption) {
  const Workplace place;
  const ProgramResult run = place.tessera({"run", "--nonsense", "small.toml"});
  EXPECT_EQ(run.exitCode, 2);
  EXPECT_THAT(run.err, HasSubstr("--nonsense"));
}

TEST(ExitCodes, TwoForAFaultInTheDeckAndNothingIsCreated) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 3\nclf = 0.5"));

  const ProgramResult run = place.tessera({"run", "small.toml"});

  EXPECT_EQ(run.exitCode, 2);
  EXPECT_THAT(run.err, HasSubstr("small.toml:13:1: error: "));
  EXPECT_THAT(run.err, HasSubstr("cfl"));
  EXPECT_FALSE(place.has("small"));
}

TEST(ExitCodes, TwoForAFaultInTheDeckIsSaidOnceByFourRanks) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 3\nclf = 0.5"));

  const ProgramResult run = place.tessera({"run", "-n", "4", "small.toml"});

  EXPECT_EQ(run.exitCode, 2);
  EXPECT_EQ(countOf(run.err, "error: "), 1) << run.err;
  EXPECT_THAT(run.err, Not(HasSubstr("MPI_Abort")));
}

TEST(ExitCodes, TwoWhenSeveralRanksSeeAWrongOptionAndItIsSaidOnce) {
  const Workplace place;
  RunningProgram program({"mpiexec.mpich", "-n", "3", programPath(), "run", "--nonsense", "small.toml"},
                         place.path());
  const ProgramResult run = program.wait();
  EXPECT_EQ(run.exitCode, 2);
  EXPECT_EQ(countOf(run.err, "--nonsense"), 1) << run.err;
}

TEST(ExitCodes, ThreeForADeckThatIsNotThere) {
  const Workplace place;
  const ProgramResult run = place.tessera({"run", "missing.toml"});
  EXPECT_EQ(run.exitCode, 3);
  EXPECT_THAT(run.err, HasSubstr("missing.toml"));
}

TEST(ExitCodes, FourForNaNWhichIsNamedByVariablePatchCellStepAndTask) {
  const Workplace place;
  // The square root has no value once t exceeds 2.5 steps.
  place.file(
      "nan.toml",
      "[simulation]\ncomponents = [\"heat\"]\n[grid]\ncells = [16, 1, 1]\npatches = [4, 1, 1]\n[heat]\n"
      "conductivity = 1\ninitial = 1\nsource = \"if(x > 0.5 && x < 0.55, sqrt(0.0025 - t), 0)\"\n"
      "[time]\ndt = 0.001\nend = 1\n[checkpoint]\nevery_steps = 1\n");

  const ProgramResult run = place.tessera({"run", "nan.toml", "-q"});

  EXPECT_EQ(run.exitCode, 4);
  EXPECT_THAT(run.err, HasSubstr("heat.source"));
  EXPECT_THAT(run.err, HasSubstr("Heat::source"));
  EXPECT_THAT(run.err, HasSubstr("L0/P0002"));
  EXPECT_THAT(run.err, HasSubstr("(8, 0, 0)"));
  EXPECT_THAT(run.err, HasSubstr("step 4, t = 0.003"));
  EXPECT_EQ(resultOf(place, "nan", "status"), "failed");
  EXPECT_EQ(resultOf(place, "nan", "exit_code"), "4");
  // The checkpoints before it are kept.
  EXPECT_TRUE(place.has("nan/checkpoints/ckpt-000003/manifest.json"));
}

TEST(ExitCodes, FourForNaNInTheInitialStateAndTheResultClaimsNoMoreThanIsKnown) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  const ProgramResult run = place.tessera({"run", "small.toml", "--set", "heat.initial='log(x-2)'"});
  EXPECT_EQ(run.exitCode, 4);
  EXPECT_THAT(run.err, HasSubstr("a value is not finite  (initial state, t = 0)"));
  EXPECT_EQ(resultOf(place, "small", "status"), "failed");
  EXPECT_THAT(place.read("small/result.json"), Not(HasSubstr("steps_taken")));
}

TEST(ExitCodes, FourForNaNOnOneRankOfFourEndsTheJobWithOneMessage) {
  const Workplace place;
  place.file(
      "nan.toml",
      "[simulation]\ncomponents = [\"heat\"]\n[grid]\ncells = [16, 1, 1]\npatches = [4, 1, 1]\n[heat]\n"
      "conductivity = 1\ninitial = 1\nsource = \"if(x > 0.5 && x < 0.55, sqrt(0.0025 - t), 0)\"\n"
      "[time]\ndt = 0.001\nend = 1\n");

  const ProgramResult run = place.tessera({"run", "-n", "4", "nan.toml", "-q"});

  EXPECT_EQ(run.exitCode, 4);
  EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("of 4, step 4"));
  EXPECT_LT(run.seconds, 30.0);
  EXPECT_EQ(resultOf(place, "nan", "exit_code"), "4");
}

TEST(ExitCodes, FourForNaNOnAllRanksEndsTheJobWithOneMessage) {
  const Workplace place;
  place.file("nan.toml", smallHeat("dt = 0.0001\nend = 1\n[notes]\nx = 1"));

  const ProgramResult run =
      place.tessera({"run", "-n", "3", "nan.toml", "-q", "--set", "heat.source=\"sqrt(0.0005 - t)\""});

  EXPECT_EQ(run.exitCode, 4);
  EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
}

TEST(ExitCodes, FiveWhenTheRunFolderCannotBeMade) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 3"));
  place.file("a_file", "");
  std::filesystem::create_directory(place.path() / "elsewhere");
  std::filesystem::create_symlink("elsewhere", place.path() / "a_link");

  for (const std::string out : {"missing/run", "a_file", "a_file/run", "a_link"}) {
    const ProgramResult run = place.tessera({"run", "small.toml", "--out", out});
    EXPECT_EQ(run.exitCode, 5) << out << ": " << run.err;
    EXPECT_THAT(run.err, HasSubstr(out));
    EXPECT_THAT(run.err, HasSubstr("fix "));
  }
  EXPECT_TRUE(std::filesystem::is_empty(place.path() / "elsewhere"));
}

TEST(ExitCodes, TwoWhenTheLauncherStartedAnotherNumberOfRanks) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 3"));
  RunningProgram program({"mpiexec.mpich", "-n", "2", programPath(), "run", "-n", "3", "small.toml"},
                         place.path());
  const ProgramResult run = program.wait();
  EXPECT_EQ(run.exitCode, 2);
  EXPECT_THAT(run.err, HasSubstr("-n 3"));
}

TEST(ExitCodes, HelpAndVersionAreZero) {
  const Workplace place;
  EXPECT_EQ(place.tessera({"--help"}).exitCode, 0);
  EXPECT_EQ(place.tessera({"run", "--help"}).exitCode, 0);
  const ProgramResult version = place.tessera({"--version"});
  EXPECT_EQ(version.exitCode, 0);
  EXPECT_THAT(version.out, HasSubstr("hdf5"));
}

TEST(ExitCodes, WithoutACommandItIsTwo) { EXPECT_EQ(Workplace().tessera({}).exitCode, 2); }

}  // namespace
}  // namespace tessera::test
