#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "core/transport/loopback_transport.hpp"
#include "scheduler/engine/kinds/adder.hpp"
#include "scheduler/engine/kinds/shipped.hpp"
#include "scheduler/engine/kinds/spin.hpp"
#include "tools/ensemble/ensemble_plan.hpp"
#include "tools/ensemble/ensemble_run.hpp"
#include "tools/ensemble/incomplete_beta.hpp"
#include "tools/ensemble/long_tasks.hpp"
#include "tools/ensemble/replica_exchange.hpp"
#include "tools/ensemble/stage_run.hpp"

namespace tessera::ensemble {
namespace {

using ::testing::HasSubstr;

/// A folder for one test, gone afterwards.
class Place {
 public:
  Place() {
    std::string name = (std::filesystem::temp_directory_path() / "ensemble_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Place() { std::filesystem::remove_all(path_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path_ / name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string at(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Ended {
  int exitCode = -1;
  std::string screen;
};

/// The deck on so many ranks, threads of this process.
Ended run(const EnsembleRequest& request, int ranks) {
  LoopbackWorld world(ranks);
  std::vector<Ended> runs(static_cast<std::size_t>(ranks));
  std::vector<std::string> faults(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto n = static_cast<std::size_t>(rank);
      std::ostringstream screen;
      try {
        runs[n].exitCode = runEnsemble(request, world.transport(rank), screen);
      } catch (const Error& error) {
        faults[n] = error.what();
      }
      runs[n].screen = screen.str();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
  for (const Ended& each : runs) EXPECT_EQ(each.exitCode, runs[0].exitCode);
  return runs[0];
}

const char* const kSweep = R"(
[ensemble]
retries = 1
[[stages]]
name = "sums"
kind = "adder"
values = { a = 100 }
sweep = { b = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }
[[stages]]
name = "swing"
kind = "molecular_dynamics"
after = ["sums"]
values = { particles = 20, steps = 10, box = 3.0 }
sweep = { seed = [1, 2, 3], dt = [0.01, 0.02] }
)";

TEST(Ensemble, ResultsAreTheSameBytesForAnyRanksAndWorkers) {
  const Place place;
  const std::string deck = place.write("sweep.toml", kSweep);
  std::string expected;
  for (const auto& [ranks, threads] : {std::pair{1, 1}, std::pair{1, 3}, std::pair{3, 1}}) {
    const std::string out = place.at("run" + std::to_string(ranks) + std::to_string(threads));
    const Ended done = run({deck, out, threads}, ranks);
    EXPECT_EQ(done.exitCode, 0) << done.screen;
    const std::string name = "run" + std::to_string(ranks) + std::to_string(threads);
    const std::string files = place.read(name + "/sums.csv") + place.read(name + "/swing.csv");
    if (expected.empty()) expected = files;
    EXPECT_EQ(files, expected);
  }
  EXPECT_THAT(expected, HasSubstr("index,status,code,a,b,sum\n0,done,0,100,1,101\n1,done,0,100,2,102\n"));
  EXPECT_THAT(expected, HasSubstr("\n5,done,0,3,20,10,0.02,3,"));
}

TEST(Ensemble, AnInterruptedRunDoesOnlyWhatIsMissing) {
  const Place place;
  const std::string deck = place.write("sweep.toml", kSweep);
  EXPECT_EQ(run({deck, place.at("whole"), 1}, 1).exitCode, 0);
  const std::string whole = place.read("whole/sums.csv");
  // A folder as a killed run leaves it: some lines, not in order, one of them wrong so that one can tell it
  // is kept, one of a task that failed, and a torn one.
  std::filesystem::create_directory(place.at("part"));
  place.write("part/deck.toml", kSweep);
  place.write("part/sums.csv",
              "index,status,code,a,b,sum\n7,done,0,100,8,108\n2,done,0,100,3,777\n9,failed,3,100,10,\n"
              "4,done,0,100,5,1");
  const Ended second = run({deck, place.at("part"), 2}, 1);
  EXPECT_EQ(second.exitCode, 0);
  EXPECT_THAT(second.screen, HasSubstr("2 of them were done by an earlier run"));
  std::string expected = whole;
  expected.replace(expected.find(",103\n"), 5, ",777\n");
  EXPECT_EQ(place.read("part/sums.csv"), expected);
}

TEST(Ensemble, FailedTasksAreRetriedListedAndHoldBackWhatWaitsForThem) {
  const Place place;
  const std::string deck = place.write("bad.toml", R"(
[ensemble]
retries = 2
[[stages]]
name = "bad"
kind = "failing"
sweep = { code = [11, 12] }
[[stages]]
name = "behind"
kind = "adder"
after = ["bad"]
values = { a = 1, b = 2 }
[[stages]]
name = "apart"
kind = "adder"
values = { a = 1, b = 2 }
)");
  const Ended done = run({deck, place.at("out"), 1}, 2);
  EXPECT_EQ(done.exitCode, 4);
  EXPECT_THAT(done.screen, HasSubstr("stage bad: 0 of 2 done, 2 failed\n  tasks that have failed: 0 1\n"));
  EXPECT_THAT(done.screen, HasSubstr("stage behind: left out"));
  EXPECT_EQ(place.read("out/bad.csv"), "index,status,code,code\n0,failed,11,11\n1,failed,12,12\n");
  EXPECT_EQ(place.read("out/apart.csv"), "index,status,code,a,b,sum\n0,done,0,1,2,3\n");
}

/// How often a task of the kind below has been made, by its only value.
std::map<double, int>& madeTasks() {
  static std::map<double, int> made;
  return made;
}

/// A task fails as often as its value says, then is done.
engine::Task flakyTask(std::span<const double> values) {
  using Adder = engine::Adder<engine::TaskWidth::Lane>;
  const engine::Program& program = engine::shippedProgram();
  if (++madeTasks()[values[0]] <= values[0])
    return engine::taskOf<engine::Failing>(program.numberOf<engine::Failing>(), {9});
  return engine::taskOf<Adder>(program.numberOf<Adder>(), {1, 2});
}

TEST(Ensemble, ATaskThatFailsIsTriedAgainAsOftenAsTheDeckSays) {
  madeTasks().clear();
  const EnsembleKind flaky{"flaky", {"failures"}, {"sum"}, &flakyTask, [](const engine::Finished& finished) {
                             return std::vector<double>{static_cast<double>(finished.result[0])};
                           }};
  const Stage stage{"flaky", &flaky, {}, {{0.0, 1.0, 2.0, 3.0}}};
  const Place place;
  StageResults results(place.at(""), stage);
  engine::Engine engine(engine::shippedProgram(), {.threads = 1, .capacity = 16, .memoryBytes = 1 << 16});
  engine::EngineTeam team({&engine});
  LoopbackWorld world(1);
  const StageOutcome outcome =
      runStage(stage, 2, &results, team, world.transport(0), [](const StageOutcome&) {});
  results.finish();
  EXPECT_EQ(outcome.done, 3);
  EXPECT_EQ(outcome.failed, 1);
  EXPECT_EQ(place.read("flaky.csv"),
            "index,status,code,failures,sum\n0,done,0,0,3\n1,done,0,1,3\n2,done,0,2,3\n3,failed,9,3,\n");
  const std::map<double, int> expected{{0.0, 1}, {1.0, 2}, {2.0, 3}, {3.0, 3}};
  EXPECT_EQ(madeTasks(), expected);
}

TEST(Ensemble, TasksThatGoOnWhileNothingEndsAreNamed) {
  engine::Engine engine(engine::shippedProgram(), {.threads = 1, .capacity = 16, .memoryBytes = 1 << 16});
  engine::EngineTeam team({&engine});
  const engine::Task spin =
      engine::taskOf<engine::Spin>(engine.program().numberOf<engine::Spin>(), {60'000'000'000, 0});
  const std::uint64_t tag = 17;
  ASSERT_EQ(team.push({&spin, 1}, {&tag, 1}), 1);
  LongTasks longTasks(team, std::chrono::milliseconds(50));
  std::ostringstream screen;
  for (int n = 0; n < 1000 && screen.str().empty(); ++n) {
    longTasks.tell({3, 0}, screen);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_THAT(screen.str(), HasSubstr("  task 17 of kind spin has run for 0 s"));
}

TEST(Ensemble, AFolderOfAnotherDeckIsLeftAlone) {
  const Place place;
  const std::string deck = place.write("sweep.toml", kSweep);
  std::filesystem::create_directory(place.at("out"));
  place.write("out/deck.toml", "other");
  LoopbackWorld world(1);
  std::ostringstream screen;
  EXPECT_THROW(runEnsemble({deck, place.at("out"), 1}, world.transport(0), screen), UsageError);
}

TEST(EnsembleDeck, SaysEverythingThatIsWrongWithItsPlace) {
  const Deck deck = Deck::fromText(R"([[stages]]
name = "a b"
kind = "ader"
[[stages]]
name = "x"
kind = "adder"
after = ["y"]
values = { a = 0.5, c = 1 }
)",
                                   "bad.toml");
  try {
    readPlan(deck);
    FAIL() << "the deck was taken";
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(), HasSubstr("did you mean 'adder'"));
    EXPECT_THAT(error.message(),
                HasSubstr("bad.toml:7:10: error: 'after' names stages that stand before this one"));
    EXPECT_THAT(error.message(), HasSubstr("'a' is a whole number from -1000000000 to 1000000000"));
    EXPECT_THAT(error.message(), HasSubstr("unknown key 'c'"));
    EXPECT_THAT(error.message(), HasSubstr("gives no 'b'"));
  }
}

TEST(ReplicaExchange, ExactAcceptancesAreThoseOfTheReference) {
  const std::tuple<int, double, double> values[] = {{3, 1.1, .9394},   {3, 1.5, .7471},  {3, 2.0, .5836},
                                                    {30, 1.05, .8946}, {30, 1.1, .7958}, {30, 1.2, .6207},
                                                    {30, 1.5, .2724},  {30, 2.0, .0623}, {300, 1.05, .6729},
                                                    {300, 1.1, .4096}, {300, 1.2, .1149}};
  for (const auto& [freedoms, ratio, exact] : values) {
    EXPECT_NEAR(exactAcceptance(ratio, freedoms), exact, 6e-5) << freedoms << ' ' << ratio;
  }
}

ReplicaExchangeReport exchange(const ReplicaExchangePlan& plan, int ranks, int threads) {
  LoopbackWorld world(ranks);
  std::vector<ReplicaExchangeReport> reports(static_cast<std::size_t>(ranks));
  std::vector<std::thread> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.emplace_back([&, rank] {
      engine::Engine engine(engine::shippedProgram(),
                            {.threads = threads, .capacity = 64, .memoryBytes = 1 << 20});
      reports[static_cast<std::size_t>(rank)] = runReplicaExchange(plan, engine, world.transport(rank));
    });
  }
  for (std::thread& thread : all) thread.join();
  return reports[0];
}

/// The deck that ships, the numbers of its report.
TEST(ReplicaExchange, TheDeckHasTheExactAcceptanceOfEachPairWithinThreeSigmas) {
  const Deck deck = Deck::fromFile(TESSERA_SOURCE_DIR "/inputs/ensemble/replica_exchange.toml");
  const ReplicaExchangePlan plan = readReplicaExchange(deck);
  const ReplicaExchangeReport report = exchange(plan, 1, 1);
  ASSERT_EQ(report.pairs.size(), 5U);
  const double exact[] = {.7958, .6207, .6207, .2724, .7958};  // of the ratios 1.1, 1.2, 1.2, 1.5 and 1.1
  for (std::size_t n = 0; n < report.pairs.size(); ++n) {
    EXPECT_NEAR(report.pairs[n].exact, exact[n], 6e-5);
    EXPECT_LT(std::abs(report.pairs[n].sigmas()), 3.0) << "pair " << n;
  }
  for (const TemperatureReport& each : report.temperatures) {
    EXPECT_NEAR(each.meanPotential, each.exactMean,
                3 * std::sqrt(15.0 * 1.5 / plan.rounds) * each.temperature);
  }
  EXPECT_GT(report.roundTrips, 10);
}

/// Few and many degrees of freedom: broad and narrow distributions of the energy.
TEST(ReplicaExchange, MeansAndAcceptancesAreExactForThreeAndThreeHundredFreedoms) {
  const std::pair<ReplicaExchangePlan, std::vector<double>> cases[] = {
      {{{1.0, 1.1, 1.65, 3.3}, 3, 3000, 20, 5}, {.9394, .7471, .5836}},
      {{{1.0, 1.05, 1.155, 1.386}, 300, 500, 20, 6}, {.6729, .4096, .1149}}};
  for (const auto& [plan, exact] : cases) {
    SCOPED_TRACE(std::to_string(plan.freedoms) + " degrees of freedom");
    const ReplicaExchangeReport report = exchange(plan, 2, 1);
    for (std::size_t n = 0; n < report.pairs.size(); ++n) {
      EXPECT_NEAR(report.pairs[n].exact, exact[n], 6e-5);
      EXPECT_LT(std::abs(report.pairs[n].sigmas()), 3.0) << "pair " << n;
    }
    // The potential energy is Gamma-distributed with mean f T / 2 and variance f T^2 / 2.
    for (const TemperatureReport& each : report.temperatures) {
      EXPECT_NEAR(each.meanPotential, plan.freedoms * each.temperature / 2,
                  3 * std::sqrt(plan.freedoms * 0.5 / plan.rounds) * each.temperature);
    }
    EXPECT_GT(report.roundTrips, 3);
  }
}

/// Stretches far shorter than the friction's time keep the velocities that a swap leaves: their rescaling has
/// to be right for the means to be. Without it the coldest is 27 % too warm and the hottest 13 % too cold.
TEST(ReplicaExchange, MeansAreExactWhereStretchesAreTooShortToForgetTheVelocities) {
  const ReplicaExchangePlan plan{{1.0, 2.0, 4.0}, 3, 10000, 1, 11};
  const ReplicaExchangeReport report = exchange(plan, 1, 1);
  for (const TemperatureReport& each : report.temperatures) {
    EXPECT_NEAR(each.meanPotential, 1.5 * each.temperature, 0.06 * 1.5 * each.temperature);
  }
}

TEST(ReplicaExchange, EvenAndOddPairsTakeTurns) {
  for (const std::int32_t rounds : {1, 2, 3, 4}) {
    const ReplicaExchangeReport report = exchange({{1.0, 1.2, 1.5, 2.0, 2.2}, 3, rounds, 1, 9}, 1, 1);
    for (std::size_t n = 0; n < report.pairs.size(); ++n) {
      EXPECT_EQ(report.pairs[n].attempts, n % 2 == 0 ? (rounds + 1) / 2 : rounds / 2) << rounds << ' ' << n;
    }
  }
}

/// Whether each pair swapped in the first exchange of a run.
std::vector<bool> firstExchange(std::vector<double> temperatures, std::uint64_t seed,
                                engine::Engine& engine) {
  LoopbackWorld world(1);
  const ReplicaExchangeReport report =
      runReplicaExchange({std::move(temperatures), 3, 1, 1, seed}, engine, world.transport(0));
  std::vector<bool> accepted;
  for (const PairReport& pair : report.pairs) accepted.push_back(pair.accepted != 0);
  return accepted;
}

/// Pairs of one exchange share nothing, so both swap as often as independent events do: p^2 of all exchanges.
/// With one draw for all pairs it would be 0.17 in place of 0.12, eleven standard deviations more.
TEST(ReplicaExchange, PairsOfOneExchangeSwapIndependently) {
  engine::Engine engine(engine::shippedProgram(),
                        {.form = engine::EngineForm::Stepped, .capacity = 64, .memoryBytes = 1 << 20});
  constexpr int kRuns = 6000;
  int first = 0;
  int second = 0;
  int both = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const std::vector<bool> swapped = firstExchange({1.0, 4.0, 8.0, 32.0}, seed, engine);
    first += swapped[0] ? 1 : 0;
    second += swapped[2] ? 1 : 0;
    both += swapped[0] && swapped[2] ? 1 : 0;
  }
  const double exact = exactAcceptance(4.0, 3);
  const auto expectShare = [](int count, double share) {
    EXPECT_NEAR(static_cast<double>(count) / kRuns, share, 4 * std::sqrt(share * (1 - share) / kRuns));
  };
  expectShare(first, exact);
  expectShare(second, exact);
  expectShare(both, exact * exact);
}

/// The draw of a pair is numbered by the exchange and the pair: what other pairs do, and whether they need a
/// draw at all, changes nothing for it.
TEST(ReplicaExchange, WhetherAPairSwapsDoesNotDependOnOtherPairs) {
  engine::Engine engine(engine::shippedProgram(),
                        {.form = engine::EngineForm::Stepped, .capacity = 64, .memoryBytes = 1 << 20});
  int differ = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const std::vector<bool> close = firstExchange({1.0, 1.01, 8.0, 32.0}, seed, engine);
    const std::vector<bool> wide = firstExchange({1.0, 7.0, 8.0, 32.0}, seed, engine);
    EXPECT_EQ(close[2], wide[2]) << "seed " << seed;
    differ += close[0] == wide[0] ? 0 : 1;
  }
  EXPECT_GT(differ, 50);
}

TEST(ReplicaExchange, TheReportIsTheSameForAnyRanksAndWorkers) {
  const ReplicaExchangePlan plan{{1.0, 1.2, 1.5, 2.0, 2.2}, 3, 100, 5, 9};
  const ReplicaExchangeReport expected = exchange(plan, 1, 1);
  for (const auto& [ranks, threads] : {std::pair{1, 3}, std::pair{2, 1}, std::pair{3, 2}}) {
    const ReplicaExchangeReport report = exchange(plan, ranks, threads);
    EXPECT_EQ(report.roundTrips, expected.roundTrips);
    for (std::size_t n = 0; n < plan.temperatures.size(); ++n) {
      EXPECT_EQ(report.temperatures[n].meanPotential, expected.temperatures[n].meanPotential);
    }
    for (std::size_t n = 0; n + 1 < plan.temperatures.size(); ++n) {
      EXPECT_EQ(report.pairs[n].accepted, expected.pairs[n].accepted);
    }
  }
}

}  // namespace
}  // namespace tessera::ensemble
