#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/decks/repository_decks.hpp"
#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

const std::string kTail = "[output]\nevery_steps = 3\n";

/// Runs to `steps` in one go and returns the workplace's run folder `whole`.
void runWhole(const Workplace& place, int steps, const std::string& time = "") {
  place.file("whole.toml", smallHeat("max_steps = " + std::to_string(steps) + "\n" + time, kTail));
  const ProgramResult run = place.tessera({"run", "whole.toml", "-q"});
  ASSERT_EQ(run.exitCode, 0) << run.err;
}

void expectLikeWhole(const Workplace& place, const std::string& run) {
  const ProgramResult compared = place.tessera({"compare", "--exact", "whole", run});
  EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
  EXPECT_EQ(place.read(run + "/history.csv"), place.read("whole/history.csv"));
  EXPECT_EQ(place.read(run + "/out/fields.hdf.series"), place.read("whole/out/fields.hdf.series"));
}

TEST(Restart, AtAnyStepIsBitwiseTheUnbrokenRun) {
  const Workplace place;
  runWhole(place, 8);
  for (const int step : {0, 1, 2, 3, 5, 7}) {
    SCOPED_TRACE("stopped at step " + std::to_string(step));
    const std::string run = "at" + std::to_string(step);
    const std::string stop = "time.max_steps=" + std::to_string(step);
    ASSERT_EQ(place.tessera({"run", "whole.toml", "-q", "--out", run, "--set", stop}).exitCode, 0);

    const ProgramResult again = place.tessera({"restart", run, "-q", "--set", "time.max_steps=8"});

    ASSERT_EQ(again.exitCode, 0) << again.err;
    expectLikeWhole(place, run);
  }
}

// Radiation in every fourth step: what the steps between take is in the checkpoint, and so is which step
// radiates next.
TEST(Restart, BetweenTwoStepsWithRadiationIsBitwiseTheUnbrokenRun) {
  const Workplace place;
  const std::string deck = pathOfDeck("rmcrt/cooling");
  const std::string rays =
      "rmcrt={ temperature_from = \"temperature\", absorption = 0.05, stefan_boltzmann = 1, rays = 2, every "
      "= 4, "
      "radiometer = [{ name = \"eye\", position = [0.5, 0.5, 0], direction = [0, 0, 1], rays = 20 }] }";
  ASSERT_EQ(place.tessera({"run", deck, "-q", "--out", "whole", "--set", rays}).exitCode, 0);
  for (const int step : {1, 3, 4, 6}) {
    SCOPED_TRACE("stopped at step " + std::to_string(step));
    const std::string run = "at" + std::to_string(step);
    const std::string stop = "time.max_steps=" + std::to_string(step);
    ASSERT_EQ(place.tessera({"run", deck, "-q", "--out", run, "--set", rays, "--set", stop}).exitCode, 0);

    const ProgramResult again = place.tessera({"restart", run, "-q", "--set", "time.max_steps=10"});

    ASSERT_EQ(again.exitCode, 0) << again.err;
    expectLikeWhole(place, run);
  }
}

// The same of a flow on two levels.
TEST(Restart, OfAFlowBetweenTwoStepsWithRadiationIsBitwiseTheUnbrokenRun) {
  const Workplace place;
  place.file("whole.toml", R"deck(
simulation.components = ["euler", "rmcrt"]
time = { dt = 0.01, max_steps = 7 }
euler = { gas_constant = 1, initial = { density = 1, pressure = "1 + x" }, sources = ["-rmcrt.divQ"] }
rmcrt = { temperature_from = "euler.temperature", absorption = 2, stefan_boltzmann = 1, rays = 2, every = 3 }
output = { every_steps = 3 }
[grid]
cells = [4, 4, 4]
patches = [2, 1, 1]
[[grid.level]]
lower = [0.25, 0.25, 0.25]
upper = [0.75, 0.75, 0.75]
patch_size = [4, 4, 4]
)deck");
  ASSERT_EQ(place.tessera({"run", "whole.toml", "-q"}).exitCode, 0);
  for (const std::string step : {"1", "3", "5"}) {
    SCOPED_TRACE("stopped at step " + step);
    const std::string run = "at" + step;
    ASSERT_EQ(
        place.tessera({"run", "whole.toml", "-q", "--out", run, "--set", "time.max_steps=" + step}).exitCode,
        0);

    const ProgramResult again = place.tessera({"restart", run, "-q", "--set", "time.max_steps=7"});

    ASSERT_EQ(again.exitCode, 0) << again.err;
    expectLikeWhole(place, run);
  }
}

TEST(Restart, KeepsTheGrowthOfTheStepAndTheTimesToLandOn) {
  const Workplace place;
  // The wind calms down faster than the step may grow, so each step hangs on the one before; those before an
  // output are cut.
  place.file("whole.toml",
             "[simulation]\ncomponents = [\"advection\"]\n[grid]\ncells = [40, 1, 1]\nperiodic = [true, "
             "false, false]\n"
             "[advection]\nvelocity.x = \"1 / (0.0001 + t)\"\ninitial = \"sin(2*pi*x)\"\n"
             "[time]\nend = 0.00006\ndt_growth = 1.01\n[output]\nevery = 0.00001\n");
  ASSERT_EQ(place.tessera({"run", "whole.toml", "-q"}).exitCode, 0);
  ASSERT_EQ(
      place.tessera({"run", "whole.toml", "-q", "--out", "parts", "--set", "time.max_steps=1"}).exitCode, 0);
  for (const int step : {2, 3, 4, 5, 8, 9}) {
    ASSERT_EQ(
        place.tessera({"restart", "parts", "-q", "--set", "time.max_steps=" + std::to_string(step)}).exitCode,
        0);
  }
  ASSERT_EQ(place.tessera({"restart", "parts", "-q", "--set", "time.max_steps=100000"}).exitCode, 0);
  expectLikeWhole(place, "parts");
}

TEST(Restart, OnOtherRanksAndThreadsIsBitwiseTheSame) {
  const Workplace place;
  runWhole(place, 10);
  ASSERT_EQ(
      place.tessera({"run", "whole.toml", "-q", "--out", "parts", "--set", "time.max_steps=2"}).exitCode, 0);
  int step = 2;
  // Eight ranks have more than the six patches, so that some own nothing.
  for (const std::string ranks : {"4", "3", "8", "1"}) {
    step += 2;
    const ProgramResult run =
        place.tessera({"restart", "parts", "-q", "-n", ranks, "--threads", ranks == "1" ? "2" : "1", "--set",
                       "time.max_steps=" + std::to_string(step)});
    ASSERT_EQ(run.exitCode, 0) << run.err;
  }
  expectLikeWhole(place, "parts");
}

TEST(Restart, InOrderAndCheckedGiveTheSameBits) {
  const Workplace place;
  runWhole(place, 6);
  ASSERT_EQ(place
                .tessera({"run", "whole.toml", "-q", "--out", "parts", "--executor", "in-order", "--set",
                          "time.max_steps=3"})
                .exitCode,
            0);
  ASSERT_EQ(place.tessera({"restart", "parts", "-q", "--checked", "--set", "time.max_steps=6"}).exitCode, 0);
  expectLikeWhole(place, "parts");
}

TEST(Restart, FromAnOlderCheckpointCutsOffTheAbandonedFuture) {
  const Workplace place;
  runWhole(place, 6);
  ASSERT_EQ(place
                .tessera({"run", "whole.toml", "-q", "--out", "parts", "--set", "checkpoint.every_steps=2",
                          "--set", "time.max_steps=5"})
                .exitCode,
            0);

  const ProgramResult again = place.tessera({"restart", "parts", "--from", "4", "-q", "--set",
                                             "output.every_steps=3", "--set", "time.max_steps=6"});

  ASSERT_EQ(again.exitCode, 0) << again.err;
  EXPECT_FALSE(place.has("parts/out/fields_000005.hdf"));
  expectLikeWhole(place, "parts");
}

TEST(Restart, WithoutAStepRewritesNothing) {
  const Workplace place;
  runWhole(place, 4);
  std::map<std::filesystem::path, std::filesystem::file_time_type> before;
  const auto stamp = [&] {
    std::map<std::filesystem::path, std::filesystem::file_time_type> times;
    for (const char* folder : {"whole/out", "whole/checkpoints"}) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(place.path() / folder)) {
        times[entry.path()] = entry.last_write_time();
      }
    }
    times["history"] = std::filesystem::last_write_time(place.path() / "whole/history.csv");
    return times;
  };
  before = stamp();

  const ProgramResult again = place.tessera({"restart", "whole"});

  EXPECT_EQ(again.exitCode, 0) << again.err;
  EXPECT_EQ(stamp(), before);
  EXPECT_EQ(resultOf(place, "whole", "steps_taken"), "0");
  EXPECT_THAT(
      again.out,
      HasSubstr(
          "already reached its end; to continue further: tessera restart whole --set time.max_steps=..."));
}

TEST(Restart, RefusesADamagedNewestCheckpointByNameAndSaysHowToGoOn) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 6", "[checkpoint]\nevery_steps = 3"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  const auto file = place.path() / "small/checkpoints/ckpt-000006/rank-00000.dat";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);

  const ProgramResult refused = place.tessera({"restart", "small", "--set", "time.max_steps=7"});

  EXPECT_EQ(refused.exitCode, 3);
  EXPECT_THAT(refused.err, HasSubstr("ckpt-000006"));
  EXPECT_THAT(refused.err, HasSubstr("rank-00000.dat"));
  EXPECT_THAT(refused.err, HasSubstr("--from 3"));
  EXPECT_EQ(place.tessera({"restart", "small", "--from", "3", "-q"}).exitCode, 0);
}

TEST(Restart, RefusesAFlippedBitByFileAndBlock) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  const auto path = place.path() / "small/checkpoints/ckpt-000002/rank-00000.dat";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(600);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(600);
  file.put(byte);
  file.close();

  const ProgramResult refused = place.tessera({"restart", "small", "-n", "2", "--set", "time.max_steps=3"});

  EXPECT_EQ(refused.exitCode, 3);
  EXPECT_THAT(refused.err, HasSubstr("rank-00000.dat"));
  EXPECT_THAT(refused.err, HasSubstr("block"));
}

TEST(Restart, RefusesAChangedDomainWithBothValuesAndTakesAChangedCflNumber) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);

  const ProgramResult refused = place.tessera({"restart", "small", "--set", "grid.upper=[2.0, 1.0, 1.0]"});
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_THAT(refused.err, HasSubstr("grid.upper"));
  EXPECT_THAT(refused.err, HasSubstr("[2.0, 1.0, 1.0]"));
  EXPECT_THAT(refused.err, HasSubstr("[1.0, 1.0, 1.0]"));

  EXPECT_EQ(place.tessera({"restart", "small", "-q", "--set", "time.cfl=0.5", "--set", "time.max_steps=3"})
                .exitCode,
            0);
}

TEST(Restart, RefusesAnotherSetOfComponents) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  const ProgramResult refused =
      place.tessera({"restart", "small", "--set", "simulation.components=[\"wave\"]"});
  EXPECT_EQ(refused.exitCode, 2);
}

TEST(Restart, OfAFolderThatIsNoRunIsThree) {
  const Workplace place;
  std::filesystem::create_directory(place.path() / "empty");
  for (const std::string run : {"empty", "missing"}) {
    const ProgramResult refused = place.tessera({"restart", run});
    EXPECT_EQ(refused.exitCode, 3) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("not the folder of a run"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(place.path() / "empty"));
}

TEST(Restart, FromAStepWithoutCheckpointNamesThoseThatAreThere) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 4", "[checkpoint]\nevery_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  const ProgramResult refused = place.tessera({"restart", "small", "--from", "3"});
  EXPECT_EQ(refused.exitCode, 3);
  EXPECT_THAT(refused.err, HasSubstr("4, 2"));
}

}  // namespace
}  // namespace tessera::test
