#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/runtime_rig.hpp"

namespace tessera {
namespace {

using test::RunShape;
using ::testing::HasSubstr;

std::shared_ptr<const Hierarchy> line(std::int64_t cells, std::int64_t patches, bool periodic = true) {
  Geometry geometry;
  geometry.cells = {cells, 1, 1};
  geometry.periodic = {periodic, periodic, periodic};
  return Hierarchy::uniform(geometry, {Division::By::Patches, {patches, 1, 1}});
}

const RunShape kShapes[] = {
    {1, 0, false, {}}, {1, 3, false, {}}, {2, 2, false, 7}, {4, 0, false, 8}, {8, 1, true, 9}};

TEST(StepRunner, SumsAreTheSameBitsForAnyLayoutRanksAndThreads) {
  for (const std::int64_t patches : {1, 3, 16}) {
    for (const RunShape& shape : kShapes) {
      SCOPED_TRACE(std::to_string(patches) + " patches, " + std::to_string(shape.ranks) + " ranks");
      LabelTable labels;
      const auto total = labels.reduction("total");
      const auto low = labels.reduction("low");
      const auto high = labels.reduction("high");
      const auto u = labels.variable<double, Cell>("u");
      StepPlan plan("initial");
      plan.task("Test::write").writes(u).runs<Cpu>([u](const auto& task) {
        const auto out = task.write(u);
        forEach(task.exec(), "w", task.interior(),
                [=](Index x) { out(x) = 1.0 / (1.0 + static_cast<double>(x.i)); });
      });
      plan.task("Test::reduce")
          .reads(New, u)
          .contributes(total, Sum)
          .contributes(low, Min)
          .contributes(high, Max)
          .runs<Cpu>([=](const auto& task) {
            const auto in = task.read(New, u);
            const auto value = [=](Index x) { return in(x); };
            task.contribute(total, reduce(task.exec(), "sum", task.interior(), Sum, value));
            task.contribute(low, reduce(task.exec(), "min", task.interior(), Min, value));
            task.contribute(high, reduce(task.exec(), "max", task.interior(), Max, value));
          });
      ExactSum expected;
      for (int i = 0; i < 48; ++i) expected.add(1.0 / (1.0 + i));
      test::runOnRanks(shape, line(48, patches), labels, {&plan},
                       [&](StepRunner& runner, DataWarehouse&, Transport& transport) {
                         const double mine[2] = {static_cast<double>(transport.rank()), -1.0};
                         const StepResult r = runner.run(0, {0.0, 0.0, 0, mine});
                         EXPECT_EQ(r.reductions[0], expected.value());
                         EXPECT_EQ(r.reductions[1], 1.0 / 48.0);
                         EXPECT_EQ(r.reductions[2], 1.0);
                         EXPECT_EQ(r.control[0], shape.ranks - 1.0);
                         EXPECT_EQ(r.control[1], -1.0);
                       });
    }
  }
}

/// u is written, doubled, then shifted by its left neighbour; a reader of each version checks what it sees.
TEST(StepRunner, EachReaderSeesTheVersionThatItNames) {
  for (const RunShape& shape : kShapes) {
    SCOPED_TRACE(std::to_string(shape.ranks) + " ranks");
    LabelTable labels;
    const auto u = labels.variable<double, Cell>("u");
    const auto wrong = labels.reduction("wrong");
    StepPlan plan("initial");
    const auto expect = [=](auto version) {
      return [=](const auto& task) {
        const auto in = task.read(New, u);
        const Box box = grow(task.interior(), {{1, 0, 0}, {0, 0, 0}});
        task.contribute(wrong, reduce(task.exec(), "check", box, Sum, [=](Index x) {
                          return in(x) == version(((x.i % 12) + 12) % 12) ? 0.0 : 1.0;
                        }));
      };
    };
    const auto written = [](std::int64_t i) { return static_cast<double>(i + 1); };
    const auto doubled = [](std::int64_t i) { return 2.0 * static_cast<double>(i + 1); };
    const auto shifted = [](std::int64_t i) { return 2.0 * static_cast<double>((i + 11) % 12 + 1); };
    const Halo left{{1, 0, 0}, {0, 0, 0}};
    // Declared back to front on purpose: order of declaration is no trap.
    plan.task("Test::checkShifted")
        .reads(New, u, HaloClause{left})
        .contributes(wrong, Sum)
        .runs<Cpu>(expect(shifted));
    plan.task("Test::checkDoubled")
        .reads(New, u, HaloClause{left}, from("Test::double"))
        .contributes(wrong, Sum)
        .runs<Cpu>(expect(doubled));
    plan.task("Test::checkWritten")
        .reads(New, u, HaloClause{left}, from("Test::write"))
        .contributes(wrong, Sum)
        .runs<Cpu>(expect(written));
    plan.task("Test::shift")
        .reads(New, u, HaloClause{left})
        .modifies(u, from("Test::double"))
        .runs<Cpu>([=](const auto& task) {
          const auto in = task.read(New, u);
          const auto out = task.modify(u);
          for (std::int64_t i = task.interior().hi.i - 1; i >= task.interior().lo.i; --i) {
            out({i, 0, 0}) = in({i - 1, 0, 0});
          }
        });
    plan.task("Test::double").modifies(u).runs<Cpu>([=](const auto& task) {
      const auto out = task.modify(u);
      forEach(task.exec(), "double", task.interior(), [=](Index x) { out(x) *= 2.0; });
    });
    plan.task("Test::write").writes(u).runs<Cpu>([=](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "write", task.interior(), [=](Index x) { out(x) = written(x.i); });
    });
    test::runOnRanks(shape, line(12, 4), labels, {&plan},
                     [&](StepRunner& runner, DataWarehouse&, Transport&) {
                       for (int repeat = 0; repeat < 3; ++repeat)
                         EXPECT_EQ(runner.run(0, {}).reductions[0], 0.0);
                     });
  }
}

TEST(StepRunner, LabelsThatAPlanDoesNotWriteKeepTheirOldValue) {
  LabelTable labels;
  const auto kept = labels.variable<double, Cell>("kept");
  const auto moving = labels.variable<double, Cell>("moving");
  const auto sum = labels.reduction("sum");
  StepPlan initial("initial");
  initial.task("Test::initial").writes(kept).writes(moving).runs<Cpu>([=](const auto& task) {
    const auto a = task.write(kept);
    const auto b = task.write(moving);
    forEach(task.exec(), "i", task.interior(), [=](Index x) { a(x) = b(x) = 1.0; });
  });
  StepPlan step("step");
  step.task("Test::step")
      .reads(Old, kept)
      .reads(Old, moving)
      .writes(moving)
      .contributes(sum, Sum)
      .runs<Cpu>([=](const auto& task) {
        const auto a = task.read(Old, kept);
        const auto b = task.read(Old, moving);
        const auto out = task.write(moving);
        forEach(task.exec(), "s", task.interior(), [=](Index x) { out(x) = a(x) + b(x); });
        task.contribute(sum,
                        reduce(task.exec(), "r", task.interior(), Sum, [=](Index x) { return a(x) + b(x); }));
      });
  test::runOnRanks({2, 2, false, 3}, line(8, 4), labels, {&initial, &step},
                   [&](StepRunner& runner, DataWarehouse&, Transport&) {
                     runner.run(0, {});
                     for (int s = 1; s <= 5; ++s) EXPECT_EQ(runner.run(1, {}).reductions[0], 8.0 * (s + 1));
                   });
}

TEST(StepRunner, VectorsAndFloatsCrossRanksLikeDoubles) {
  using V = Vec<float, 3>;
  LabelTable labels;
  const auto v = labels.variable<V, Cell>("velocity");
  const auto wrong = labels.reduction("wrong");
  StepPlan plan("initial");
  plan.task("Test::write").writes(v).runs<Cpu>([=](const auto& task) {
    const auto out = task.write(v);
    forEach(task.exec(), "w", task.interior(), [=](Index x) {
      const auto i = static_cast<float>(x.i);
      out(x) = V{{i, 10.0F * i, 100.0F * i}};
    });
  });
  plan.task("Test::check").reads(New, v, halo(2)).contributes(wrong, Sum).runs<Cpu>([=](const auto& task) {
    const auto in = task.read(New, v);
    task.contribute(
        wrong, reduce(task.exec(), "c", grow(task.interior(), {{2, 0, 0}, {2, 0, 0}}), Sum, [=](Index x) {
          const auto i = static_cast<float>((x.i + 10) % 10);
          return in(x) == V{{i, 10.0F * i, 100.0F * i}} ? 0.0 : 1.0;
        }));
  });
  for (const RunShape& shape : kShapes) {
    test::runOnRanks(shape, line(10, 3), labels, {&plan},
                     [&](StepRunner& runner, DataWarehouse&, Transport&) {
                       EXPECT_EQ(runner.run(0, {}).reductions[0], 0.0);
                     });
  }
}

TEST(StepRunner, TheFirstNanIsNamedByVariablePatchCellAndTask) {
  for (const int threads : {0, 2}) {
    LabelTable labels;
    const auto u = labels.variable<double, Cell>("density");
    StepPlan plan("initial");
    plan.task("Test::divide").writes(u).runs<Cpu>([=](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "d", task.interior(), [=](Index x) { out(x) = x.i == 5 ? std::sqrt(-1.0) : 1.0; });
    });
    try {
      test::runOnRanks({1, threads, false, {}}, line(8, 2), labels, {&plan},
                       [](StepRunner& runner, DataWarehouse&, Transport&) { runner.run(0, {}); });
      FAIL() << "the NaN was not reported";
    } catch (const NumericalError& error) {
      EXPECT_THAT(error.message(), HasSubstr("density"));
      EXPECT_THAT(error.message(), HasSubstr("cell (5, 0, 0) of patch L0/P0001"));
      EXPECT_THAT(error.message(), HasSubstr("Test::divide"));
    }
  }
}

TEST(StepRunner, AFailedTaskEndsTheStepWithItsOwnError) {
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  StepPlan plan("initial");
  plan.task("Test::fails").writes(u).runs<Cpu>([=](const auto& task) {
    if (task.patch().id == 3) throw InputError("table of the equation of state is missing");
    const auto out = task.write(u);
    forEach(task.exec(), "f", task.interior(), [=](Index x) { out(x) = 0.0; });
  });
  for (const int threads : {0, 1, 4}) {
    EXPECT_THROW(test::runOnRanks({1, threads, false, {}}, line(32, 8), labels, {&plan},
                                  [](StepRunner& runner, DataWarehouse&, Transport&) { runner.run(0, {}); }),
                 InputError);
  }
}

TEST(StepRunner, WaitingForAnotherRankCountsAsWaiting) {
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  const auto total = labels.reduction("total");
  StepPlan plan("initial");
  plan.task("Test::oneIsSlow").writes(u).contributes(total, Max).runs<Cpu>([=](const auto& task) {
    if (task.patch().id == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto out = task.write(u);
    forEach(task.exec(), "f", task.interior(), [=](Index x) { out(x) = 0.0; });
    task.contribute(total, 1.0);
  });
  for (const int threads : {0, 1, 2}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    test::runOnRanks({2, threads, false, {}}, line(8, 2), labels, {&plan},
                     [](StepRunner& runner, DataWarehouse& data, Transport&) {
                       runner.run(0, {});
                       const bool isSlow = data.ownPatches().front() == 1;
                       const double waited = runner.statistics().waitSeconds;
                       if (isSlow) return;
                       EXPECT_GE(waited, 0.1);
                     });
  }
}

TEST(StepRunner, AConditionOfTimeHoldsAtTheTimeOfTheValue) {
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  const auto oldHalo = labels.reduction("old");
  const auto newHalo = labels.reduction("new");
  BoundaryConditions conditions = BoundaryConditions::everywhere(BoundaryKind::Outflow);
  conditions.sides[0] = SideCondition{BoundaryKind::Dirichlet, Expression::parse("100 * t")};
  conditions.sides[1] = SideCondition{BoundaryKind::Neumann, Expression::parse("3")};
  labels.setBoundary(u, conditions);
  StepPlan initial("initial");
  StepPlan step("step");
  for (StepPlan* plan : {&initial, &step}) {
    plan->task("Test::write").writes(u).runs<Cpu>([=](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "w", task.interior(), [=](Index x) { out(x) = static_cast<double>(x.i); });
    });
  }
  const auto beyond = [=](Generation generation, ReductionLabel to) {
    return [=](const auto& task) {
      const auto in = task.read(generation, u);
      task.contribute(to, in(task.interior().lo - ex));
      EXPECT_EQ(in(task.interior().hi - ey - ez),
                3.0 + 3.0 * 0.25);  // h = 1/4: one spacing between mirrored cells
    };
  };
  step.task("Test::old").reads(Old, u, halo(1)).contributes(oldHalo, Max).runs<Cpu>(beyond(Old, oldHalo));
  step.task("Test::new").reads(New, u, halo(1)).contributes(newHalo, Max).runs<Cpu>(beyond(New, newHalo));
  test::runOnRanks({1, 0, false, {}}, line(4, 1, false), labels, {&initial, &step},
                   [&](StepRunner& runner, DataWarehouse&, Transport&) {
                     runner.run(0, {});
                     const StepResult r = runner.run(1, {2.0, 0.5, 1, {}});
                     EXPECT_EQ(r.reductions[0], 2.0 * 200.0);
                     EXPECT_EQ(r.reductions[1], 2.0 * 250.0);
                   });
}

}  // namespace
}  // namespace tessera
