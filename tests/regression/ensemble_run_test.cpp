// Ensembles by the program itself on ranks of MPI: killed at random moments, and the same bytes for any
// ranks.
#include <csignal>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/regression/run_program.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

constexpr int kTasksOfStage = 48;
constexpr int kMicrosOfTask = 60000;

/// A stage of tasks that sleep a little, each with a number of its own.
std::string sleepyDeck() {
  std::string deck = "[ensemble]\n[[stages]]\nname = \"sleepy\"\nkind = \"spin\"\nsweep = { micros = [";
  for (int n = 0; n < kTasksOfStage; ++n) deck += (n == 0 ? "" : ", ") + std::to_string(kMicrosOfTask + n);
  return deck + "] }\n";
}

/// The line of a task that has run.
std::string lineOf(int task, int micros) {
  return std::to_string(task) + ",done,0," + std::to_string(micros) + "\n";
}

/// Marks the results that are there, so that tasks that run again show; how many there are.
int markResults(const Workplace& place) {
  const std::string text = place.read("out/sleepy.csv");
  // A line that the kill has torn is none.
  std::istringstream whole(text.substr(0, text.rfind('\n') + 1));
  std::string marked;
  int count = 0;
  for (std::string line; std::getline(whole, line);) {
    const bool isResult = line.find(",done,") != std::string::npos;
    count += isResult ? 1 : 0;
    marked += (isResult ? line.substr(0, line.rfind(',')) + ",1" : line) + "\n";
  }
  place.file("out/sleepy.csv", marked);
  return count;
}

/// One of the ranks that a command has started, or the launcher: the last process but so many.
pid_t fromTheEnd(const RunningProgram& program, std::size_t least, std::size_t back) {
  const std::vector<pid_t> below = program.descendants();
  return below.size() < least ? -1 : below[below.size() - 1 - back];
}

TEST(EnsembleRun, AKilledRankEndsTheJobAndOnlyWhatIsMissingRunsAgain) {
  const unsigned seed = testSeed();
  SCOPED_TRACE("replay: TESSERA_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr std::size_t kRanks = 3;
  const Workplace place;
  place.file("sleepy.toml", sleepyDeck());
  int done = 0;
  for (const std::size_t victim : {std::size_t{0}, std::size_t{2}}) {
    RunningProgram program(
        Workplace::command({"ensemble", "-n", "3", "--threads", "1", "--out", "out", "-q", "sleepy.toml"}),
        place.path());
    const int wanted = done + 3 + static_cast<int>(random() % 6);
    ASSERT_TRUE(eventually([&] { return countOf(place.read("out/sleepy.csv"), ",done,") >= wanted; }));
    const pid_t rank = fromTheEnd(program, kRanks + 2, kRanks - 1 - victim);
    ASSERT_GT(rank, 0);
    ::kill(rank, SIGKILL);
    const ProgramResult run = program.wait();
    EXPECT_EQ(run.exitCode, 6) << run.out << run.err;
    EXPECT_THAT(run.err, HasSubstr("a rank of the job ended without a message"));
    done = markResults(place);
    ASSERT_LT(done, kTasksOfStage) << "the stage was over before the kill";
  }
  const std::string before = place.read("out/sleepy.csv");
  const ProgramResult last =
      place.tessera({"ensemble", "-n", "2", "--threads", "2", "--out", "out", "sleepy.toml"});
  EXPECT_EQ(last.exitCode, 0) << last.out << last.err;
  EXPECT_THAT(last.out, HasSubstr("  " + std::to_string(done) + " of them were done by an earlier run"));
  std::string expected = "index,status,code,micros\n";
  for (int task = 0; task < kTasksOfStage; ++task) {
    const bool ranBefore = ("\n" + before).find("\n" + lineOf(task, 1)) != std::string::npos;
    expected += lineOf(task, ranBefore ? 1 : kMicrosOfTask + task);
  }
  EXPECT_EQ(place.read("out/sleepy.csv"), expected);
}

TEST(EnsembleRun, AReplicaExchangeHasTheSameBytesOnAnyRanks) {
  const Workplace place;
  place.file("exchange.toml",
             "[replica_exchange]\ntemperatures = [1.0, 1.2, 1.5, 2.0]\nfreedoms = 6\nrounds = 60\nsteps = "
             "5\nseed = 3\n");
  for (const std::string ranks : {"1", "3"}) {
    const ProgramResult run = place.tessera(
        {"ensemble", "-n", ranks, "--threads", "1", "--out", "out" + ranks, "-q", "exchange.toml"});
    ASSERT_EQ(run.exitCode, 0) << run.err;
  }
  for (const char* file : {"/pairs.csv", "/temperatures.csv"}) {
    EXPECT_GT(countOf(place.read(std::string("out1") + file), "\n"), 3);
    EXPECT_EQ(place.read(std::string("out3") + file), place.read(std::string("out1") + file));
  }
}

}  // namespace
}  // namespace tessera::test
