// What an engine refuses, what it does where it is full, and how it shares out what waits.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/engine/engine_team.hpp"
#include "tests/scheduler/engine/engine_rig.hpp"

namespace tessera::engine {
namespace {

using namespace tessera::engine::testing;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kMinuteOfNanos = 60'000'000'000;

class EngineLimits : public ::testing::TestWithParam<EngineOptions> {};
INSTANTIATE_TEST_SUITE_P(All, EngineLimits, ::testing::ValuesIn(forms()), [](const auto& info) {
  std::string name = formName(info.param);
  std::erase(name, ' ');
  return name;
});

/// The sentence with which a call is refused.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.message();
  }
  return "nothing was refused";
}

/// A process with an engine, stopped for longer than its heartbeat while tasks run: workers of the host stop
/// and go on with it. A kernel, which goes on alone and ends, is `on_card.sh BUILD stop`.
TEST_P(EngineLimits, AProcessThatWasStoppedGoesOnWithItsTasks) {
  if (GetParam().form == EngineForm::Cuda)
    GTEST_SKIP() << "needs a GPU that no process before the fork has used";
  int begun[2];
  ASSERT_EQ(pipe(begun), 0);
  EngineOptions options = GetParam();
  options.heartbeatSeconds = 0.3;
  const pid_t child = fork();
  if (child == 0) {
    int status = 1;
    try {
      Engine engine(shippedProgram(), options);
      std::vector<Spin::Arguments> spins(8, {20'000'000, 0});
      const auto tickets = engine.submitAll<Spin>(spins);
      if (write(begun[1], "b", 1) != 1) std::_Exit(2);
      status = 0;
      for (const auto& ticket : tickets) {
        const auto outcome = engine.wait(ticket);
        if (outcome.status != TaskStatus::Done || outcome.result.nanos < 20'000'000) status = 3;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (engine.wait(engine.submit<WarpAdder>({2, 3})).result.sum != 5) status = 4;
    } catch (const Error&) {
      status = 5;
    }
    std::_Exit(status);
  }
  ASSERT_GT(child, 0);
  char byte = 0;
  ASSERT_EQ(read(begun[0], &byte, 1), 1);
  int status = 0;
  ASSERT_EQ(kill(child, SIGSTOP), 0);
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  ASSERT_EQ(kill(child, SIGCONT), 0);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(begun[0]);
  close(begun[1]);
}

TEST_P(EngineLimits, ASpentTicketIsRefusedByEveryCall) {
  Engine engine(shippedProgram(), GetParam());
  const auto ticket = engine.submit<LaneAdder>({2, 3});
  engine.wait(ticket);
  Finished end;
  EXPECT_THAT(refusal([&] { engine.isDone(ticket); }), HasSubstr("this ticket is spent"));
  EXPECT_THAT(refusal([&] { engine.cancel(ticket); }), HasSubstr("this ticket is spent"));
  EXPECT_THAT(refusal([&] {
                engine.fetch({ticket.slot, ticket.generation}, end);
              }),
              HasSubstr("this ticket is spent"));
  EXPECT_THAT(refusal([&] { engine.wait(Ticket<LaneAdder>{}); }), HasSubstr("this ticket is spent"));
}

TEST_P(EngineLimits, ResultsToBePolledStayWhileATicketIsWaitedFor) {
  Engine engine(shippedProgram(), GetParam());
  Task tasks[3];
  const std::uint64_t tags[3] = {7, 8, 9};
  for (std::int64_t n = 0; n < 3; ++n)
    tasks[n] = taskOf<LaneAdder>(engine.program().numberOf<LaneAdder>(), {n, 100});
  ASSERT_EQ(engine.push(tasks, tags), 3);
  const auto ticket = engine.submit<LaneAdder>({1, 2});
  engine.drain();
  EXPECT_EQ(engine.wait(ticket).result.sum, 3);
  EXPECT_EQ(engine.underWay(), 0);
  std::vector<std::uint64_t> sums;
  Finished end;
  while (engine.poll({&end, 1}) == 1) {
    EXPECT_EQ(end.result[0], end.tag - 7 + 100);
    sums.push_back(end.result[0]);
  }
  EXPECT_THAT(sums, UnorderedElementsAre(100U, 101U, 102U));
  EXPECT_THROW(engine.push(tasks, {tags, 2}), UsageError);
}

TEST_P(EngineLimits, AfterADrainEveryTaskHasEnded) {
  Engine engine(shippedProgram(), GetParam());
  const std::vector<Spin::Arguments> arguments(6, {5'000'000, 0});
  const auto tickets = engine.submitAll<Spin>(arguments);
  engine.drain();
  EXPECT_EQ(engine.underWay(), 0);
  for (const auto& ticket : tickets) EXPECT_TRUE(engine.isDone(ticket));
  for (const auto& ticket : tickets) EXPECT_EQ(engine.wait(ticket).status, TaskStatus::Done);
}

TEST_P(EngineLimits, AGraphAsLargeAsTheEngineRunsAndALargerOneIsRefused) {
  Engine engine(shippedProgram(), GetParam());
  TaskGraph graph(engine.program());
  for (int n = 0; n < 64; ++n) {
    graph.add<LaneAdder>({n, 1});
    if (n > 0) graph.precede(n - 1, n);
  }
  GraphRun run = engine.submit(graph);
  engine.wait(run);
  EXPECT_EQ(run.outcome<LaneAdder>(63).result.sum, 64);
  graph.add<LaneAdder>({64, 1});
  EXPECT_THAT(refusal([&] { engine.submit(graph); }),
              HasSubstr("the graph has 65 tasks, but the engine has room for 64"));
  EXPECT_EQ(engine.underWay(), 0);
  EXPECT_EQ(engine.bytesInUse(), 0);
}

TEST_P(EngineLimits, AGraphBesideUnfetchedResultsIsRefusedAndLeavesNothing) {
  Engine engine(shippedProgram(), GetParam());
  std::vector<Ticket<LaneAdder>> tickets;
  for (int n = 0; n < 10; ++n) tickets.push_back(engine.submit<LaneAdder>({n, 1}));
  TaskGraph graph(engine.program());
  for (int n = 0; n < 60; ++n) graph.add<LaneAdder>({n, 2});
  EXPECT_THAT(refusal([&] { engine.submit(graph); }), HasSubstr("beside results that nobody has fetched"));
  EXPECT_EQ(engine.underWay(), 0);
  EXPECT_EQ(engine.bytesInUse(), 0);
  for (const auto& ticket : tickets) engine.wait(ticket);
  GraphRun run = engine.submit(graph);
  engine.wait(run);
  EXPECT_EQ(run.outcome<LaneAdder>(59).result.sum, 61);
}

/// Graphs of two threads need 80 of 64 places: they wait for one another, and neither holds what the other
/// needs.
TEST_P(EngineLimits, GraphsOfTwoThreadsThatDoNotFitSideBySideTakeTurns) {
  if (GetParam().form == EngineForm::Stepped) return;  // an engine of one thread
  Engine engine(shippedProgram(), GetParam());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      TaskGraph graph(engine.program());
      for (int n = 0; n < 40; ++n) graph.add<LaneAdder>({n, t});
      for (int round = 0; round < 50; ++round) {
        GraphRun run = engine.submit(graph);
        engine.wait(run);
        if (run.outcome<LaneAdder>(39).result.sum != 39 + t) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(engine.bytesInUse(), 0);
}

TEST_P(EngineLimits, EdgesToTasksThatAreNotThereAreRefused) {
  Engine engine(shippedProgram(), GetParam());
  for (const auto& [before, after] : {std::pair{0, 2}, std::pair{2, 0}, std::pair{-1, 0}}) {
    TaskGraph graph(engine.program());
    graph.add<LaneAdder>({1, 1});
    graph.add<LaneAdder>({1, 1});
    graph.precede(before, after);
    EXPECT_THAT(refusal([&] { engine.submit(graph); }), HasSubstr("but the graph has 2 tasks"));
  }
}

/// As many trees as the host may have tasks under way, each of which spawns more than there is room for.
TEST_P(EngineLimits, TreesThatFillTheQueueBesideAFullHostLoseNoLeaf) {
  Engine engine(shippedProgram(), GetParam());
  using Tree = SpawnTree<TaskWidth::Lane>;
  auto* sum = static_cast<std::uint64_t*>(engine.allocate(8));
  const std::uint64_t zero = 0;
  engine.copyIn(sum, &zero, 8);
  constexpr std::uint64_t kLeaves = 500;
  std::vector<Tree::Arguments> trees;
  for (std::uint64_t n = 0; n < 64; ++n)
    trees.push_back({reinterpret_cast<Tree::Sum*>(sum), 1 + n * kLeaves, kLeaves, 1});
  const auto tickets = engine.submitAll<Tree>(trees);
  engine.drain();
  for (const auto& ticket : tickets) EXPECT_EQ(engine.wait(ticket).status, TaskStatus::Done);
  std::uint64_t total = 0;
  engine.copyOut(&total, sum, 8);
  EXPECT_EQ(total, 64 * kLeaves * (64 * kLeaves + 1) / 2);
}

/// A thousand times shorter or longer the first would be late, or the second in time.
TEST_P(EngineLimits, DeadlinesAreMicroseconds) {
  Engine engine(shippedProgram(), GetParam());
  EXPECT_EQ(engine.wait(engine.submit<Spin>({20'000'000, 0}, 2'000'000)).status, TaskStatus::Done);
  EXPECT_EQ(engine.wait(engine.submit<Spin>({500'000'000, 0}, 1000)).status, TaskStatus::Late);
}

TEST_P(EngineLimits, AQueueThatRunsAndExitsIsForThatModeAlone) {
  EngineOptions options = GetParam();
  {
    Engine engine(shippedProgram(), options);
    EXPECT_THAT(refusal([&] { engine.runQueue(); }), HasSubstr("use `drain`"));
  }
  options.mode = EngineMode::RunThenExit;
  Engine engine(shippedProgram(), options);
  if (options.form != EngineForm::Stepped) {
    const auto ticket = engine.submit<LaneAdder>({1, 1});
    EXPECT_THAT(refusal([&] { engine.wait(ticket); }), HasSubstr("needs `runQueue` first"));
  }
  for (int n = 0; n < 63; ++n) engine.submit<LaneAdder>({n, n});
  if (options.form == EngineForm::Stepped) engine.submit<LaneAdder>({63, 63});
  EXPECT_THAT(refusal([&] { engine.submit<LaneAdder>({64, 64}); }), HasSubstr("full of 64 tasks"));
}

/// The time that a task waits for a worker does not count.
TEST(EngineDeadline, CountsFromWhenAWorkerTakesTheTask) {
  Engine engine(shippedProgram(), {.threads = 1, .capacity = 16, .memoryBytes = 1 << 16});
  const auto first = engine.submit<Spin>({400'000'000, 0});
  const auto second = engine.submit<Spin>({1'000'000, 0}, 200'000);
  EXPECT_EQ(engine.wait(second).status, TaskStatus::Done);
  EXPECT_EQ(engine.wait(first).status, TaskStatus::Done);
}

/// The only argument of each task that runs, once so many do.
std::vector<std::uint64_t> argumentsOfRunning(Engine& engine, std::size_t tasks) {
  for (int looks = 0; looks < 20'000 && engine.running().size() != tasks; ++looks)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::vector<std::uint64_t> arguments;
  for (const RunningTask& task : engine.running()) arguments.push_back(task.firstArgument);
  return arguments;
}

/// The first worker that looks leaves to the other one what that can run.
TEST(EngineShares, AWorkerTakesNoMoreThanItsPartOfWhatWaits) {
  Engine engine(shippedProgram(), {.threads = 2, .capacity = 16, .memoryBytes = 1 << 16});
  std::vector<Ticket<Spin>> tickets;
  for (std::uint64_t n = 0; n < 2; ++n) tickets.push_back(engine.submit<Spin>({kMinuteOfNanos + n, 0}));
  EXPECT_THAT(argumentsOfRunning(engine, 2), UnorderedElementsAre(kMinuteOfNanos, kMinuteOfNanos + 1));
  std::vector<Spin::Arguments> waiting;
  for (std::uint64_t n = 2; n < 6; ++n) waiting.push_back({kMinuteOfNanos + n, 0});
  for (const auto& ticket : engine.submitAll<Spin>(waiting)) tickets.push_back(ticket);
  engine.cancel(tickets[0]);
  EXPECT_EQ(engine.wait(tickets[0]).status, TaskStatus::Cancelled);
  EXPECT_THAT(argumentsOfRunning(engine, 2), UnorderedElementsAre(kMinuteOfNanos + 1, kMinuteOfNanos + 2));
  engine.cancel(tickets[1]);
  EXPECT_EQ(engine.wait(tickets[1]).status, TaskStatus::Cancelled);
  EXPECT_THAT(argumentsOfRunning(engine, 2), UnorderedElementsAre(kMinuteOfNanos + 2, kMinuteOfNanos + 3));
  for (std::size_t n = 2; n < tickets.size(); ++n) engine.cancel(tickets[n]);
}

TEST(EngineWatch, TheAgeOfATaskIsNotThatOfTheOneBefore) {
  Engine engine(shippedProgram(), {.threads = 1, .capacity = 16, .memoryBytes = 1 << 16});
  const auto first = engine.submit<Spin>({kMinuteOfNanos, 0});
  const auto second = engine.submit<Spin>({kMinuteOfNanos + 1, 0});
  while (engine.running().empty()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_EQ(engine.running().size(), 1U);
  EXPECT_GE(engine.running()[0].seconds, 0.02);
  engine.cancel(first);
  EXPECT_EQ(engine.wait(first).status, TaskStatus::Cancelled);
  // Time for the worker to go on: a look at it between the two tasks would forget the first one.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::vector<RunningTask> running;
  while (running.empty() || running[0].firstArgument != kMinuteOfNanos + 1) running = engine.running();
  EXPECT_EQ(running[0].seconds, 0.0) << "at the first look at the second task";
  engine.cancel(second);
}

/// More threads than the engine has room for: each waits for the room that another one gives back.
TEST(EngineRoom, ThreadsOfAnEngineForTwoTasksWaitForOneAnother) {
  Engine engine(shippedProgram(), {.threads = 1, .capacity = 2, .memoryBytes = 1 << 16});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t n = 0; n < 300; ++n) {
        if (engine.wait(engine.submit<LaneAdder>({n, t})).result.sum != n + t) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(EngineTurns, AnEngineWithThreadsRunsNothingOnTheCallersThread) {
  Engine engine(shippedProgram(), {.threads = 1, .capacity = 16, .memoryBytes = 1 << 16});
  const auto held = engine.submit<Spin>({kMinuteOfNanos, 0});
  while (engine.running().empty()) std::this_thread::yield();
  const auto waiting = engine.submit<LaneAdder>({1, 1});
  EXPECT_FALSE(engine.turn());
  EXPECT_FALSE(engine.isDone(waiting));
  engine.cancel(held);
  EXPECT_EQ(engine.wait(waiting).result.sum, 2);
}

TEST(EngineOptionsTest, WhatCannotBeIsRefusedWithTheRange) {
  const auto refusalOf = [](const EngineOptions& options) {
    return refusal([&] { Engine(shippedProgram(), options); });
  };
  for (const std::int64_t capacity : {-2, 0, 1, 3, 1 << 25}) {
    EXPECT_THAT(refusalOf({.form = EngineForm::Stepped, .capacity = capacity}),
                HasSubstr("is a power of two from 2 to 16777216, not " + std::to_string(capacity)));
  }
  for (const std::int64_t bytes : {std::int64_t{-1}, (std::int64_t{1} << 40) + 1}) {
    EXPECT_THAT(refusalOf({.form = EngineForm::Stepped, .memoryBytes = bytes}),
                HasSubstr("is 0 to 2^40 bytes, not " + std::to_string(bytes)));
  }
  EXPECT_THAT(refusalOf({.threads = 4097}), HasSubstr("0 to 4096 threads, not 4097"));
  EXPECT_THAT(refusalOf({.form = EngineForm::Stepped, .multiprocessors = -1}), HasSubstr("not -1"));
  const std::vector<KindInfo> many(65, shippedProgram().kinds[0]);
  Program program = shippedProgram();
  program.kinds = many;
  EXPECT_THAT(refusal([&] { Engine(program, {.form = EngineForm::Stepped}); }),
              HasSubstr("a program has at most 64 kinds"));
}

TEST(EngineOptionsTest, MemoryIsWholePagesAndAtLeastOne) {
  for (const auto& [asked, given] :
       {std::pair{0, 65'536}, std::pair{65'536, 65'536}, std::pair{65'537, 131'072}}) {
    Engine engine(shippedProgram(), {.form = EngineForm::Stepped, .capacity = 2, .memoryBytes = asked});
    EXPECT_EQ(engine.options().memoryBytes, given);
    engine.release(engine.allocate(given));
  }
}

TEST(EngineTeamTest, TeamsThatCannotBeAreRefused) {
  const EngineOptions options{.form = EngineForm::Stepped, .capacity = 16, .memoryBytes = 1 << 16};
  Program other = shippedProgram();
  other.name = "other";
  Engine one(shippedProgram(), options);
  Engine two(other, options);
  EXPECT_THAT(refusal([] { EngineTeam({}); }), HasSubstr("needs at least one engine"));
  EXPECT_THAT(refusal([&] { EngineTeam({&one, &two}); }), HasSubstr("different programs (shipped, other)"));
  EngineTeam team({&one});
  const Task task;
  EXPECT_THAT(refusal([&] { team.push({&task, 1}, {}); }), HasSubstr("one tag for each task"));
}

}  // namespace
}  // namespace tessera::engine
