#include <filesystem>

#include <gtest/gtest.h>

#include "tests/decks/repository_decks.hpp"
#include "tests/regression/run_program.hpp"

namespace tessera::test {
namespace {

class RestartOfEveryDeck : public testing::TestWithParam<std::string> {
 protected:
  ProgramResult tessera(const std::string& command, const std::string& what, int steps,
                        const std::string& ranks, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{
        command, what, "-q", "-n", ranks, "--set", "time.max_steps=" + std::to_string(steps)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return place_.tessera(arguments, 120.0);
  }

  Workplace place_;
};

TEST_P(RestartOfEveryDeck, StoppedAndRestartedOnOtherRanksIsBitwiseTheUnbrokenRun) {
  ASSERT_EQ(tessera("run", pathOfDeck(GetParam()), 5, "1", {"--out", "whole"}).exitCode, 0);

  ASSERT_EQ(tessera("run", pathOfDeck(GetParam()), 0, "2", {"--out", "parts"}).exitCode, 0);
  ASSERT_EQ(tessera("restart", "parts", 1, "3").exitCode, 0);
  ASSERT_EQ(tessera("restart", "parts", 3, "1").exitCode, 0);
  ASSERT_EQ(tessera("restart", "parts", 4, "8", {"--threads", "1"}).exitCode, 0);
  ASSERT_EQ(tessera("restart", "parts", 5, "4").exitCode, 0);

  const ProgramResult compared = place_.tessera({"compare", "--exact", "whole", "parts"});
  EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
  EXPECT_EQ(place_.read("parts/history.csv"), place_.read("whole/history.csv"));
  for (const auto& file : std::filesystem::directory_iterator(place_.path() / "whole/out")) {
    const std::string name = "out/" + file.path().filename().string();
    EXPECT_TRUE(place_.read("parts/" + name) == place_.read("whole/" + name)) << name << ": other bytes";
  }
}

class EveryDeck : public testing::TestWithParam<std::string> {};

TEST_P(EveryDeck, PassesTheDeepCheckForAnyNumberOfRanks) {
  const Workplace place;
  for (const std::string ranks : {"1", "7", "64"}) {
    const ProgramResult check = place.tessera({"check", pathOfDeck(GetParam()), "--deep", "--ranks", ranks});
    EXPECT_EQ(check.exitCode, 0) << check.err;
  }
}

TESSERA_ON_COVERING_DECKS(RestartOfEveryDeck);
INSTANTIATE_TEST_SUITE_P(Inputs, EveryDeck, testing::ValuesIn(allDecks()), nameOfDeck);

}  // namespace
}  // namespace tessera::test
