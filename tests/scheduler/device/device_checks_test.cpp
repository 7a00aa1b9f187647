// Checked mode and the search for NaN on a device: what is found there is said in the words of the host.
#include <cmath>
#include <limits>
#include <thread>

#include <gmock/gmock.h>

#include "grid/refined_levels.hpp"
#include "tests/scheduler/device/device_rig.hpp"
#include "tests/scheduler/device/marker_bodies_kernels.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera {
namespace {

using test::Marker;
using test::RunShape;
using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// 8 x 6 x 4 cells in 2 x 2 patches of 4 x 3 x 4, and two variables of which one is copied to the other.
class DeviceChecks : public test::OnEachDevice {
 protected:
  DeviceChecks() {
    Geometry geometry;
    geometry.cells = {8, 6, 4};
    geometry.periodic = {true, true, true};
    hierarchy_ = Hierarchy::uniform(geometry, {Division::By::Patches, {2, 2, 1}});
    initial_.task("Test::initial")
        .writes(a_)
        .writes(b_)
        .writes(c_)
        .runs<Cpu>([a = a_, b = b_, c = c_](const auto& task) {
          const auto outA = task.write(a);
          const auto outB = task.write(b);
          const auto outC = task.write(c);
          forEach(task.exec(), "initial", task.interior(), [=](Index x) { outA(x) = outB(x) = 1.0; });
          forEach(task.exec(), "initial", task.interior(c), [=](Index x) { outC(x) = {{1.0F, 1.0F}}; });
        });
  }

  template <class... Clauses>
  TaskBuilder declare(const Marker& marker, const Clauses&... ofWrite) {
    return step_.task("Test::marker").reads(Old, a_, halo(1)).writes(b_, ofWrite...).runs(bodyOf(marker));
  }

  /// What the first failure says; empty without one. On the host, or on a device of the kind at hand.
  std::string failure(bool onDevice, RunShape shape, std::int64_t steps = 1) {
    if (onDevice) {
      shape.devices.kind = isCuda() ? DeviceKind::Cuda : DeviceKind::Emulated;
      shape.devices.emulated.longestDelay = std::chrono::microseconds(5);
      shape.devices.standbyThread = shape.threads > 0;
    }
    std::string message;
    failedAt_.reset();
    test::runOnRanks(shape, hierarchy_, labels_, {&initial_, &step_},
                     [&](StepRunner& runner, DataWarehouse&, Transport&) {
                       try {
                         runner.run(0, {});
                         for (std::int64_t n = 0; n < steps; ++n) runner.run(1, inputsOf(n));
                         runner.waitForDevices();
                       } catch (const Error& error) {
                         message = error.message();
                         failedAt_ = runner.failedAt();
                       }
                     });
    return message;
  }
  static StepInputs inputsOf(std::int64_t step) {
    StepInputs inputs;
    inputs.time = 0.1 * static_cast<double>(step);
    inputs.dt = 0.1;
    inputs.step = step;
    inputs.shownStep = step + 1;
    return inputs;
  }
  static RunShape checked(int threads = 0) {
    RunShape shape;
    shape.checked = true;
    shape.threads = threads;
    return shape;
  }

  /// The device says what the host says, in this mode, with threads and without; returns it.
  std::string sameMessage(RunShape shape) {
    const std::string right = failure(false, shape);
    for (const int threads : {0, 2}) {
      shape.threads = threads;
      EXPECT_EQ(failure(true, shape), right) << threads << " threads";
    }
    return right;
  }

  LabelTable labels_;
  Label<double, Cell> a_ = labels_.variable<double, Cell>("alpha");
  Label<double, Cell> b_ = labels_.variable<double, Cell>("beta");
  Label<Vec<float, 2>, Node> c_ = labels_.variable<Vec<float, 2>, Node>("gamma");
  ReductionLabel total_ = labels_.reduction("total");
  std::shared_ptr<const Hierarchy> hierarchy_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  std::optional<StepMoment> failedAt_;
};

TEST_P(DeviceChecks, AnOverReadByOneCellInEachDirectionIsNamedAsOnTheHost) {
  struct Case {
    Index reads;
    const char* cell;
  };
  for (const Case& c :
       {Case{{2, 0, 0}, "alpha at cell (5, 0, 0)"}, Case{{-2, 0, 0}, "alpha at cell (-2, 0, 0)"},
        Case{{0, 2, 0}, "alpha at cell (0, 4, 0)"}, Case{{0, -2, 0}, "alpha at cell (0, -2, 0)"},
        Case{{0, 0, 2}, "alpha at cell (0, 0, 5)"}, Case{{0, 0, -2}, "alpha at cell (0, 0, -2)"}}) {
    step_ = StepPlan("step");
    declare({.from = a_, .to = b_, .reads = c.reads});
    const std::string message = sameMessage(checked());
    EXPECT_THAT(message, HasSubstr("task reads more halo than it declared"));
    EXPECT_THAT(message, HasSubstr("Test::marker on patch L0/P0000"));
    EXPECT_THAT(message, HasSubstr(c.cell));
    EXPECT_THAT(message, HasSubstr("2 layers outside the patch"));
  }
}

TEST_P(DeviceChecks, ReadingOneLayerAfterDeclaringOneIsRight) {
  for (const int streams : {1, 3}) {
    step_ = StepPlan("step");
    declare({.from = a_, .to = b_, .reads = {1, -1, 1}}).streams(streams);
    EXPECT_EQ(sameMessage(checked()), "") << streams << " streams";
  }
}

TEST_P(DeviceChecks, AnEdgeOfAHaloOfFacesIsNamedAsOnTheHost) {
  for (const bool edge : {false, true}) {
    step_ = StepPlan("step");
    const Marker marker{.from = a_, .to = b_, .reads = {1, edge ? 1 : 0, 0}};
    step_.task("Test::marker").reads(Old, a_, faceHalo(1)).writes(b_).runs(bodyOf(marker));
    const std::string message = sameMessage(checked());
    if (edge) {
      EXPECT_THAT(message,
                  HasSubstr("task reads an edge or corner of a halo of which it declared the faces"));
      EXPECT_THAT(message, HasSubstr("alpha at cell (4, 3, 0)"));
    } else {
      EXPECT_EQ(message, "");
    }
  }
}

TEST_P(DeviceChecks, AWriteOutsideThePatchIsNamedAsOnTheHost) {
  declare({.from = a_, .to = b_, .writes = {0, 1, 0}});
  const std::string message = sameMessage(checked());
  EXPECT_THAT(message, HasSubstr("task writes outside its patch"));
  EXPECT_THAT(message, HasSubstr("beta at cell (0, 3, 0), 1 layer outside the patch"));
}

TEST_P(DeviceChecks, AnUnwrittenCellIsNamedAsOnTheHost) {
  for (const int streams : {1, 3}) {
    step_ = StepPlan("step");
    declare({.from = a_, .to = b_, .at = {6, 5, 3}, .skips = true}).streams(streams);
    const std::string message = sameMessage(checked());
    EXPECT_THAT(message, HasSubstr("leaves a part of its output unwritten"));
    EXPECT_THAT(message, HasSubstr("beta, but not at cell (6, 5, 3)"));
  }
}

TEST_P(DeviceChecks, WhatWasNotWrittenYetIsNoValueAsOnTheHost) {
  step_.task("Test::unset").writes(b_).runs(bodyOf(test::ReadsUnset{b_}));
  const std::string message = sameMessage(checked());
  EXPECT_THAT(message, HasSubstr("a value is not finite"));
  EXPECT_THAT(message, HasSubstr("cell (0, 0, 0) of patch L0/P0000"));
}

TEST_P(DeviceChecks, AMissingContributionIsNamedAsOnTheHost) {
  step_.task("Test::silent").reads(Old, a_).contributes(total_, Sum).runs(bodyOf(test::Silent{a_}));
  EXPECT_EQ(failure(true, checked()), failure(false, checked()));
  EXPECT_THAT(failure(true, checked(2)), HasSubstr("declared  .contributes(total)"));
}

TEST_P(DeviceChecks, ALabelThatWasNotDeclaredIsNamedAsOnTheHost) {
  declare({.from = b_, .to = b_});
  EXPECT_THAT(sameMessage(checked()), HasSubstr("add .reads(Old, beta) to Test::marker"));
}

/// The standby thread launches while the only worker is in a long task; then nothing is left that would ask.
TEST_P(DeviceChecks, WhatTheStandbyThreadCannotLaunchIsSaidWhenTheHostIsThrough) {
  Geometry geometry;
  geometry.cells = {4, 3, 4};
  geometry.periodic = {true, true, true};
  hierarchy_ = Hierarchy::uniform(geometry, {Division::By::Patches, {1, 1, 1}});
  declare({.from = b_, .to = b_});
  step_.task("Test::long").writes(c_).runs<Cpu>([c = c_](const auto& task) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto out = task.write(c);
    forEach(task.exec(), "long", task.interior(c), [=](Index x) { out(x) = {{1.0F, 1.0F}}; });
  });
  EXPECT_THAT(failure(true, checked(1)), HasSubstr("add .reads(Old, beta) to Test::marker"));
}

/// An L over a coarser level, of which the corner (7, 7) is missing.
TEST_P(DeviceChecks, APartOfALevelThatNoPatchCoversIsNamedAsOnTheHost) {
  Geometry geometry;
  geometry.cells = {4, 4, 2};
  geometry.periodic = {true, true, true};
  const Division division{Division::By::PatchSize, {2, 2, 2}};
  RefinedLevel fine;
  fine.patchSize = division.value;
  fine.boxes = {{{0, 0, 0}, {4, 2, 2}}, {{0, 2, 0}, {2, 4, 2}}};
  hierarchy_ = refinedHierarchy(geometry, division, {fine});
  for (const bool covered : {true, false}) {
    step_ = StepPlan("step");
    step_.task("Test::level")
        .on(finestLevel())
        .reads(Old, b_, wholeLevel())
        .writes(b_)
        .runs(bodyOf(test::ReadsOneCell{b_, {7, covered ? 3 : 7, 0}}));
    const std::string message = sameMessage(checked());
    if (covered) {
      EXPECT_EQ(message, "");
    } else {
      EXPECT_THAT(message, HasSubstr("task reads a part of a level that no patch covers"));
      EXPECT_THAT(message, HasSubstr("beta at cell (7, 7, 0) of level 1"));
    }
  }
}

TEST_P(DeviceChecks, ANumberThatIsNotFiniteIsNamedAsOnTheHostWithChecksAndWithout) {
  for (const Index cell : {Index{0, 0, 0}, Index{6, 4, 1}, Index{7, 5, 3}}) {
    for (const double number : {kNan, -kNan, kInfinity, -kInfinity}) {
      step_ = StepPlan("step");
      declare({.from = a_, .to = b_, .at = cell, .number = number});
      const std::string message = sameMessage({});
      EXPECT_THAT(message, HasSubstr("cell " + asText(cell) + " of patch L0/P000"));
      EXPECT_THAT(message, HasSubstr("Test::marker, declared at "));
      EXPECT_EQ(sameMessage(checked()), message);
    }
  }
}

TEST_P(DeviceChecks, SoIsOneThatTheLoopItselfLooksAt) {
  for (const int streams : {1, 3}) {
    for (const Index cell : {Index{0, 0, 0}, Index{6, 4, 1}, Index{7, 5, 3}}) {
      step_ = StepPlan("step");
      declare({.from = a_, .to = b_, .at = cell, .number = -kInfinity}, inLoop("Test::marker"))
          .streams(streams);
      const std::string message = sameMessage({});
      EXPECT_THAT(message, HasSubstr("beta = -inf"));
      EXPECT_THAT(message, HasSubstr("cell " + asText(cell) + " of patch L0/P000"));
    }
  }
}

TEST_P(DeviceChecks, SoIsOneOfAVectorOfFloats) {
  step_.task("Test::vector")
      .writes(c_)
      .runs(bodyOf(test::MarksVector{c_, {3, 2, 3}, std::numeric_limits<float>::infinity()}));
  const std::string message = sameMessage({});
  EXPECT_THAT(message, HasSubstr("gamma = inf"));
  EXPECT_THAT(message, HasSubstr("node (3, 2, 3)"));
}

TEST_P(DeviceChecks, TheLargestNumbersAreFinite) {
  declare({.from = a_, .to = b_, .at = {1, 1, 1}, .number = std::numeric_limits<double>::max()},
          inLoop("Test::marker"));
  EXPECT_EQ(sameMessage({}), "");
}

TEST_P(DeviceChecks, NobodyLooksWhereTheSearchIsOff) {
  declare({.from = a_, .to = b_, .at = {1, 1, 1}, .number = kNan});
  RunShape shape;
  shape.findNonFinite = false;
  EXPECT_EQ(sameMessage(shape), "");
}

/// The lane runs ahead of the device: the finding of step 3 comes to light in a later one.
TEST_P(DeviceChecks, AFindingNamesTheStepThatItWasMadeIn) {
  declare({.from = a_, .to = b_, .at = {1, 1, 1}, .number = kNan, .onlyInStep = 2});
  for (const int threads : {0, 2}) {
    RunShape shape;
    shape.threads = threads;
    EXPECT_THAT(failure(true, shape, 9), HasSubstr("cell (1, 1, 1)"));
    ASSERT_TRUE(failedAt_);
    EXPECT_EQ(failedAt_->plan, 1U);
    EXPECT_EQ(failedAt_->shownStep, 3);
    EXPECT_EQ(failedAt_->time, 0.2);
  }
}

/// b is wrong first, and everything computed from it later on.
TEST_P(DeviceChecks, TheFirstTaskIsNamedAndNotWhoReadsItsValues) {
  declare({.from = a_, .to = b_, .at = {1, 1, 1}, .number = kNan});
  step_.task("Test::later").reads(New, b_).writes(a_).runs(bodyOf(test::Follower{b_, a_}));
  EXPECT_THAT(sameMessage({}), HasSubstr("Test::marker, declared at "));
}

INSTANTIATE_TEST_SUITE_P(Backends, DeviceChecks, ::testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

TEST(FoundAt, KeepsIndexAndKindAndTheOrderOfLoops) {
  for (const Index x : {Index{0, 0, 0}, Index{-2, 5, 7}, Index{511, -1, 300000}}) {
    for (const NonFinite kind : {NonFinite::Nan, NonFinite::MinusInfinity}) {
      const FoundAt back = FoundAt::unpack(FoundAt{x, kind}.packed());
      EXPECT_EQ(back.relative, x);
      EXPECT_EQ(back.number, kind);
    }
  }
  EXPECT_LT((FoundAt{{9, 0, 0}}.packed()), (FoundAt{{0, 1, 0}}.packed()));
  EXPECT_LT((FoundAt{{9, 9, -1}}.packed()), (FoundAt{{-5, 0, 0}}.packed()));
  const Index far{std::int64_t{1} << 40, 0, 0};
  EXPECT_EQ(FoundAt::unpack(FoundAt{far}.packed()).relative.i, FoundAt::kMost);
}

}  // namespace
}  // namespace tessera
