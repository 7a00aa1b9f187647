#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/regression/run_program.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

const std::string kDeck =
    "[simulation]\ncomponents = ['levels']\n"
    "[grid]\ncells = [16, 8, 4]\npatches = [2, 2, 1]\nperiodic = [true, false, false]\n"
    "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 1, 1]\npatch_size = [8, 8, 8]\n"
    "[[grid.level]]\nlower = [0.4, 0.5, 0.2]\nupper = [0.6, 0.75, 0.8]\npatch_size = [8, 8, 8]\n"
    "[time]\ndt = 1\n"
    "[output]\nevery_steps = 2\n";

TEST(SeveralLevels, ARestartIsBitwiseTheUnbrokenRun) {
  const Workplace place;
  place.file("whole.toml", kDeck);
  ASSERT_EQ(place.tessera({"run", "whole.toml", "-q", "--set", "time.max_steps=5"}).exitCode, 0);
  ASSERT_EQ(place
                .tessera({"run", "whole.toml", "-q", "-n", "3", "--threads", "1", "--out", "parts", "--set",
                          "time.max_steps=3"})
                .exitCode,
            0);

  // With eight ranks some have no patch of a level, and some have none at all.
  ASSERT_EQ(
      place.tessera({"restart", "parts", "-q", "-n", "8", "--threads", "1", "--set", "time.max_steps=4"})
          .exitCode,
      0);
  const ProgramResult again =
      place.tessera({"restart", "parts", "-q", "-n", "2", "--threads", "1", "--set", "time.max_steps=5"});

  ASSERT_EQ(again.exitCode, 0) << again.err;
  const ProgramResult compared = place.tessera({"compare", "--exact", "whole", "parts"});
  EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
  EXPECT_EQ(place.read("parts/history.csv"), place.read("whole/history.csv"));
  EXPECT_THAT(place.read("parts/history.csv"), HasSubstr("\n5,5,1,0\n"));
}

// 128 cells of level 0, 192 of level 1, which takes two steps in one of level 0 where it has its own.
TEST(SeveralLevels, ACellIsCountedInEachStepOfItsLevel) {
  const Workplace place;
  place.file("run.toml",
             "[simulation]\ncomponents = ['heat']\n[grid]\ncells = [16, 8, 1]\n"
             "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 1, 1]\n"
             "[heat]\nconductivity = 1\ninitial = 'x'\n[time]\nmax_steps = 3\ncfl = 0.5\n");
  const auto counted = [&](const std::string& subcycle) {
    EXPECT_EQ(place.tessera({"run", "run.toml", "-q", "--out", subcycle, "--set", "amr.subcycle=" + subcycle})
                  .exitCode,
              0);
    return std::stod(resultOf(place, subcycle, "cells_per_second")) *
           std::stod(resultOf(place, subcycle, "wall_seconds"));
  };

  EXPECT_NEAR(counted("false"), 3.0 * (128 + 192), 0.1);
  EXPECT_NEAR(counted("true"), 3.0 * (128 + 2 * 192), 0.1);
}

TEST(SeveralLevels, TheResolvedDeckGivesTheSameRun) {
  const Workplace place;
  place.file("whole.toml", kDeck);
  ASSERT_EQ(place.tessera({"run", "whole.toml", "-q", "--set", "time.max_steps=2"}).exitCode, 0);
  const std::string resolved = place.read("whole/resolved.toml");
  EXPECT_THAT(resolved, HasSubstr("[[grid.level]]"));
  place.file("again.toml", resolved);

  const ProgramResult again = place.tessera({"run", "again.toml", "-q"});

  ASSERT_EQ(again.exitCode, 0) << again.err;
  EXPECT_EQ(place.tessera({"compare", "--exact", "whole", "again"}).exitCode, 0);
}

TEST(SeveralLevels, AnotherBoxIsAnotherMesh) {
  const Workplace place;
  place.file("whole.toml", kDeck);
  ASSERT_EQ(place.tessera({"run", "whole.toml", "-q", "--set", "time.max_steps=1"}).exitCode, 0);
  std::string deck = place.read("whole/deck.toml");
  deck.replace(deck.find("upper = [0.6,"), 13, "upper = [0.5,");
  place.file("whole/deck.toml", deck);

  EXPECT_NE(place.tessera({"restart", "whole", "-q"}).exitCode, 0);
}

TEST(SeveralLevels, CheckTellsOfThem) {
  const Workplace place;
  place.file("whole.toml", kDeck);

  const ProgramResult check =
      place.tessera({"check", "--deep", "whole.toml", "--ranks", "3", "--set", "time.max_steps=1"});

  EXPECT_EQ(check.exitCode, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr("level 0  512 cells in 4 patches"));
  EXPECT_THAT(check.out, HasSubstr("level 1  1536 cells in 4 patches"));
  EXPECT_THAT(check.out, HasSubstr("reads New levels.stamp wholeLevel(0)"));
  EXPECT_THAT(check.out, HasSubstr("reads New levels.stamp fromFiner()"));
  EXPECT_THAT(check.out, HasSubstr("reads New levels.stamp fromCoarser(1)"));
}

}  // namespace
}  // namespace tessera::test
