#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/scheduler/engine/engine_rig.hpp"

namespace tessera::engine {
namespace {

using namespace std::chrono_literals;
using namespace tessera::engine::testing;
using ::testing::HasSubstr;

class EngineForms : public ::testing::TestWithParam<EngineOptions> {};
INSTANTIATE_TEST_SUITE_P(All, EngineForms, ::testing::ValuesIn(forms()), [](const auto& info) {
  std::string name = formName(info.param);
  std::erase(name, ' ');
  return name;
});

TEST_P(EngineForms, ATaskGivesItsResultOnce) {
  Engine engine(shippedProgram(), GetParam());
  const auto ticket = engine.submit<LaneAdder>({2, 3});
  EXPECT_EQ(engine.wait(ticket).result.sum, 5);
  EXPECT_THROW(engine.wait(ticket), UsageError);
}

TEST_P(EngineForms, TasksOfEveryWidthRunSideBySide) {
  Engine engine(shippedProgram(), GetParam());
  const auto lane = engine.submit<LaneAdder>({1, 1});
  const auto warp = engine.submit<WarpAdder>({2, 2});
  const auto block = engine.submit<BlockAdder>({3, 3});
  EXPECT_EQ(engine.wait(lane).result.sum, 2);
  EXPECT_EQ(engine.wait(warp).result.sum, 4);
  EXPECT_EQ(engine.wait(block).result.sum, 6);
}

TEST_P(EngineForms, ManyMoreTasksThanRoomComeBackOnceEach) {
  Engine engine(shippedProgram(), GetParam());
  EXPECT_TRUE(addersComeBack(engine, engine.program().numberOf("adder"), 20'000));
  EXPECT_TRUE(addersComeBack(engine, engine.program().numberOf("adder_warp"), 5'000));
  EXPECT_EQ(engine.underWay(), 0);
}

TEST_P(EngineForms, SubmitAllWaitsForRoomAndKeepsTheOrderOfTheTickets) {
  Engine engine(shippedProgram(), GetParam());
  std::vector<WarpAdder::Arguments> arguments;
  for (std::int64_t n = 0; n < 64; ++n) arguments.push_back({n, n});
  const auto tickets = engine.submitAll<WarpAdder>(arguments);
  for (std::int64_t n = 63; n >= 0; --n) {
    EXPECT_EQ(engine.wait(tickets[static_cast<std::size_t>(n)]).result.sum, 2 * n);
  }
}

TEST_P(EngineForms, AnEngineFullOfUnfetchedResultsSaysSo) {
  Engine engine(shippedProgram(), GetParam());
  try {
    for (int n = 0; n < 65; ++n) engine.submit<LaneAdder>({n, n});
    FAIL() << "there was room for 65 tasks of 64";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), HasSubstr("full of 64 tasks whose results nobody has fetched"));
  }
}

TEST_P(EngineForms, TheErrorOfATaskIsAValueAndTheOthersGoOn) {
  Engine engine(shippedProgram(), GetParam());
  const auto bad = engine.submit<Failing>({42});
  const auto good = engine.submit<LaneAdder>({1, 2});
  const auto outcome = engine.wait(bad);
  EXPECT_EQ(outcome.status, TaskStatus::Failed);
  EXPECT_EQ(outcome.code, 42U);
  EXPECT_EQ(engine.wait(good).result.sum, 3);
}

TEST_P(EngineForms, AnUnknownKindIsAnOutcome) {
  Engine engine(shippedProgram(), GetParam());
  Task task;
  task.kind = 63;
  const std::uint64_t tag = 9;
  ASSERT_EQ(engine.push({&task, 1}, {&tag, 1}), 1);
  Finished end;
  while (engine.poll({&end, 1}) == 0) std::this_thread::yield();
  EXPECT_EQ(end.tag, 9U);
  EXPECT_EQ(end.status, TaskStatus::UnknownKind);
}

TEST_P(EngineForms, DataGoesInAndOut) {
  Engine engine(shippedProgram(), GetParam());
  constexpr std::int64_t kCount = 1000;
  std::vector<double> x(kCount), y(kCount), z(kCount);
  double expected = 0.0;
  for (std::int64_t n = 0; n < kCount; ++n) {
    x[static_cast<std::size_t>(n)] = static_cast<double>(n);
    y[static_cast<std::size_t>(n)] = 0.5;
    expected += static_cast<double>(n) + 0.5;
  }
  const std::int64_t bytes = kCount * std::int64_t{sizeof(double)};
  auto* block = static_cast<double*>(engine.allocate(3 * bytes));
  engine.copyIn(block, x.data(), bytes);
  engine.copyIn(block + kCount, y.data(), bytes);
  const auto ticket = engine.submit<VectorAdd>({block, block + kCount, block + 2 * kCount, kCount});
  EXPECT_EQ(engine.wait(ticket).result.sum, expected);
  engine.copyOut(z.data(), block + 2 * kCount, bytes);
  EXPECT_EQ(z[999], 999.5);
  engine.release(block);
  EXPECT_EQ(engine.bytesInUse(), 0);
}

TEST_P(EngineForms, MemoryFaultsAreNamed) {
  Engine engine(shippedProgram(), GetParam());
  auto* block = static_cast<std::byte*>(engine.allocate(100));
  EXPECT_THROW(engine.release(block + 1), UsageError);
  EXPECT_THROW(engine.release(&engine), UsageError);
  engine.release(block);
  try {
    engine.release(block);
    FAIL() << "a block was given back twice";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), HasSubstr("given back already"));
  }
  void* const large = engine.allocate(200'000);  // several pages of their own
  engine.release(large);
  try {
    engine.release(large);
    FAIL() << "a large block was given back twice";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), HasSubstr("given back already"));
  }
  EXPECT_THROW(engine.allocate(std::int64_t{1} << 30), InternalError);
  EXPECT_THROW(engine.allocate(0), UsageError);
}

TEST_P(EngineForms, APageThatIsFullIsFollowedByAnother) {
  Engine engine(shippedProgram(), GetParam());
  std::set<void*> blocks;
  for (int n = 0; n < 3000; ++n) blocks.insert(engine.allocate(64));  // 1,024 a page
  EXPECT_EQ(blocks.size(), 3000U);
  EXPECT_EQ(engine.bytesInUse(), 3000 * 64);
  for (void* block : blocks) engine.release(block);
  EXPECT_EQ(engine.bytesInUse(), 0);
}

TEST_P(EngineForms, SpawnedTasksRunOnceEachThoughTheQueueIsFull) {
  Engine engine(shippedProgram(), GetParam());
  auto* sum = static_cast<std::uint64_t*>(engine.allocate(8));
  const std::uint64_t zero = 0;
  engine.copyIn(sum, &zero, 8);
  using Tree = SpawnTree<TaskWidth::Lane>;
  engine.wait(engine.submit<Tree>({reinterpret_cast<Tree::Sum*>(sum), 1, 100'000, 1}));
  engine.drain();
  std::uint64_t total = 0;
  engine.copyOut(&total, sum, 8);
  EXPECT_EQ(total, 100'000ULL * 100'001ULL / 2);
}

TEST_P(EngineForms, ADeadlineEndsATaskAsLate) {
  Engine engine(shippedProgram(), GetParam());
  const auto late = engine.submit<Spin>({2'000'000'000, 0}, 1000);
  EXPECT_EQ(engine.wait(late).status, TaskStatus::Late);
  const auto inTime = engine.submit<Spin>({100'000, 0}, 10'000'000);
  EXPECT_EQ(engine.wait(inTime).status, TaskStatus::Done);
}

TEST_P(EngineForms, AGraphRunsInTheOrderOfItsEdges) {
  Engine engine(shippedProgram(), GetParam());
  // z1 = x + y and z2 = z1 + z1 and so on: right only in order.
  constexpr int kLinks = 20;
  auto* block = static_cast<double*>(engine.allocate((kLinks + 1) * 8));
  const double one = 1.0;
  engine.copyIn(block, &one, 8);
  TaskGraph graph(engine.program());
  for (int n = 0; n < kLinks; ++n) {
    const auto node = graph.add<VectorAdd>({block + n, block + n, block + n + 1, 1});
    if (n > 0) graph.precede(node - 1, node);
  }
  GraphRun run = engine.submit(graph);
  engine.wait(run);
  EXPECT_EQ(run.outcome<VectorAdd>(kLinks - 1).result.sum, 1 << kLinks);
  engine.release(block);
  EXPECT_EQ(engine.bytesInUse(), 0);
}

TEST_P(EngineForms, WhatWaitsForAFailedTaskIsSkipped) {
  Engine engine(shippedProgram(), GetParam());
  TaskGraph graph(engine.program());
  const auto bad = graph.add<Failing>({7});
  const auto good = graph.add<LaneAdder>({1, 1});
  const auto both = graph.add<LaneAdder>({2, 2});
  const auto behind = graph.add<WarpAdder>({3, 3});
  const auto apart = graph.add<WarpAdder>({4, 4});
  graph.precede(bad, both);
  graph.precede(good, both);
  graph.precede(both, behind);
  graph.precede(good, apart);
  GraphRun run = engine.submit(graph);
  engine.wait(run);
  EXPECT_EQ(run.outcome<Failing>(bad).status, TaskStatus::Failed);
  EXPECT_EQ(run.outcome<LaneAdder>(both).status, TaskStatus::Skipped);
  EXPECT_EQ(run.outcome<WarpAdder>(behind).status, TaskStatus::Skipped);
  EXPECT_EQ(run.outcome<WarpAdder>(apart).result.sum, 8);
}

TEST_P(EngineForms, AGraphWithACycleIsRefused) {
  Engine engine(shippedProgram(), GetParam());
  TaskGraph graph(engine.program());
  for (int n = 0; n < 3; ++n) graph.add<LaneAdder>({n, n});
  graph.precede(0, 1);
  graph.precede(1, 2);
  graph.precede(2, 1);
  EXPECT_THROW(engine.submit(graph), UsageError);
  EXPECT_EQ(engine.underWay(), 0);
}

TEST_P(EngineForms, RunThenExitRunsWhatWasPushedAndCanDoSoAgain) {
  EngineOptions options = GetParam();
  options.mode = EngineMode::RunThenExit;
  Engine engine(shippedProgram(), options);
  for (int round = 0; round < 3; ++round) {
    std::vector<Ticket<WarpAdder>> tickets;
    for (std::int64_t n = 0; n < 50; ++n) tickets.push_back(engine.submit<WarpAdder>({n, round}));
    EXPECT_FALSE(engine.isDone(tickets[0]));
    engine.runQueue();
    for (std::int64_t n = 0; n < 50; ++n) {
      EXPECT_EQ(engine.wait(tickets[static_cast<std::size_t>(n)]).result.sum, n + round);
    }
  }
}

TEST_P(EngineForms, TwoEnginesLiveSideBySide) {
  Engine one(shippedProgram(), GetParam());
  Engine two(shippedProgram(), GetParam());
  const auto a = one.submit<LaneAdder>({1, 2});
  const auto b = two.submit<LaneAdder>({3, 4});
  EXPECT_EQ(two.wait(b).result.sum, 7);
  EXPECT_EQ(one.wait(a).result.sum, 3);
}

TEST_P(EngineForms, StartsAndEndsAgainAndAgain) {
  for (int n = 0; n < (GetParam().form == EngineForm::Cuda ? 1000 : 100); ++n) {
    Engine engine(shippedProgram(), GetParam());
    if (n % 3 == 0) continue;
    const auto ticket = engine.submit<WarpAdder>({n, n});
    if (n % 3 == 1) {
      EXPECT_EQ(engine.wait(ticket).result.sum, 2 * n);
    }
  }
}

TEST_P(EngineForms, ShortTasksGoOnBesideLongOnes) {
  Engine engine(shippedProgram(), GetParam());
  std::vector<Ticket<Spin>> slow;
  for (int n = 0; n < 2; ++n) slow.push_back(engine.submit<Spin>({100'000'000, 0}));
  EXPECT_TRUE(addersComeBack(engine, engine.program().numberOf("adder_warp"), 10'000));
  for (const auto& ticket : slow) EXPECT_EQ(engine.wait(ticket).status, TaskStatus::Done);
}

TEST(Engine, StartsAndEndsManyTimesWithTasksStillQueued) {
  for (int n = 0; n < 200; ++n) {
    Engine engine(shippedProgram(), {.threads = 2, .capacity = 16, .memoryBytes = 1 << 16});
    for (int task = 0; task < n % 16; ++task) engine.submit<LaneAdder>({n, task});
  }
}

TEST(Engine, ThreadsThatSubmitAndWaitDoNotDisturbEachOther) {
  Engine engine(shippedProgram(), {.threads = 2, .capacity = 64, .memoryBytes = 1 << 20});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t n = 0; n < 2000; ++n) {
        const auto ticket = engine.submit<LaneAdder>({n, t});
        if (n % 3 == 0) {
          auto* block = static_cast<std::int64_t*>(engine.allocate(64 << (n % 7)));
          *block = n;
          if (*block != n) ++wrong;
          engine.release(block);
        }
        if (engine.wait(ticket).result.sum != n + t) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(engine.bytesInUse(), 0);
}

TEST(Engine, ALongTaskDoesNotHoldBackShortOnes) {
  Engine engine(shippedProgram(), {.threads = 2, .capacity = 256, .memoryBytes = 1 << 16});
  const auto slow = engine.submit<Spin>({300'000'000, 0});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(addersComeBack(engine, 0, 10'000));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(engine.wait(slow).status, TaskStatus::Done);
}

/// Ends by itself in ten minutes, which is beyond the time that a test may take.
TEST(Engine, TheEndOfAnEngineEndsTasksThatAsk) {
  Engine engine(shippedProgram(), {.threads = 2, .capacity = 16, .memoryBytes = 1 << 16});
  engine.submit<Spin>({600'000'000'000, 0});
  while (engine.running().empty()) std::this_thread::yield();
}

TEST(Engine, AResultIsNotHeldBackByALongTaskThatWasTakenWithIt) {
  Engine engine(shippedProgram(), {.threads = 1, .capacity = 64, .memoryBytes = 1 << 16});
  constexpr std::uint64_t kMinute = 60'000'000'000;
  const auto first = engine.submit<Spin>({kMinute, 0});
  while (engine.running().empty()) std::this_thread::yield();
  std::vector<Spin::Arguments> arguments(32, {kMinute, 0});
  arguments[0] = {100'000, 0};
  const auto tickets = engine.submitAll<Spin>(arguments);
  engine.cancel(first);
  EXPECT_EQ(engine.wait(tickets[0]).status, TaskStatus::Done);
  for (std::size_t n = 1; n < tickets.size(); ++n) {
    EXPECT_FALSE(engine.isDone(tickets[n]));
    engine.cancel(tickets[n]);
  }
  for (std::size_t n = 1; n < tickets.size(); ++n)
    EXPECT_EQ(engine.wait(tickets[n]).status, TaskStatus::Cancelled);
}

TEST(Engine, NamesATaskThatDoesNotEndWithKindArgumentAndAge) {
  Engine engine(shippedProgram(), {.threads = 1, .capacity = 16, .memoryBytes = 1 << 16});
  const auto slow = engine.submit<Spin>({400'000'000, 0});
  std::vector<RunningTask> running;
  while (running.empty()) running = engine.running();
  std::this_thread::sleep_for(50ms);
  running = engine.running();
  ASSERT_EQ(running.size(), 1U);
  EXPECT_EQ(running[0].kind, "spin");
  EXPECT_EQ(running[0].firstArgument, 400'000'000U);
  EXPECT_GE(running[0].seconds, 0.04);
  engine.wait(slow);
  EXPECT_TRUE(engine.running().empty());
}

TEST(Engine, ACancelledTaskIsNotRun) {
  Engine engine(shippedProgram(), {.form = EngineForm::Stepped, .capacity = 16, .memoryBytes = 1 << 16});
  const auto kept = engine.submit<LaneAdder>({1, 1});
  const auto dropped = engine.submit<LaneAdder>({2, 2});
  engine.cancel(dropped);
  EXPECT_EQ(engine.wait(dropped).status, TaskStatus::Cancelled);
  EXPECT_EQ(engine.wait(kept).result.sum, 2);
  // The slot is free for another task, which the old word does not touch.
  for (int n = 0; n < 40; ++n)
    EXPECT_EQ(engine.wait(engine.submit<LaneAdder>({n, n})).status, TaskStatus::Done);
}

TEST(Engine, RefusesOptionsThatCannotBe) {
  EXPECT_THROW(Engine(shippedProgram(), {.capacity = 100}), UsageError);
  EXPECT_THROW(Engine(shippedProgram(), {.threads = -1}), UsageError);
  EXPECT_THROW(Engine(Program{}, {}), UsageError);
  try {
    static_cast<void>(shippedProgram().numberOf("subtracter"));
    FAIL() << "an unknown kind was found";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), HasSubstr("\"subtracter\"; it has adder, adder_warp"));
  }
}

TEST(Engine, TheSteppedFormRunsOneTaskATurn) {
  Engine engine(shippedProgram(), {.form = EngineForm::Stepped, .capacity = 16, .memoryBytes = 1 << 16});
  const auto first = engine.submit<LaneAdder>({1, 1});
  const auto second = engine.submit<LaneAdder>({2, 2});
  EXPECT_FALSE(engine.isDone(first));
  EXPECT_TRUE(engine.turn());
  EXPECT_TRUE(engine.isDone(first));
  EXPECT_FALSE(engine.isDone(second));
  EXPECT_TRUE(engine.turn());
  EXPECT_FALSE(engine.turn());
  EXPECT_TRUE(engine.isDone(second));
}

}  // namespace
}  // namespace tessera::engine
