// No allocation and no mutex in a step.
#include "tests/call_counts.hpp"

#if defined(TESSERA_COUNTS_CALLS)
#include <mutex>

#include <gtest/gtest.h>

#include "tests/scheduler/random_source.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera::test {
namespace {

TEST(QuietStep, TheHooksCount) {
  std::mutex mutex;
  const Counts counts = countsOf([&] {
    const std::lock_guard lock(mutex);
    std::make_unique<int>(1);
  });
  EXPECT_EQ(counts.allocations, 1);
  EXPECT_EQ(counts.locks, 1);
}

TEST(QuietStep, AReplayAllocatesNothingAndTakesNoMutex) {
  for (const int threads : {1, 2, 4}) {
    const auto executor = makeThreadsExecutor(threads);
    RandomSource source({.nodes = 2000, .seed = 4, .urgencies = 3});
    const auto replay = executor->prepare(source);
    for (int n = 0; n < 5; ++n) {
      source.begin();
      const Counts counts = countsOf([&] { replay->run(); });
      EXPECT_EQ(counts.allocations, 0) << threads << " threads";
      EXPECT_EQ(counts.locks, 0) << threads << " threads";
    }
    EXPECT_TRUE(source.right());
  }
}

TEST(QuietStep, RecordingATraceAllocatesNothingAndTakesNoMutexInAStep) {
  Trace trace(Trace::Clock::now(), Trace::kUsualBudget, [](const TraceRecords&) {});
  for (int step = 0; step < 3; ++step) {
    trace.beginStep({}, 1000);
    const Counts counts = countsOf([&] {
      for (std::int32_t node = 0; node < 1000; ++node) {
        const auto now = Trace::Clock::now();
        trace.ran(node, 0, now, now, node % 2 == 0);
        if (node % 2 == 1) trace.finished(node);
      }
    });
    EXPECT_EQ(counts.allocations, 0);
    EXPECT_EQ(counts.locks, 0);
    trace.executed();
    trace.endStep();
  }
}

TEST(QuietStep, AStepWithHalosMessagesAndReductionsAllocatesNothingAndTakesNoMutexAfterTheFirst) {
  Geometry geometry;
  geometry.cells = {24, 16, 1};
  const auto hierarchy = Hierarchy::uniform(geometry, {Division::By::Patches, {6, 4, 1}});
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  const auto total = labels.reduction("total");
  const auto high = labels.reduction("high");
  labels.setBoundary(u, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  StepPlan initial("initial");
  initial.task("Test::initial").writes(u).runs<Cpu>([=](const auto& task) {
    const auto out = task.write(u);
    forEach(task.exec(), "i", task.interior(), [=](Index x) { out(x) = static_cast<double>(x.i + x.j); });
  });
  StepPlan step("step");
  step.task("Test::smooth")
      .reads(Old, u, halo(1))
      .writes(u)
      .contributes(total, Sum)
      .contributes(high, Max)
      .runs<Cpu>([=](const auto& task) {
        const auto in = task.read(Old, u);
        const auto out = task.write(u);
        forEach(task.exec(), "s", task.interior(),
                [=](Index x) { out(x) = 0.5 * (in(x - ex) + in(x + ey)); });
        task.contribute(total,
                        reduce(task.exec(), "t", task.interior(), Sum, [=](Index x) { return in(x); }));
        task.contribute(high, reduce(task.exec(), "h", task.interior(), Max, [=](Index x) { return in(x); }));
      });
  const std::vector<const StepPlan*> plans{&initial, &step};
  LoneTransport transport;
  for (const auto& [ranks, threads] : {std::pair(1, 1), {1, 2}, {1, 3}, {2, 2}}) {
    const RankMap owners = distribute(*hierarchy, ranks);
    const CompiledGraphs graphs = compileGraphs(plans, {hierarchy, &labels, &owners, 0, ranks, 32767});
    EXPECT_EQ(graphs.plans[1].sends.empty(), ranks == 1);
    const auto data = makeDataWarehouse(graphs);
    const auto executor = makeThreadsExecutor(threads);
    StepRunner runner(graphs, *data, transport, *executor, {});
    const double control[1] = {1.0};
    runner.run(0, {0.0, 0.1, 0, control});
    runner.run(1, {0.0, 0.1, 1, control});
    for (int n = 2; n < 6; ++n) {
      const Counts counts = countsOf([&] { runner.run(1, {0.0, 0.1, n, control}); });
      EXPECT_EQ(counts.allocations, 0) << threads << " threads";
      EXPECT_EQ(counts.locks, 0) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace tessera::test
#endif
