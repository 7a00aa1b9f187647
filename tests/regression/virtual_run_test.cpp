#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/decks/repository_decks.hpp"
#include "tests/regression/run_program.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

const std::string kDeck =
    "[simulation]\ncomponents = ['levels']\n"
    "[grid]\ncells = [16, 8, 4]\npatches = [2, 2, 1]\nperiodic = [true, false, false]\n"
    "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 1, 1]\npatch_size = [8, 8, 8]\n"
    "[time]\ndt = 1\nmax_steps = 4\n"
    "[output]\nevery_steps = 2\n";

TEST(VirtualRun, WritesTheBytesOfTheInOrderRunForEverySeedAndNumberOfRanks) {
  const Workplace place;
  place.file("deck.toml", kDeck);
  ASSERT_EQ(place.tessera({"run", "deck.toml", "-q", "--executor", "in-order", "--out", "right"}).exitCode,
            0);

  for (const char* ranks : {"1", "3", "8"}) {
    const std::string out = std::string("ranks") + ranks;
    const ProgramResult run = place.tessera(
        {"run", "deck.toml", "-q", "--executor", "virtual", "--seed", "41", "--ranks", ranks, "--out", out});
    ASSERT_EQ(run.exitCode, 0) << run.err;
    for (const char* file : {"/out/fields_000000.hdf", "/out/fields_000004.hdf", "/history.csv"}) {
      EXPECT_EQ(place.read(out + file), place.read(std::string("right") + file))
          << ranks << " ranks, " << file;
    }
    EXPECT_THAT(place.read(out + "/provenance.json"), HasSubstr("virtual, seed 41"));
  }
}

class VirtualRunOfEveryDeck : public testing::TestWithParam<std::string> {};

TEST_P(VirtualRunOfEveryDeck, WritesTheBytesOfTheInOrderRun) {
  const Workplace place;
  const auto run = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "run", pathOfDeck(GetParam()), "-q", "--set", "time.max_steps=2", "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = place.tessera(arguments);
    ASSERT_EQ(result.exitCode, 0) << result.err;
  };
  run("right", {"--executor", "in-order"});

  for (const char* seed : {"2", "5", "11"}) {
    const std::string out = std::string("seed") + seed;
    run(out, {"--executor", "virtual", "--seed", seed, "--ranks", std::to_string(1 + std::stoi(seed) % 8),
              "--halos", std::stoi(seed) == 2 ? "in-place" : "scratch"});
    EXPECT_EQ(place.read(out + "/history.csv"), place.read("right/history.csv"));
    for (const auto& file : std::filesystem::directory_iterator(place.path() / "right/out")) {
      const std::string name = "/out/" + file.path().filename().string();
      EXPECT_TRUE(place.read(out + name) == place.read("right" + name)) << name << ": other bytes";
    }
  }
}

TESSERA_ON_COVERING_DECKS(VirtualRunOfEveryDeck);

TEST(VirtualRun, MoreThanEightRanksAreRefused) {
  const Workplace place;
  place.file("deck.toml", kDeck);
  const ProgramResult run = place.tessera({"run", "deck.toml", "--executor", "virtual", "--ranks", "9"});
  EXPECT_EQ(run.exitCode, 2);
  EXPECT_THAT(run.err, HasSubstr("simulates 1 to 8 ranks"));
}

}  // namespace
}  // namespace tessera::test
