// Tasks of a step that are irregular jobs (.runs<jobs::StepJobs>): the bits, the errors and the reports of a
// step.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/engine_step/steps_of_sheet.hpp"
#include "tests/scheduler/jobs_step/cell_walk.hpp"
#include "tests/scheduler/jobs_step/walk_task.hpp"

namespace tessera {
namespace {

using jobs::JobForm;
using jobs::testing::CellWalk;
using jobs::testing::declareJobs;
using jobs::testing::devicesOf;
using jobs::testing::WalkOptions;
using test::RunShape;
using ::testing::HasSubstr;

using Values = Label<double, Cell>;
using Devices = std::shared_ptr<jobs::StepJobs>;

/// A plain loop over cells: what the jobs have to give.
void declareLoop(TaskBuilder& advance, Values u) {
  advance.runs<Cpu>([=](const auto& task) {
    const Box box = task.interior();
    const auto in = task.read(Old, u);
    const auto out = task.write(u);
    std::int64_t calls = 0;
    const auto walk = [&](Index x) {
      const double value = in(x - ex);
      double end = 0.0;
      std::int64_t sum = 0;
      struct None {
      } none;
      const CellWalk body{
          {&value, x - box.lo, 0, 0}, {&end, x - box.lo, 0, 0}, {{&sum, {}, 0, 0}, 1.0}, box.lo, false};
      CellWalk::Unit unit = body.first(x - box.lo);
      do ++calls;
      while (body.advance(unit, none) == jobs::UnitEnd::GoOn);
      return end;
    };
    for (Index x = box.lo; x.j < box.hi.j; ++x.j) {
      for (x.i = box.lo.i; x.i < box.hi.i; ++x.i) out(x) = std::fmod(walk(x), 1000.0);
    }
    for (Index x = box.lo; x.j < box.hi.j; ++x.j) {
      for (x.i = box.lo.i; x.i < box.hi.i; ++x.i) out(x) += 1e-3 * static_cast<double>(calls);
    }
  });
}

/// After some steps, without devices by a loop.
double weightedSum(const RunShape& shape, const Devices& devices, JobForm form = JobForm::Consumer) {
  return test::weightedSum(shape, [&](StepPlan& step, Values u) {
    TaskBuilder advance = step.task("Test::walk");
    advance.reads(Old, u, halo(1)).writes(u);
    devices ? declareJobs(advance, u, devices, {form}) : declareLoop(advance, u);
  });
}

TEST(JobTask, AStepWithJobsHasTheBitsOfALoopOnAnyDevicesAndRanks) {
  const double expected = weightedSum({}, nullptr);
  ASSERT_GT(expected, 0.0);
  RunShape scratch{2, 2};
  scratch.scratch = true;
  const RunShape shapes[] = {{1, 0}, {2, 2, false, 7}, {4, 0, true, 8}, scratch};
  for (const auto& [threads, emulated] : {std::pair{0, 0}, {2, 0}, {-1, 2}, {1, 1}}) {
    const Devices devices = devicesOf(threads, emulated);
    for (const RunShape& shape : shapes) {
      SCOPED_TRACE(std::to_string(shape.ranks) + " ranks, jobs on " + std::to_string(threads) +
                   " threads and " + std::to_string(emulated) + " emulated devices");
      EXPECT_EQ(weightedSum(shape, devices), expected);
    }
  }
}

TEST(JobTask, EveryFormHasThemUnderEverySchedule) {
  const double expected = weightedSum({}, nullptr);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("replay: RunShape::schedule = " + std::to_string(seed));
    RunShape shape{2, 1};
    shape.schedule = seed;
    EXPECT_EQ(weightedSum(shape, devicesOf(0, 0), static_cast<JobForm>(seed % jobs::kForms)), expected);
  }
}

/// How a step ends whose jobs are as `options` say.
std::string failureOf(const Devices& devices, const WalkOptions& options, double stallSeconds) {
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  StepPlan initial("initial");
  initial.task("Test::start").writes(u).runs<Cpu>([=](const auto& task) {
    const auto out = task.write(u);
    forEach(task.exec(), "start", task.interior(), [=](Index x) { out(x) = 0.0; });
  });
  StepPlan step("step");
  TaskBuilder advance = step.task("Test::walk");
  advance.reads(Old, u, halo(1)).writes(u);
  declareJobs(advance, u, devices, options);
  Geometry geometry;
  geometry.cells = {8, 1, 1};
  const auto hierarchy = Hierarchy::uniform(geometry, {Division::By::Patches, {1, 1, 1}});
  labels.setBoundary(u, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  const RankMap owners = distribute(*hierarchy, 1);
  const std::vector<const StepPlan*> plans{&initial, &step};
  LoopbackWorld world(1);
  const CompiledGraphs graphs = compileGraphs(plans, {hierarchy, &labels, &owners, 0, 1, 1000});
  const auto data = makeDataWarehouse(graphs);
  const auto executor = makeThreadsExecutor(2, {.stallSeconds = stallSeconds});
  StepRunner runner(graphs, *data, world.transport(0), *executor, {.findNonFinite = false});
  runner.run(0, {});
  try {
    runner.run(1, {0.0, 1.0, 0, {}});
  } catch (const Error& error) {
    return std::to_string(error.exitCode()) + " " + error.message();
  }
  return "no failure";
}

TEST(JobTask, AJobThatRunsIntoALimitNamesTheTaskOfTheStepAndItsPatch) {
  const Devices devices = devicesOf(1, 0);
  const std::string page = failureOf(devices, {JobForm::Consumer, true, 1000}, 0.0);
  EXPECT_THAT(page,
              AllOf(HasSubstr("limit calls"), HasSubstr("job walks"), HasSubstr("Test::walk on L0/P0000")));
  EXPECT_EQ(page.front(), '2') << page;
  EXPECT_EQ(weightedSum({1, 1}, devices), weightedSum({}, nullptr)) << "the devices are of no use any more";
}

TEST(JobTask, AStallNamesTheJobAndHowFarItIs) {
  const std::string page = failureOf(devicesOf(1, 0), {JobForm::Consumer, true, 40'000'000}, 0.3);
  EXPECT_THAT(page, AllOf(HasSubstr("waits for jobs of Test::walk on L0/P0000"),
                          HasSubstr("walks: 0 units done of 8")));
}

}  // namespace
}  // namespace tessera
