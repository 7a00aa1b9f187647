// Tasks of a step that feed an engine (.runs<Engine>): the bits, the errors and the reports of a step.
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/engine/kinds/adder.hpp"
#include "scheduler/engine/kinds/shipped.hpp"
#include "scheduler/engine/kinds/spin.hpp"
#include "scheduler/engine_step/runs_engine.hpp"
#include "tests/scheduler/engine_step/steps_of_sheet.hpp"

namespace tessera {
namespace {

using engine::Engine;
using engine::EngineBatch;
using engine::EngineForm;
using engine::VectorAdd;
using test::RunShape;
using ::testing::HasSubstr;

using Values = Label<double, Cell>;

std::shared_ptr<Engine> engineOf(EngineForm form, std::int32_t threads, std::int64_t capacity = 64) {
  engine::EngineOptions options;
  options.form = form;
  options.threads = threads;
  options.capacity = capacity;
  options.memoryBytes = 1 << 20;
  return std::make_shared<Engine>(engine::shippedProgram(), options);
}

/// The next u is u(x - ex) + u(x + ey): by a loop, or row by row by an engine.
void declareStep(StepPlan& plan, Values u, const std::shared_ptr<Engine>& engine) {
  TaskBuilder advance = plan.task("Test::advance");
  advance.reads(Old, u, halo(1)).writes(u);
  if (!engine) {
    advance.runs<Cpu>([=](const auto& task) {
      const auto in = task.read(Old, u);
      const auto out = task.write(u);
      forEach(task.exec(), "advance", task.interior(), [=](Index x) { out(x) = in(x - ex) + in(x + ey); });
    });
    return;
  }
  advance.runs<Engine>(engine, [=](const auto& task, EngineBatch& batch) {
    const auto in = task.read(Old, u);
    const auto out = task.write(u);
    const Box box = task.interior();
    const std::int64_t n = box.hi.i - box.lo.i;
    const auto count = static_cast<std::size_t>(n);
    for (Index x = box.lo; x.j < box.hi.j; ++x.j) {
      batch.add<VectorAdd>({batch.input(std::span(&in(x - ex), count)),
                            batch.input(std::span(&in(x + ey), count)),
                            batch.output(std::span(&out(x), count)), n});
    }
  });
}

double weightedSum(const RunShape& shape, const std::shared_ptr<Engine>& engine) {
  return test::weightedSum(shape, [&](StepPlan& step, Values u) { declareStep(step, u, engine); });
}

TEST(EngineTask, AStepThatFeedsAnEngineHasTheBitsOfOneThatDoesNot) {
  const double expected = weightedSum({}, nullptr);
  ASSERT_GT(expected, 0.0);
  RunShape scratch{2, 2};
  scratch.scratch = true;
  const RunShape shapes[] = {{1, 0}, {1, 3}, {2, 2, false, 7}, {4, 0, false, 8}, {8, 1, true, 9}, scratch};
  for (const auto& [form, threads] : {std::pair{EngineForm::Threads, 1}, std::pair{EngineForm::Threads, 2}}) {
    const auto engine = engineOf(form, threads);
    for (const RunShape& shape : shapes) {
      SCOPED_TRACE(std::to_string(shape.ranks) + " ranks, engine with " + std::to_string(threads) +
                   " threads");
      EXPECT_EQ(weightedSum(shape, engine), expected);
    }
  }
}

TEST(EngineTask, ASteppedEngineHasThemUnderEverySchedule) {
  const double expected = weightedSum({}, nullptr);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("replay: RunShape::schedule = " + std::to_string(seed));
    RunShape shape{2, 1};
    shape.schedule = seed;
    EXPECT_EQ(weightedSum(shape, engineOf(EngineForm::Stepped, 0)), expected);
  }
}

TEST(EngineTask, MoreTasksThanTheEngineHasRoomForAllRun) {
  EXPECT_EQ(weightedSum({1, 2}, engineOf(EngineForm::Threads, 1, 4)), weightedSum({}, nullptr));
}

/// Two tasks of a step feed one engine, on all patches each: the second doubles what the first has left, or a
/// loop does.
TEST(EngineTask, SeveralTasksOfAStepFeedOneEngine) {
  const auto engine = engineOf(EngineForm::Threads, 2);
  const auto doubled = [&](const RunShape& shape, bool byEngine) {
    return test::weightedSum(shape, [&](StepPlan& step, Values u) {
      declareStep(step, u, byEngine ? engine : nullptr);
      TaskBuilder twice = step.task("Test::twice");
      twice.modifies(u, from("Test::advance"));
      if (!byEngine) {
        twice.runs<Cpu>([=](const auto& task) {
          const auto values = task.modify(u);
          forEach(task.exec(), "twice", task.interior(), [=](Index x) { values(x) = values(x) + values(x); });
        });
        return;
      }
      twice.runs<Engine>(engine, [=](const auto& task, EngineBatch& batch) {
        const auto values = task.modify(u);
        const Box box = task.interior();
        const std::int64_t n = box.hi.i - box.lo.i;
        for (Index x = box.lo; x.j < box.hi.j; ++x.j) {
          double* row = batch.inOut(std::span(&values(x), static_cast<std::size_t>(n)));
          batch.add<VectorAdd>({row, row, row, n});
        }
      });
    });
  };
  const double expected = doubled({}, false);
  ASSERT_GT(expected, 0.0);
  for (const RunShape& shape : {RunShape{1, 0}, RunShape{1, 3}, RunShape{2, 2, false, 7}})
    EXPECT_EQ(doubled(shape, true), expected) << shape.ranks << " ranks, " << shape.threads << " threads";
}

/// A plan whose task hands tasks of one kind to an engine.
template <class Kind>
std::string failureOf(const std::shared_ptr<Engine>& engine, typename Kind::Arguments arguments,
                      double stallSeconds) {
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  StepPlan plan("initial");
  plan.task("Test::feed").writes(u).template runs<Engine>(engine, [=](const auto&, EngineBatch& batch) {
    batch.template add<Kind>(arguments);
  });
  plan.task("Test::after").reads(New, u, halo(1)).runs<Cpu>([](const auto&) {});
  Geometry geometry;
  geometry.cells = {8, 1, 1};
  const auto hierarchy = Hierarchy::uniform(geometry, {Division::By::Patches, {1, 1, 1}});
  labels.setBoundary(u, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  const RankMap owners = distribute(*hierarchy, 1);
  const std::vector<const StepPlan*> plans{&plan};
  LoopbackWorld world(1);
  const CompiledGraphs graphs = compileGraphs(plans, {hierarchy, &labels, &owners, 0, 1, 1000});
  const auto data = makeDataWarehouse(graphs);
  const auto executor = makeThreadsExecutor(2, {.stallSeconds = stallSeconds});
  StepRunner runner(graphs, *data, world.transport(0), *executor, {.findNonFinite = false});
  try {
    runner.run(0, {});
  } catch (const InternalError& error) {
    // The step has failed, and nothing of it goes on though the runner and its data are still there.
    EXPECT_EQ(engine->underWay(), 0);
    return error.message();
  }
  return "no failure";
}

TEST(EngineTask, ATaskThatFailsNamesTheTaskOfTheStepAndItsPatch) {
  const auto engine = engineOf(EngineForm::Threads, 1);
  const std::string page = failureOf<engine::Failing>(engine, {42}, 0.0);
  EXPECT_THAT(page, HasSubstr("1 of 1 tasks of an engine did not end well: Test::feed on L0/P0000"));
  EXPECT_THAT(page, HasSubstr("kind failing: failed with code 42"));
  EXPECT_EQ(engine->underWay(), 0);
}

TEST(EngineTask, AStallNamesKindArgumentAndAgeOfATaskThatDoesNotEnd) {
  const auto engine = engineOf(EngineForm::Threads, 1);
  const auto begin = std::chrono::steady_clock::now();
  const std::string page = failureOf<engine::Spin>(engine, {30'000'000'000, 0}, 0.4);
  EXPECT_THAT(page, HasSubstr("Test::feed on L0/P0000"));
  EXPECT_THAT(page,
              HasSubstr("waits for an engine: 0 of 1 tasks of an engine have ended; a worker has been at a "
                        "task of the kind spin, first argument 30000000000, for "));
  // The task was taken back, and asked whether to go on.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(engine->underWay(), 0);
}

TEST(EngineTask, ContributesToNoReduction) {
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  const auto total = labels.reduction("total");
  StepPlan plan("initial");
  plan.task("Test::feed")
      .writes(u)
      .contributes(total, Sum)
      .runs<Engine>(engineOf(EngineForm::Stepped, 0), [](const auto&, EngineBatch&) {});
  try {
    test::runOnRanks({}, test::sheet(), labels, {&plan}, [](StepRunner&, DataWarehouse&, Transport&) {});
    FAIL() << "the plan was compiled";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("a task that feeds an engine contributes to a reduction"));
  }
}

}  // namespace
}  // namespace tessera
