// Tasks that work on all patches of a level at once, and constant tables.
#include <map>
#include <mutex>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grid/refined_levels.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/scheduler/device/level_bodies_kernels.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::shared_ptr<const Hierarchy> twoLevels() {
  Geometry geometry;
  geometry.cells = {16, 12, 1};
  geometry.periodic = {true, false, false};
  return refinedHierarchy(geometry, {Division::By::PatchSize, {4, 4, 1}},
                          {{2, {Box{{3, 2, 0}, {11, 8, 1}}}, {6, 4, 1}}});
}

class LevelPlans {
 public:
  LevelPlans() {
    labels_.u = table_.variable<double, Cell>("u");
    labels_.found = table_.variable<double, Node>("found");
    table_.setBoundary(labels_.u, BoundaryConditions::everywhere(BoundaryKind::Neumann));
    table_.setBoundary(labels_.found, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    initial_.task("Test::write").writes(labels_.u).runs<Cpu>([u = labels_.u](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "w", task.interior(),
              [=](Index x) { out(x) = 1.0 / static_cast<double>(1 + x.i + 7 * x.j); });
    });
  }

  LabelTable& table() { return table_; }
  LevelLabels& labels() { return labels_; }
  StepPlan& step() { return step_; }

  void declareFind(On patches) {
    step_.task("Test::move").reads(Old, labels_.u, halo(1)).writes(labels_.u).runs(moveByNeighbours(labels_));
    TaskBuilder find = step_.task("Test::find");
    find.reads(New, labels_.u, halo(1)).modifies(labels_.u).writes(labels_.found);
    if (patches == On::AllPatches) find.oncePerLevel();
    find.runs(findOnNodes(labels_, patches));
    step_.task("Test::use")
        .reads(New, labels_.found, halo(1))
        .modifies(labels_.u, from("Test::find"))
        .runs(useFound(labels_));
  }

  /// By patch, after three steps.
  std::map<PatchId, std::vector<double>> run(const RunShape& shape) {
    std::map<PatchId, std::vector<double>> values;
    std::mutex mutex;
    runOnRanks(shape, twoLevels(), table_, {&initial_, &step_},
               [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                 runner.run(0, {});
                 for (std::int64_t n = 1; n <= 3; ++n) {
                   const StepResult result = runner.run(1, {0.0, 0.1, n, {}});
                   const std::lock_guard lock(mutex);
                   reductions_ = result.reductions;
                 }
                 const LabelId u = labels_.u.id;
                 runner.copyToHost({&u, 1});
                 const std::lock_guard lock(mutex);
                 for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
                   std::vector<double>& one = values[data.ownPatches()[local]];
                   one.resize(static_cast<std::size_t>(data.ownedBox(u, local).volume()));
                   data.packOwned(u, local, std::as_writable_bytes(std::span(one)));
                 }
               });
    return values;
  }
  const std::vector<double>& reductions() const { return reductions_; }

 private:
  LabelTable table_;
  LevelLabels labels_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  std::vector<double> reductions_;
};

/// The shapes in which a plan is run.
std::vector<RunShape> manyShapes() {
  std::vector<RunShape> shapes;
  for (const int ranks : {1, 2, 5}) {
    for (const int threads : {0, 3}) {
      for (const bool checked : {false, true}) {
        RunShape shape;
        shape.ranks = ranks;
        shape.threads = threads;
        shape.checked = checked;
        shape.scratch = threads > 0;
        shapes.push_back(shape);
      }
    }
    for (const std::uint64_t seed : {3U, 4U, 5U}) {
      RunShape shape;
      shape.ranks = ranks;
      shape.schedule = seed;
      shapes.push_back(shape);
    }
  }
  for (const int devices : {1, 2}) {
    RunShape shape;
    shape.ranks = 2;
    shape.threads = 2;
    shape.devices = firstDevices(DeviceKind::Emulated, devices);
    shapes.push_back(shape);
    shape.devices.graphs = devices == 1;
    shape.checked = devices == 2;
    shapes.push_back(shape);
  }
  return shapes;
}

TEST(LevelTasks, GiveTheBitsOfTasksOnEachPatch) {
  LevelPlans each;
  each.declareFind(On::Patch);
  const auto expected = each.run({});
  LevelPlans all;
  all.declareFind(On::AllPatches);
  for (const RunShape& shape : manyShapes()) {
    SCOPED_TRACE(std::to_string(shape.ranks) + " ranks, " + std::to_string(shape.threads) + " threads, " +
                 (shape.checked ? "checked, " : "") + std::to_string(shape.devices.numbers.size()) +
                 " devices");
    EXPECT_EQ(all.run(shape), expected);
  }
}

TEST(LevelTasks, SeeAllPatchesOfTheRankAsOftenAsTheyAskAndContributeOnce) {
  LevelPlans plans;
  LevelLabels& labels = plans.labels();
  const ReductionLabel runs = plans.table().reduction("runs");
  const ReductionLabel cells = plans.table().reduction("cells");
  plans.step()
      .task("Test::largest")
      .oncePerLevel()
      .on(allButCoarsest())
      .reads(Old, labels.u)
      .reads(Old, labels.u, wholeLevel(1))
      .contributes(runs, Sum)
      .contributes(cells, Sum)
      .writes(labels.u)
      .runs<Cpu>([=](const auto& task) {
        double largest = 0.0;
        ExactSum count;
        task.forEachPatch([&](const auto& patch) {
          const auto u = patch.read(Old, labels.u);
          largest = std::max(largest,
                             reduce(patch.exec(), "m", patch.interior(), Max, [=](Index x) { return u(x); }));
          count.add(static_cast<double>(patch.interior().volume()));
        });
        const auto level = task.readLevel(Old, labels.u, 1);
        largest += level(Index{6, 4, 0});
        task.forEachPatch([&](const auto& patch) {
          const auto out = patch.write(labels.u);
          const double value = largest;
          forEach(patch.exec(), "w", patch.interior(), [=](Index x) { out(x) = value; });
        });
        ExactSum one;
        one.add(1.0);
        task.contribute(runs, one);
        task.contribute(cells, count);
      });
  plans.step()
      .task("Test::keep")
      .on(0)
      .reads(Old, labels.u)
      .writes(labels.u)
      .runs<Cpu>([=](const auto& task) {
        const auto u = task.read(Old, labels.u);
        const auto out = task.write(labels.u);
        forEach(task.exec(), "k", task.interior(), [=](Index x) { out(x) = u(x); });
      });

  const auto values = plans.run({});

  // The largest of level 1, 1 / (1 + 6 + 7 * 4), is also in its first cell: doubled in each step.
  const double expected = 8.0 / 35.0;
  const auto mesh = twoLevels();
  for (const Patch& patch : mesh->level(1).patches()) {
    for (const double value : values.at(patch.id)) EXPECT_EQ(value, expected);
  }
  EXPECT_EQ(plans.reductions()[0], 1.0);
  EXPECT_EQ(plans.reductions()[1], 16.0 * 12.0);
  RunShape shape;
  shape.ranks = 5;
  plans.run(shape);
  EXPECT_EQ(plans.reductions()[0], 5.0);
  EXPECT_EQ(plans.reductions()[1], 16.0 * 12.0);
}

TEST(LevelTasks, AFieldWithoutAPatchIsNamed) {
  LevelPlans plans;
  plans.step()
      .task("Test::wrong")
      .oncePerLevel()
      .writes(plans.labels().u)
      .runs<Cpu>([u = plans.labels().u](const auto& task) { (void)task.write(u); });
  try {
    plans.run({});
    FAIL() << "the task has no patch";
  } catch (const UndeclaredAccess& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("without saying on which patch"), HasSubstr("Test::wrong"),
                                    HasSubstr("patch.write(u)")));
  }
}

TEST(LevelTasks, CheckedModeNamesThePatchThatIsLeftUnwritten) {
  LevelPlans plans;
  plans.step().task("Test::lazy").oncePerLevel().writes(plans.labels().u).runs<Cpu>([](const auto&) {});
  RunShape shape;
  shape.checked = true;
  try {
    plans.run(shape);
    FAIL() << "nothing was written";
  } catch (const UndeclaredAccess& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("task leaves a part of its output unwritten"),
                                    HasSubstr("Test::lazy on patch")));
  }
}

void declareLookUp(LevelPlans& plans, std::int64_t size) {
  std::vector<double> numbers;
  for (std::int64_t n = 0; n < size; ++n) numbers.push_back(tableNumber(n));
  LevelLabels& labels = plans.labels();
  labels.table = plans.table().table("numbers", numbers);
  plans.step()
      .task("Test::lookUp")
      .reads(Old, labels.u)
      .reads(labels.table)
      .writes(labels.u)
      .runs(lookUp(labels));
}

TEST(ConstantTables, GiveTheBitsOfTheirFormulaOnHostsAndDevices) {
  LevelPlans formula;
  formula.step()
      .task("Test::compute")
      .reads(Old, formula.labels().u)
      .writes(formula.labels().u)
      .runs(computeInstead(formula.labels()));
  const auto expected = formula.run({});
  LevelPlans look;
  declareLookUp(look, kTableSize);
  for (const RunShape& shape : manyShapes()) EXPECT_EQ(look.run(shape), expected);
}

TEST(ConstantTables, APlaceBeyondTheEndIsNamedInCheckedMode) {
  LevelPlans plans;
  declareLookUp(plans, kTableSize - 1);
  RunShape shape;
  shape.checked = true;
  try {
    plans.run(shape);
    FAIL() << "the table is too short";
  } catch (const UndeclaredAccess& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("beyond the end of a constant table"),
                                    HasSubstr("numbers at 10"), HasSubstr("has       10 numbers")));
  }
}

TEST(ConstantTables, ATaskThatDoesNotDeclareItsTableIsNamed) {
  LevelPlans plans;
  LevelLabels& labels = plans.labels();
  labels.table = plans.table().table("numbers", {1.0});
  plans.step().task("Test::silent").reads(Old, labels.u).writes(labels.u).runs(lookUp(labels));
  try {
    plans.run({});
    FAIL() << "the table is not declared";
  } catch (const UndeclaredAccess& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("numbers"), HasSubstr("add .reads(numbers) to Test::silent")));
  }
}

}  // namespace
}  // namespace tessera::test
