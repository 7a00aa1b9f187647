// Batches that a caller looks after without waiting, and teams of engines on one stream of tasks.
#include <atomic>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/resident_kernels.hpp"
#include "core/text/error.hpp"
#include "scheduler/engine/engine_batch.hpp"
#include "scheduler/engine/engine_team.hpp"
#include "tests/scheduler/engine/engine_rig.hpp"

namespace tessera::engine {
namespace {

using namespace tessera::engine::testing;
using ::testing::HasSubstr;

class BatchForms : public ::testing::TestWithParam<EngineOptions> {};
INSTANTIATE_TEST_SUITE_P(All, BatchForms, ::testing::ValuesIn(forms()), [](const auto& info) {
  std::string name = formName(info.param);
  std::erase(name, ' ');
  return name;
});

TEST_P(BatchForms, MoreTasksThanRoomEndAndResultsComeInTheirOrder) {
  Engine engine(shippedProgram(), GetParam());
  std::vector<std::int64_t> sums;
  {
    EngineBatch batch(engine, "the test");
    for (std::int64_t n = 0; n < 1000; ++n)
      batch.add<LaneAdder>({n, 5}, [&](const LaneAdder::Result& result) { sums.push_back(result.sum); });
    EXPECT_EQ(batch.size(), 1000);
    while (!batch.proceed()) {
    }
    EXPECT_EQ(batch.ended(), 1000);
  }
  ASSERT_EQ(sums.size(), 1000U);
  for (std::size_t n = 0; n < sums.size(); ++n) EXPECT_EQ(sums[n], static_cast<std::int64_t>(n) + 5);
  EXPECT_EQ(engine.underWay(), 0);
}

TEST_P(BatchForms, DataComeBackWhenAllTasksHaveEnded) {
  Engine engine(shippedProgram(), GetParam());
  std::vector<double> x(100), y(100, 0.5), z(100, -1.0);
  std::iota(x.begin(), x.end(), 0.0);
  EngineBatch batch(engine, "the test");
  const double* from = batch.input(std::span<const double>(x));
  const double* other = batch.input(std::span<const double>(y));
  double* to = batch.output(std::span<double>(z));
  for (std::int64_t n = 0; n < 100; n += 10) batch.add<VectorAdd>({from + n, other + n, to + n, 10});
  while (!batch.proceed()) {
  }
  for (std::size_t n = 0; n < z.size(); ++n) EXPECT_EQ(z[n], static_cast<double>(n) + 0.5);
  EXPECT_EQ(engine.bytesInUse(), 0);
}

TEST_P(BatchForms, TwoBatchesShareASmallEngine) {
  Engine engine(shippedProgram(), GetParam());
  std::int64_t one = 0;
  std::int64_t two = 0;
  EngineBatch first(engine, "first");
  EngineBatch second(engine, "second");
  for (std::int64_t n = 0; n < 300; ++n) {
    first.add<LaneAdder>({n, 0}, [&](const LaneAdder::Result& result) { one += result.sum; });
    second.add<WarpAdder>({n, 1}, [&](const WarpAdder::Result& result) { two += result.sum; });
  }
  bool firstDone = false;
  bool secondDone = false;
  while (!firstDone || !secondDone) {
    if (!firstDone) firstDone = first.proceed();
    if (!secondDone) secondDone = second.proceed();
  }
  EXPECT_EQ(one, 300 * 299 / 2);
  EXPECT_EQ(two, 300 * 299 / 2 + 300);
}

TEST_P(BatchForms, FailedTasksAreCountedAndTheFirstIsNamed) {
  Engine engine(shippedProgram(), GetParam());
  EngineBatch batch(engine, "rows of patch 7");
  int taken = 0;
  batch.add<LaneAdder>({1, 1}, [&](const LaneAdder::Result&) { ++taken; });
  batch.add<Failing>({42});
  batch.add<Failing>({43});
  try {
    while (!batch.proceed()) {
    }
    FAIL() << "the batch ended well";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.message(), HasSubstr("2 of 3 tasks of an engine did not end well: rows of patch 7"));
    EXPECT_THAT(error.message(), HasSubstr("task 1 of them, kind failing: failed with code 42"));
  }
  EXPECT_EQ(taken, 0);
}

/// Forty tasks of a minute each would keep the test beyond its time.
TEST_P(BatchForms, ABatchThatIsDroppedTakesItsTasksBack) {
  Engine engine(shippedProgram(), GetParam());
  {
    EngineBatch batch(engine, "the test");
    batch.setDeadline(0);
    for (int n = 0; n < 40; ++n) batch.add<Spin>({60'000'000'000, 0});
    EXPECT_FALSE(batch.proceed());
  }
  EXPECT_EQ(engine.underWay(), 0);
  EXPECT_EQ(engine.wait(engine.submit<LaneAdder>({1, 2})).result.sum, 3);
}

TEST_P(BatchForms, ALateTaskIsNamedSo) {
  Engine engine(shippedProgram(), GetParam());
  EngineBatch batch(engine, "the test");
  batch.setDeadline(1000);
  batch.add<Spin>({2'000'000'000, 0});
  try {
    while (!batch.proceed()) {
    }
    FAIL() << "the task was in time";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.message(), HasSubstr("kind spin: late"));
  }
}

TEST(EngineBatchOptions, AnEngineThatExitsIsRefused) {
  Engine engine(shippedProgram(),
                {.mode = EngineMode::RunThenExit, .threads = 1, .capacity = 16, .memoryBytes = 1 << 16});
  EXPECT_THROW(EngineBatch(engine, "the test"), UsageError);
  EXPECT_THROW(EngineTeam({&engine}), UsageError);
}

TEST(EngineCancel, ATaskThatRunsAndAsksEndsAsCancelled) {
  Engine engine(shippedProgram(), {.threads = 1, .capacity = 16, .memoryBytes = 1 << 16});
  const auto slow = engine.submit<Spin>({60'000'000'000, 0});
  while (engine.running().empty()) std::this_thread::yield();
  engine.cancel(slow);
  EXPECT_EQ(engine.wait(slow).status, TaskStatus::Cancelled);
}

TEST(EngineTeamTest, AllEnginesTakePartAndEveryTaskEndsOnce) {
  std::vector<std::unique_ptr<Engine>> owned;
  std::vector<Engine*> engines;
  for (const EngineOptions& options : forms()) {
    owned.push_back(std::make_unique<Engine>(shippedProgram(), options));
    engines.push_back(owned.back().get());
  }
  EngineTeam team(engines);
  constexpr std::uint64_t kCount = 20'000;
  std::vector<bool> seen(kCount, false);
  std::uint64_t pushed = 0;
  std::uint64_t polled = 0;
  Finished finished[64];
  const std::uint16_t adder = shippedProgram().numberOf("adder");
  while (polled < kCount) {
    Task tasks[32];
    std::uint64_t tags[32];
    const std::uint64_t part = std::min<std::uint64_t>(32, kCount - pushed);
    for (std::uint64_t n = 0; n < part; ++n) {
      tags[n] = pushed + n;
      tasks[n] = taskOf<LaneAdder>(adder, {static_cast<std::int64_t>(tags[n]), 7});
    }
    pushed += static_cast<std::uint64_t>(team.push({tasks, part}, {tags, part}));
    const std::int64_t got = team.poll(finished);
    for (std::int64_t n = 0; n < got; ++n) {
      ASSERT_FALSE(seen[finished[n].tag]);
      seen[finished[n].tag] = true;
      EXPECT_EQ(finished[n].result[0], finished[n].tag + 7);
    }
    polled += static_cast<std::uint64_t>(got);
  }
  std::int64_t sum = 0;
  for (const std::int64_t ended : team.endedBy()) {
    EXPECT_GT(ended, 0);
    sum += ended;
  }
  EXPECT_EQ(sum, static_cast<std::int64_t>(kCount));
}

TEST(ResidentKernels, CallsThatWouldWaitAreRefusedWithWhatToDo) {
  refuseBesideResident(WaitingCall::SynchronizeDevice);
  residentBegins();
  try {
    refuseBesideResident(WaitingCall::SynchronizeDevice);
    FAIL() << "the call was let through";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), HasSubstr("wait for your own streams and events"));
  }
  bool givenBack = false;
  whenNoneIsResident([&] { givenBack = true; });
  EXPECT_FALSE(givenBack);
  residentEnds();
  EXPECT_TRUE(givenBack);
  refuseBesideResident(WaitingCall::SynchronizeDevice);
  EXPECT_EQ(residentKernels(), 0);
}

}  // namespace
}  // namespace tessera::engine
