#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/checked/checked_field.hpp"
#include "tests/scheduler/runtime_rig.hpp"
#include "tests/scheduler/trace_rig.hpp"

namespace tessera {
namespace {

using test::RunShape;
using ::testing::HasSubstr;
using Bits = std::vector<double>;

constexpr int kPatches = 8;

/// u takes steps as long as its largest value allows; `slope` needs no dt.
struct Relaxation {
  LabelTable labels;
  Label<double, Cell> u = labels.variable<double, Cell>("u");
  Label<double, Cell> slope = labels.variable<double, Cell>("slope");
  ReductionLabel stableDt = labels.reduction("stable_dt");
  ReductionLabel total = labels.reduction("total");
  StepPlan initial{"initial"};
  StepPlan step{"step"};
  std::shared_ptr<const Hierarchy> hierarchy = test::lineOf(4 * kPatches, kPatches);

  explicit Relaxation(std::function<void()> sloped = [] {}) {
    initial.task("Relax::initial")
        .writes(u)
        .contributes(stableDt, Min)
        .runs<Cpu>([u = u, stableDt = stableDt](const auto& task) {
          const auto out = task.write(u);
          forEach(task.exec(), "i", task.interior(),
                  [=](Index x) { out(x) = 1.0 + static_cast<double>(x.i % 5); });
          task.contribute(stableDt, 0.1);
        });
    step.task("Relax::slope")
        .reads(Old, u, halo(1))
        .writes(slope)
        .withoutDt()
        .runs<Cpu>([u = u, slope = slope, sloped](const auto& task) {
          const auto in = task.read(Old, u);
          const auto out = task.write(slope);
          forEach(task.exec(), "s", task.interior(),
                  [=](Index x) { out(x) = in(x + ex) + in(x - ex) - 2.0 * in(x); });
          sloped();
        });
    step.task("Relax::advance")
        .reads(Old, u)
        .reads(New, slope)
        .writes(u)
        .contributes(stableDt, Min)
        .contributes(total, Sum)
        .runs<Cpu>([u = u, slope = slope, stableDt = stableDt, total = total](const auto& task) {
          const auto in = task.read(Old, u);
          const auto change = task.read(New, slope);
          const auto out = task.write(u);
          const double dt = task.dt();
          forEach(task.exec(), "a", task.interior(), [=](Index x) { out(x) = in(x) + dt * change(x); });
          const double high = reduce(task.exec(), "h", task.interior(), Max, [=](Index x) { return out(x); });
          task.contribute(stableDt, 0.3 / high);
          task.contribute(total,
                          reduce(task.exec(), "t", task.interior(), Sum, [=](Index x) { return out(x); }));
        });
  }

  double dtOf(const StepResult& before) const {
    return 0.9 * before.reductions[static_cast<std::size_t>(stableDt.id)];
  }

  /// The step after one of plan `before`.
  StepInputs late(std::size_t before, double& dt) const {
    StepInputs inputs;
    inputs.dtFrom = before;
    inputs.lateDt = [this, &dt](const StepResult& result) { return dt = dtOf(result); };
    return inputs;
  }
};

/// u of all patches, the last dt and the last sum.
Bits afterFiveSteps(const RunShape& shape) {
  const Relaxation relax;
  std::mutex mutex;
  std::map<PatchId, Bits> values;
  Bits all(2);
  test::runOnRanks(shape, relax.hierarchy, relax.labels, {&relax.initial, &relax.step},
                   [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                     double dt = 0.0;
                     runner.run(0, {});
                     for (int s = 0; s < 5; ++s) runner.runAhead(1, relax.late(s == 0 ? 0 : 1, dt));
                     const StepResult& result = runner.result(1);
                     const std::lock_guard lock(mutex);
                     all[0] = dt;
                     all[1] = result.reductions[static_cast<std::size_t>(relax.total.id)];
                     for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
                       Bits& packed = values[data.ownPatches()[local]];
                       packed.resize(4);
                       data.packOwned(relax.u.id, local, std::as_writable_bytes(std::span(packed)));
                     }
                   });
  for (const auto& [patch, bits] : values) all.insert(all.end(), bits.begin(), bits.end());
  return all;
}

TEST(StepOverlap, GivesTheBitsOfOneStepAfterTheOtherOnEveryExecutorAndForEverySeed) {
  const Bits expected = afterFiveSteps({});
  ASSERT_EQ(expected.size(), 2U + 4U * kPatches);
  const auto expectSame = [&](RunShape shape) {
    shape.stepsOverlap = true;
    const Bits got = afterFiveSteps(shape);
    ASSERT_EQ(got.size(), expected.size());
    EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(double)), 0);
  };
  for (const int ranks : {1, 2, 3, 8}) {
    for (const int threads : {0, 1, 3}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(threads) + " threads");
      expectSame({.ranks = ranks, .threads = threads, .delaySeed = 5});
    }
  }
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("schedule seed " + std::to_string(seed));
    RunShape shape{.ranks = static_cast<int>(1 + seed % 4)};
    shape.schedule = seed;
    shape.checked = seed % 5 == 0;
    expectSame(shape);
  }
}

const TracedStep& onlyRun(const std::vector<TracedStep>& steps, std::int64_t run) {
  return *std::find_if(steps.begin(), steps.end(), [&](const TracedStep& s) { return s.run == run; });
}

/// Nodes of one task, by its name.
std::vector<NodeTimes> timesOf(const TracedStep& step, const CompiledGraph& graph, const std::string& task) {
  std::vector<NodeTimes> times;
  for (std::int32_t node = 0; node < graph.nodeCount(); ++node) {
    const NodeBlock& block = graph.block(node);
    if (block.kind != NodeKind::Task) continue;
    const TaskUnit& unit = graph.units[static_cast<std::size_t>(block.item)];
    if (graph.plan->tasks()[static_cast<std::size_t>(unit.task)].name != task) continue;
    times.push_back(step.nodes[static_cast<std::size_t>(node)]);
  }
  return times;
}

NodeTimes reductionOf(const TracedStep& step, const CompiledGraph& graph, LabelId label) {
  for (std::int32_t node = 0; node < graph.nodeCount(); ++node) {
    const NodeBlock& block = graph.block(node);
    if (block.kind != NodeKind::Reduce) continue;
    const auto item = static_cast<std::size_t>(block.item + node - block.firstNode);
    if (graph.reductions[item].reduction == label) return step.nodes[static_cast<std::size_t>(node)];
  }
  return {};
}

/// The minimum of each step comes no earlier than the next step has run all its tasks without dt on this
/// rank: with a join between steps this would never end.
TEST(StepOverlap, TasksWithoutDtRunBeforeTheReductionOfTheStepBeforeIsThere) {
  constexpr int kRanks = 2;
  constexpr int kSteps = 4;
  for (const int threads : {0, 1, 3}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    std::atomic<int> sloped{0};
    const Relaxation relax([&] { ++sloped; });
    const RankMap owners = distribute(*relax.hierarchy, kRanks);
    const StepPlan* const plans[] = {&relax.initial, &relax.step};
    LoopbackWorld world(kRanks);
    const auto origin = Trace::Clock::now();
    std::vector<TracedStep> steps[kRanks];
    CompiledGraph graph;
    runRanks(world, [&](Transport& loopback) {
      const auto rank = static_cast<std::size_t>(loopback.rank());
      const CompiledGraphs graphs =
          compileGraphs(plans, {relax.hierarchy, &relax.labels, &owners, loopback.rank(), kRanks});
      if (rank == 0) graph = graphs.plans[1];
      test::SlowTransport transport(loopback, {});
      const auto data = makeDataWarehouse(graphs);
      const ExecutorOptions patience{.stallSeconds = 20.0};
      const auto executor =
          threads == 0 ? makeInOrderExecutor(patience) : makeThreadsExecutor(threads, patience);
      // A record is handed on as soon as it is whole.
      Trace trace(origin, 0, [&](const TraceRecords& records) {
        steps[rank].insert(steps[rank].end(), records.steps.begin(), records.steps.end());
      });
      StepRunner runner(graphs, *data, transport, *executor, {.stepsOverlap = true, .trace = &trace});
      runner.run(0, {});
      double dt = 0.0;
      for (int s = 1; s <= kSteps; ++s) {
        const bool last = s == kSteps;
        transport.holdMinima([&sloped, s, last] { return last || sloped >= (s + 1) * kPatches; });
        runner.runAhead(1, relax.late(s == 1 ? 0 : 1, dt));
      }
      runner.result(1);
      trace.flush();
    });

    ASSERT_EQ(steps[0].size(), 1U + kSteps);
    for (int s = 2; s <= kSteps; ++s) {
      SCOPED_TRACE("step " + std::to_string(s));
      const TracedStep& before = onlyRun(steps[0], s - 1);
      const TracedStep& step = onlyRun(steps[0], s);
      const std::int64_t arrived = reductionOf(before, graph, relax.stableDt.id).done;
      EXPECT_GT(arrived, before.end);
      const std::vector<NodeTimes> slopes = timesOf(step, graph, "Relax::slope");
      ASSERT_EQ(slopes.size(), kPatches / kRanks);
      for (const NodeTimes& slope : slopes) EXPECT_LE(slope.end, arrived) << "it waited for the reduction";
      const std::vector<NodeTimes> advances = timesOf(step, graph, "Relax::advance");
      ASSERT_EQ(advances.size(), kPatches / kRanks);
      for (const NodeTimes& advance : advances) EXPECT_GE(advance.begin, arrived) << "dt was not known";
      EXPECT_GE(step.dtKnown, arrived);
    }
  }
}

TEST(StepOverlap, WhereThereIsNoNextStepAllRanksFailInOrderAndTheOldValuesStay) {
  const Relaxation relax;
  for (const int threads : {0, 2}) {
    for (const bool overlap : {true, false}) {
      SCOPED_TRACE(std::to_string(threads) + " threads");
      RunShape shape{.ranks = 3, .threads = threads, .delaySeed = 2};
      shape.stepsOverlap = overlap;
      std::atomic<int> failed{0};
      test::runOnRanks(shape, relax.hierarchy, relax.labels, {&relax.initial, &relax.step},
                       [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                         runner.run(0, {});
                         double dt = 0.0;
                         runner.runAhead(1, relax.late(0, dt));
                         Bits before(4);
                         data.packOwned(relax.u.id, 0, std::as_writable_bytes(std::span(before)));
                         StepInputs inputs;
                         inputs.dtFrom = 1;
                         inputs.lateDt = [](const StepResult&) -> double {
                           throw NumericalError("no step to take");
                         };
                         try {
                           runner.runAhead(1, inputs);
                         } catch (const NumericalError& error) {
                           EXPECT_EQ(error.message(), "no step to take");
                           ++failed;
                         }
                         Bits after(4);
                         data.packOwned(relax.u.id, 0, std::as_writable_bytes(std::span(after)));
                         EXPECT_EQ(before, after);
                         runner.run(1, {0.0, dt, 2, {}});  // the runner is whole
                       });
      EXPECT_EQ(failed, 3);
    }
  }
}

TEST(StepOverlap, ATaskWithoutDtThatAsksForItIsToldWhatToChange) {
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  StepPlan plan("initial");
  plan.task("Test::write").writes(u).withoutDt().runs<Cpu>([u](const auto& task) {
    const auto out = task.write(u);
    const double dt = task.dt();
    forEach(task.exec(), "w", task.interior(), [=](Index x) { out(x) = dt; });
  });
  try {
    test::runOnRanks({}, test::lineOf(4, 1), labels, {&plan},
                     [](StepRunner& runner, DataWarehouse&, Transport&) { runner.run(0, {}); });
    FAIL() << "the use of dt was not reported";
  } catch (const UndeclaredAccess& error) {
    EXPECT_THAT(error.message(), HasSubstr("uses the length of the step"));
    EXPECT_THAT(error.message(), HasSubstr("remove .withoutDt() from Test::write"));
  }
}

}  // namespace
}  // namespace tessera
