// Several engines in one process, as one would have them on several devices: nothing is shared between them.
#include <atomic>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/engine/engine_team.hpp"
#include "tests/scheduler/engine/engine_rig.hpp"

namespace tessera::engine {
namespace {

using namespace tessera::engine::testing;

TEST(SeveralEngines, EachHasItsOwnTasksAndMemory) {
  const auto engines = severalEngines();
  std::vector<double*> blocks;
  std::vector<Ticket<VectorAdd>> tickets;
  for (std::size_t n = 0; n < engines.size(); ++n) {
    Engine& engine = *engines[n];
    blocks.push_back(static_cast<double*>(engine.allocate(3 * sizeof(double))));
    const double values[2] = {static_cast<double>(n), 0.5};
    engine.copyIn(blocks[n], values, sizeof(values));
    tickets.push_back(engine.submit<VectorAdd>({blocks[n], blocks[n] + 1, blocks[n] + 2, 1}));
  }
  for (std::size_t n = engines.size(); n-- > 0;) {
    EXPECT_EQ(engines[n]->wait(tickets[n]).result.sum, static_cast<double>(n) + 0.5);
    EXPECT_THROW(engines[(n + 1) % engines.size()]->release(blocks[n]), UsageError) << "engine " << n;
    double sum = 0.0;
    engines[n]->copyOut(&sum, blocks[n] + 2, sizeof(sum));
    EXPECT_EQ(sum, static_cast<double>(n) + 0.5);
    engines[n]->release(blocks[n]);
    EXPECT_EQ(engines[n]->bytesInUse(), 0);
  }
}

TEST(SeveralEngines, EachRunsItsGraphWhileTheOthersDo) {
  const auto engines = severalEngines();
  std::vector<GraphRun> runs;
  for (std::size_t n = 0; n < engines.size(); ++n) {
    TaskGraph graph(shippedProgram());
    const auto first = n % 2 == 0 ? graph.add<Failing>({static_cast<std::uint32_t>(n)})
                                  : graph.add<WarpAdder>({static_cast<std::int64_t>(n), 1});
    graph.precede(first, graph.add<LaneAdder>({static_cast<std::int64_t>(n), 2}));
    runs.push_back(engines[n]->submit(graph));
  }
  for (std::size_t n = 0; n < engines.size(); ++n) {
    engines[n]->wait(runs[n]);
    const Outcome<LaneAdder> last = runs[n].outcome<LaneAdder>(1);
    EXPECT_EQ(last.status, n % 2 == 0 ? TaskStatus::Skipped : TaskStatus::Done) << "engine " << n;
    if (n % 2 != 0) {
      EXPECT_EQ(last.result.sum, static_cast<std::int64_t>(n) + 2);
    }
  }
}

TEST(SeveralEngines, ThreadsThatUseAllOfThemAtATimeGetTheirOwnResults) {
  const auto engines = severalEngines();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t n = 0; n < 400; ++n) {
        // A stepped engine runs its tasks on the caller's thread, so it belongs to one of the two.
        const auto at = static_cast<std::size_t>(n) % engines.size();
        if (engines[at]->options().form == EngineForm::Stepped && n % 2 != t) continue;
        const auto ticket = engines[at]->submit<LaneAdder>({n, 1000 * t});
        if (engines[at]->wait(ticket).result.sum != n + 1000 * t) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(SeveralEngines, TheEndOfOneLeavesTheOthersAtWork) {
  auto engines = severalEngines();
  std::vector<Ticket<LaneAdder>> tickets;
  for (const auto& engine : engines) tickets.push_back(engine->submit<LaneAdder>({20, 3}));
  for (std::size_t n = 0; n + 1 < engines.size(); ++n) {
    engines[n].reset();
    EXPECT_EQ(engines[n + 1]->wait(tickets[n + 1]).result.sum, 23);
  }
}

TEST(SeveralEngines, OneForWhichThereIsNoPlaceOnAGpuIsAnErrorAndTheOthersGoOn) {
  if (std::getenv("TESSERA_ENGINE_TEST_CUDA") == nullptr)
    GTEST_SKIP() << "this case needs a GPU: TESSERA_ENGINE_TEST_CUDA=1 in the environment";
  EngineOptions options{.form = EngineForm::Cuda, .capacity = 64, .memoryBytes = 1 << 22};
  // All places of the GPU but that of the block that serves the others: an engine that asks for more says how
  // many these are.
  options.blocks[0] = 1 << 20;
  try {
    Engine(shippedProgram(), options);
    FAIL() << "no GPU has places for a million blocks";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    const std::string before = "but only ";
    options.blocks[0] = std::stoi(text.substr(text.find(before) + before.size()));
  }
  auto first = std::make_unique<Engine>(shippedProgram(), options);
  EXPECT_THROW(Engine(shippedProgram(), {.form = EngineForm::Cuda}), UsageError);  // after 10 s
  EXPECT_EQ(first->wait(first->submit<LaneAdder>({20, 3})).result.sum, 23);
  first.reset();  // now the kernel of the second one begins, sees that it is to end, and ends
  Engine third(shippedProgram(), {.form = EngineForm::Cuda});
  EXPECT_EQ(third.wait(third.submit<LaneAdder>({20, 4})).result.sum, 24);
}

/// Tasks of a team of stepped engines, which all go on by one task a poll.
TEST(SeveralEngines, EmulatedDevicesOfATeamTakeEqualSharesOfAStream) {
  std::vector<std::unique_ptr<Engine>> owned;
  std::vector<Engine*> members;
  for (int n = 0; n < 4; ++n) {
    owned.push_back(std::make_unique<Engine>(
        shippedProgram(),
        EngineOptions{.form = EngineForm::Stepped, .capacity = 16, .memoryBytes = 1 << 16}));
    members.push_back(owned.back().get());
  }
  EngineTeam team(members);
  std::vector<Task> tasks;
  std::vector<std::uint64_t> tags;
  for (std::uint64_t n = 0; n < 400; ++n) {
    tasks.push_back(
        taskOf<LaneAdder>(shippedProgram().numberOf<LaneAdder>(), {static_cast<std::int64_t>(n), 1}));
    tags.push_back(n);
  }
  // Few at a time, so that a member does not sit on tasks that others could run: four for each worker.
  auto pushed = static_cast<std::size_t>(team.push(tasks, tags));
  EXPECT_EQ(pushed, 16U);
  std::uint64_t sum = 0;
  std::int64_t ended = 0;
  while (ended < 400) {
    pushed += static_cast<std::size_t>(
        team.push(std::span(tasks).subspan(pushed), std::span<const std::uint64_t>(tags).subspan(pushed)));
    Finished finished[8];
    const std::int64_t got = team.poll(finished);
    for (std::int64_t n = 0; n < got; ++n) sum += finished[n].result[0];
    ended += got;
  }
  EXPECT_EQ(sum, 400ULL * 401 / 2);
  EXPECT_THAT(team.endedBy(), ::testing::Each(100));
}

}  // namespace
}  // namespace tessera::engine
