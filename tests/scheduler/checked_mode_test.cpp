#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/runtime_rig.hpp"

namespace tessera {
namespace {

using test::RunShape;
using ::testing::HasSubstr;

/// A line of 8 cells in 2 patches with two labels; each test declares one faulty task.
class CheckedMode : public ::testing::Test {
 protected:
  CheckedMode() {
    Geometry geometry;
    geometry.cells = {8, 4, 1};
    geometry.periodic = {true, true, true};
    hierarchy_ = Hierarchy::uniform(geometry, {Division::By::Patches, {2, 1, 1}});
    initial_.task("Test::initial").writes(a_).writes(b_).runs<Cpu>([a = a_, b = b_](const auto& task) {
      const auto outA = task.write(a);
      const auto outB = task.write(b);
      forEach(task.exec(), "initial", task.interior(), [=](Index x) { outA(x) = outB(x) = 1.0; });
    });
  }

  /// The message of the first failure in checked mode, with threads and without.
  std::string failure(int threads = 0, bool checked = true) {
    try {
      RunShape shape;
      shape.checked = checked;
      shape.threads = threads;
      test::runOnRanks(shape, hierarchy_, labels_, {&initial_, &step_},
                       [](StepRunner& runner, DataWarehouse&, Transport&) {
                         runner.run(0, {});
                         runner.run(1, {0.0, 0.1, 1, {}});
                       });
    } catch (const UndeclaredAccess& error) {
      label_ = error.label();
      return error.message();
    }
    return "no failure";
  }

  LabelTable labels_;
  Label<double, Cell> a_ = labels_.variable<double, Cell>("alpha");
  Label<double, Cell> b_ = labels_.variable<double, Cell>("beta");
  ReductionLabel sum_ = labels_.reduction("total");
  std::shared_ptr<const Hierarchy> hierarchy_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  std::string label_;
};

TEST_F(CheckedMode, DeclaringALoopThatTheBodyDoesNotHaveNamesIt) {
  const auto body = [a = a_](const auto& task) {
    const auto out = task.write(a);
    forEach(task.exec(), "Test::fill", task.interior(), [=](Index x) { out(x) = 2.0; });
  };
  step_.task("Test::right").writes(a_, inLoop("Test::fill")).runs<Cpu>(body);
  EXPECT_EQ(failure(), "no failure");

  step_ = StepPlan("step");
  step_.task("Test::wrong").writes(a_, inLoop("Test::fil")).runs<Cpu>(body);
  const std::string message = failure();
  EXPECT_THAT(message, HasSubstr("task declares a loop that its body does not have"));
  EXPECT_THAT(message, HasSubstr("Test::wrong on patch L0/P0000"));
  EXPECT_THAT(message, HasSubstr("inLoop(\"Test::fil\") for alpha"));
}

TEST_F(CheckedMode, ReadingTwoLayersAfterDeclaringOneNamesTheCellAndTheClause) {
  step_.task("Test::reads").reads(Old, a_, halo(1)).writes(b_).runs<Cpu>([a = a_, b = b_](const auto& task) {
    const auto in = task.read(Old, a);
    const auto out = task.write(b);
    forEach(task.exec(), "reads", task.interior(), [=](Index x) { out(x) = in(x + ex) + in(x - 2 * ex); });
  });
  for (const int threads : {0, 2}) {
    const std::string message = failure(threads);
    EXPECT_THAT(message, HasSubstr("task reads more halo than it declared"));
    EXPECT_THAT(message, HasSubstr("Test::reads on patch L0/P000"));
    EXPECT_THAT(message, HasSubstr("alpha at cell ("));
    EXPECT_THAT(message, HasSubstr("2 layers outside the patch"));
    EXPECT_THAT(message, HasSubstr("declare halo(2) for alpha in Test::reads"));
    EXPECT_THAT(message, HasSubstr("tests/scheduler/checked_mode_test.cpp:"));
    EXPECT_EQ(label_, "alpha");
  }
}

TEST_F(CheckedMode, ReadingACornerAfterDeclaringFacesNamesTheCellAndTheClause) {
  step_.task("Test::reads")
      .reads(Old, a_, faceHalo(1))
      .writes(b_)
      .runs<Cpu>([a = a_, b = b_](const auto& task) {
        const auto in = task.read(Old, a);
        const auto out = task.write(b);
        forEach(task.exec(), "reads", task.interior(),
                [=](Index x) { out(x) = in(x + ex) + in(x - ex + ey); });
      });
  const std::string message = failure();
  EXPECT_THAT(message, HasSubstr("an edge or corner of a halo of which it declared the faces"));
  EXPECT_THAT(message, HasSubstr("Test::reads on patch L0/P000"));
  EXPECT_THAT(message, HasSubstr("alpha at cell (-1, 4"));
  EXPECT_THAT(message, HasSubstr("outside the patch along 2 axes"));
  EXPECT_THAT(message, HasSubstr("declare halo(1) for alpha in Test::reads"));
  EXPECT_EQ(label_, "alpha");
}

TEST_F(CheckedMode, ReadingFacesAfterDeclaringThemIsFine) {
  step_.task("Test::reads")
      .reads(Old, a_, faceHalo(2))
      .writes(b_)
      .runs<Cpu>([a = a_, b = b_](const auto& task) {
        const auto in = task.read(Old, a);
        const auto out = task.write(b);
        forEach(task.exec(), "reads", task.interior(),
                [=](Index x) { out(x) = in(x + 2 * ex) + in(x - 2 * ex) + in(x + 2 * ey) + in(x - 2 * ey); });
      });
  EXPECT_EQ(failure(), "no failure");
}

TEST_F(CheckedMode, ATaskThatReadsFacesTwiceAndCornersOnceMayReadCorners) {
  step_.task("Test::reads")
      .reads(Old, a_, faceHalo(1))
      .reads(Old, a_, halo(1))
      .reads(Old, a_, faceHalo(1))
      .writes(b_)
      .runs<Cpu>([a = a_, b = b_](const auto& task) {
        const auto in = task.read(Old, a);
        const auto out = task.write(b);
        forEach(task.exec(), "reads", task.interior(), [=](Index x) { out(x) = in(x + ex + ey); });
      });
  EXPECT_EQ(failure(), "no failure");
}

TEST_F(CheckedMode, AnOverReadShowsOnOnePatchToo) {
  Geometry geometry;
  geometry.cells = {8, 4, 1};
  geometry.periodic = {true, true, true};
  hierarchy_ = Hierarchy::uniform(geometry, {Division::By::Patches, {1, 1, 1}});
  step_.task("Test::reads").reads(Old, a_, halo(1)).writes(b_).runs<Cpu>([a = a_, b = b_](const auto& task) {
    const auto in = task.read(Old, a);
    const auto out = task.write(b);
    forEach(task.exec(), "reads", task.interior(), [=](Index x) { out(x) = in(x + 2 * ey); });
  });
  EXPECT_THAT(failure(), HasSubstr("alpha at cell (0, 5, 0), 2 layers outside the patch"));
}

TEST_F(CheckedMode, ReadingAnUndeclaredLabelNamesTheClauseToAdd) {
  step_.task("Test::reads").reads(Old, b_).writes(b_).runs<Cpu>([a = a_, b = b_](const auto& task) {
    const auto in = task.read(Old, a);
    const auto out = task.write(b);
    forEach(task.exec(), "reads", task.interior(), [=](Index x) { out(x) = in(x); });
  });
  for (const bool checked : {true, false}) {
    EXPECT_THAT(failure(0, checked), HasSubstr("add .reads(Old, alpha) to Test::reads"));
  }
}

TEST_F(CheckedMode, ReadingTheOtherGenerationIsUndeclared) {
  step_.task("Test::reads").reads(Old, a_).writes(b_).runs<Cpu>([a = a_, b = b_](const auto& task) {
    const auto in = task.read(New, a);
    const auto out = task.write(b);
    forEach(task.exec(), "reads", task.interior(), [=](Index x) { out(x) = in(x); });
  });
  EXPECT_THAT(failure(), HasSubstr("add .reads(New, alpha) to Test::reads"));
}

TEST_F(CheckedMode, AnUnwrittenCellIsNamed) {
  step_.task("Test::writes").reads(Old, b_).writes(b_).runs<Cpu>([b = b_](const auto& task) {
    const auto out = task.write(b);
    forEach(task.exec(), "writes", task.interior(), [=](Index x) {
      if (!(x == Index{6, 2, 0})) out(x) = 1.0;
    });
  });
  const std::string message = failure();
  EXPECT_THAT(message, HasSubstr("leaves a part of its output unwritten"));
  EXPECT_THAT(message, HasSubstr("not at cell (6, 2, 0)"));
}

TEST_F(CheckedMode, WritingOutsideThePatchIsNamed) {
  step_.task("Test::writes").reads(Old, b_, halo(1)).writes(b_).runs<Cpu>([b = b_](const auto& task) {
    const auto out = task.write(b);
    forEach(task.exec(), "writes", task.interior(), [=](Index x) { out(x + ey) = 1.0; });
  });
  const std::string message = failure();
  EXPECT_THAT(message, HasSubstr("task writes outside its patch"));
  EXPECT_THAT(message, HasSubstr("beta at cell (0, 4, 0), 1 layer outside the patch"));
}

TEST_F(CheckedMode, ChangingAnInputIsNamed) {
  step_.task("Test::cheats").reads(Old, a_).writes(b_).runs<Cpu>([a = a_, b = b_](const auto& task) {
    const auto in = task.read(Old, a);
    const auto out = task.write(b);
    forEach(task.exec(), "cheats", task.interior(),
            [=](Index x) { out(x) = const_cast<double&>(in(x)) += 1.0; });
  });
  const std::string message = failure();
  EXPECT_THAT(message, HasSubstr("an input changed while the task that reads it was running"));
  EXPECT_THAT(message, HasSubstr("alpha"));
}

TEST_F(CheckedMode, AMissingContributionIsNamed) {
  step_.task("Test::sums").reads(Old, a_).contributes(sum_, Sum).runs<Cpu>([](const auto&) {});
  EXPECT_THAT(failure(), HasSubstr("declared  .contributes(total)"));
}

TEST_F(CheckedMode, AnUndeclaredContributionIsNamed) {
  step_.task("Test::sums").reads(Old, a_).runs<Cpu>([s = sum_](const auto& task) {
    task.contribute(s, ExactSum{});
  });
  EXPECT_THAT(failure(), HasSubstr("add .contributes(total, Min|Max|Sum) to Test::sums"));
}

TEST_F(CheckedMode, ATaskMayReadWhatItThenChangesButNotTheHaloThatItReads) {
  step_.task("Test::write").writes(a_).runs<Cpu>([a = a_](const auto& task) {
    const auto out = task.write(a);
    forEach(task.exec(), "write", task.interior(), [=](Index x) { out(x) = 2.0; });
  });
  bool cheats = false;
  step_.task("Test::change")
      .reads(New, a_, halo(1))
      .modifies(a_)
      .runs<Cpu>([a = a_, &cheats](const auto& task) {
        const auto in = task.read(New, a);
        const auto out = task.modify(a);
        forEach(task.exec(), "change", task.interior(), [=](Index x) { out(x) = 3.0 * in(x); });
        if (cheats) const_cast<double&>(in(task.interior().lo - ex)) = 0.0;
      });
  EXPECT_EQ(failure(), "no failure");
  cheats = true;
  EXPECT_THAT(failure(), HasSubstr("an input changed while the task that reads it was running"));
}

TEST_F(CheckedMode, ARightTaskPassesWithAStencilAcrossAnUnresolvedAxis) {
  step_.task("Test::stencil")
      .reads(Old, a_, halo(1))
      .writes(b_)
      .runs<Cpu>([a = a_, b = b_](const auto& task) {
        const auto in = task.read(Old, a);
        const auto out = task.write(b);
        forEach(task.exec(), "stencil", task.interior(),
                [=](Index x) { out(x) = in(x - ex) + in(x + ey) + in(x + ez); });
      });
  EXPECT_EQ(failure(), "no failure");
}

}  // namespace
}  // namespace tessera
