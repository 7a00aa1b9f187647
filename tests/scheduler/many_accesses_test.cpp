// A task with as many accesses as there may be: half of them reads with a halo, half of them writes.
#include <cmath>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera {
namespace {

using test::RunShape;
using ::testing::HasSubstr;

/// Variables w0, w1 and so on; one task shifts each of them by a cell and adds its number.
struct ManyVariables {
  LabelTable labels;
  std::vector<Label<double, Cell>> all;
  ReductionLabel total;
  StepPlan initial{"initial"};
  StepPlan step{"step"};

  ManyVariables(int variables, int readAlone, int invalid = -1) {
    for (int n = 0; n < variables + readAlone; ++n)
      all.push_back(labels.variable<double, Cell>("w" + std::to_string(n)));
    total = labels.reduction("total");
    for (const auto w : all) {
      initial.task("Test::start" + std::to_string(w.id)).writes(w).runs<Cpu>([w](const auto& task) {
        const auto out = task.write(w);
        forEach(task.exec(), "start", task.interior(),
                [=](Index x) { out(x) = static_cast<double>(1000 * w.id + x.i); });
      });
    }
    TaskBuilder shift = step.task("Test::shift");
    for (const auto w : all) shift.reads(Old, w, halo(1));
    for (int n = 0; n < variables; ++n) shift.writes(all[static_cast<std::size_t>(n)]);
    shift.runs<Cpu>([each = all, variables, invalid](const auto& task) {
      for (int n = 0; n < variables; ++n) {
        const auto w = each[static_cast<std::size_t>(n)];
        const auto in = task.read(Old, w);
        const auto out = task.write(w);
        const double more = n == invalid ? std::sqrt(-1.0) : n;
        forEach(task.exec(), "shift", task.interior(), [=](Index x) { out(x) = in(x - ex) + more; });
      }
    });
  }

  /// After one step: the number of cells that are not as they should be.
  int wrong(const RunShape& shape) {
    Geometry geometry;
    geometry.cells = {8, 1, 1};
    geometry.periodic = {true, true, true};
    const auto hierarchy = Hierarchy::uniform(geometry, {Division::By::Patches, {2, 1, 1}});
    int count = 0;
    std::mutex mutex;
    test::runOnRanks(shape, hierarchy, labels, {&initial, &step},
                     [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                       runner.run(0, {});
                       runner.run(1, {0.0, 1.0, 1, {}});
                       const std::lock_guard lock(mutex);
                       for (std::size_t local = 0; local < data.ownPatches().size(); ++local)
                         count += wrongIn(data, hierarchy->patch(data.ownPatches()[local]), local);
                     });
    return count;
  }

 private:
  int wrongIn(const DataWarehouse& data, const Patch& patch, std::size_t local) const {
    int count = 0;
    for (const auto w : all) {
      double values[4];
      data.packOwned(w.id, local, std::as_writable_bytes(std::span(values)));
      for (std::int64_t i = 0; i < 4; ++i) {
        const auto from = static_cast<double>((patch.cells.lo.i + i + 7) % 8);
        if (values[i] != 1001.0 * static_cast<double>(w.id) + from) ++count;
      }
    }
    return count;
  }
};

TEST(ManyAccesses, ATaskWithNinetySixOfThemIsRight) {
  ManyVariables many(48, 0);
  for (const RunShape& shape :
       {RunShape{1, 0}, RunShape{1, 2}, RunShape{2, 0, true}, RunShape{2, 2, false, 3}}) {
    EXPECT_EQ(many.wrong(shape), 0) << shape.ranks << " ranks, " << shape.threads << " threads";
  }
  RunShape scratch{1, 2};
  scratch.scratch = true;
  EXPECT_EQ(many.wrong(scratch), 0);
}

TEST(ManyAccesses, ANumberThatIsNotFiniteInTheLastOfThemIsNamed) {
  ManyVariables many(48, 0, 47);
  try {
    many.wrong({1, 2});
    FAIL() << "the NaN was not reported";
  } catch (const NumericalError& error) {
    EXPECT_THAT(error.message(), HasSubstr("w47"));
    EXPECT_THAT(error.message(), HasSubstr("Test::shift"));
  }
}

TEST(ManyAccesses, OneMoreIsRefusedBeforeTheFirstStep) {
  ManyVariables many(48, 1);
  try {
    many.wrong({1, 0});
    FAIL() << "a task with 97 accesses was taken";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("split a task with more than 96 accesses"));
  }
}

}  // namespace
}  // namespace tessera
