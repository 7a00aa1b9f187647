#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "grid/refined_levels.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::faultsOf;
using test::NoBody;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlanFaults : public ::testing::Test {
 protected:
  std::vector<std::string> faults() { return faultsOf({&initial_, &step_}, labels_, mesh_); }

  LabelTable labels_;
  Label<double, Cell> a_ = labels_.variable<double, Cell>("alpha");
  Label<double, Cell> b_ = labels_.variable<double, Cell>("beta");
  std::shared_ptr<const Hierarchy> mesh_ = test::mesh({8, 8, 1}, {2, 2, 1}, {true, false, false});
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

TEST_F(PlanFaults, ReadOfNewWithoutProducerNamesTaskLabelAndFix) {
  step_.task("Test::reads").reads(New, a_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("no task computes what a task reads"),
                                          HasSubstr("Test::reads"), HasSubstr("reads  New alpha"),
                                          HasSubstr("read Old alpha, or add a task with "
                                                    ".writes(alpha)"),
                                          HasSubstr("taskgraph/plan_fault_test.cpp:"))));
}

TEST_F(PlanFaults, TwoProducersAreListedBoth) {
  step_.task("Test::one").writes(a_).runs<Cpu>(NoBody{});
  step_.task("Test::two").writes(a_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(),
              ElementsAre(AllOf(HasSubstr("two tasks write one label"), HasSubstr("Test::one"),
                                HasSubstr("Test::two"), HasSubstr(".modifies(alpha, from(\"Test::one\"))"))));
}

TEST_F(PlanFaults, ACycleIsShownAsAChain) {
  step_.task("Test::one").reads(New, b_).writes(a_).runs<Cpu>(NoBody{});
  step_.task("Test::two").reads(New, a_).writes(b_).runs<Cpu>(NoBody{});
  EXPECT_THAT(
      faults(),
      ElementsAre(HasSubstr("Test::one waits for Test::two (beta), which waits for Test::one (alpha)")));
}

TEST_F(PlanFaults, TwoModifiersWithoutOrderNameTheClauseThatSettlesIt) {
  step_.task("Test::write").writes(a_).runs<Cpu>(NoBody{});
  step_.task("Test::one").modifies(a_).runs<Cpu>(NoBody{});
  step_.task("Test::two").modifies(a_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("the order of two modifications is not settled"),
                                          HasSubstr(".modifies(alpha, from(\"Test::one\"))"))));
  StepPlan settled("settled");
  settled.task("Test::write").writes(a_).runs<Cpu>(NoBody{});
  settled.task("Test::two").modifies(a_, from("Test::one")).runs<Cpu>(NoBody{});
  settled.task("Test::one").modifies(a_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faultsOf({&settled}, labels_, mesh_), IsEmpty());
}

TEST_F(PlanFaults, ModifyingWhatNobodyWrites) {
  step_.task("Test::changes").modifies(a_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("a label is modified, but no task writes it in this plan")));
}

TEST_F(PlanFaults, ReadingFromATaskThatDoesNotComputeTheLabel) {
  step_.task("Test::write").writes(a_).runs<Cpu>(NoBody{});
  step_.task("Test::reads").reads(New, a_, from("Test::wrong")).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(),
              ElementsAre(AllOf(HasSubstr("from(\"Test::wrong\")"), HasSubstr("name one of: Test::write"))));
}

TEST_F(PlanFaults, OldThatNobodyEverWritesAndOldInTheFirstPlan) {
  initial_.task("Test::first").reads(Old, a_).writes(b_).runs<Cpu>(NoBody{});
  step_.task("Test::reads").reads(Old, a_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("the first plan reads Old"),
                                    HasSubstr("a task reads Old of a label that no plan ever writes")));
}

TEST_F(PlanFaults, OldThatOnlyALaterPlanWritesHasNoValueAtTheStart) {
  initial_.task("Test::first").writes(a_).runs<Cpu>(NoBody{});
  step_.task("Test::often").reads(Old, b_).writes(a_).runs<Cpu>(NoBody{});
  StepPlan rare("rare");
  rare.task("Test::seldom").writes(b_).runs<Cpu>(NoBody{});
  EXPECT_THAT(
      faultsOf({&initial_, &step_, &rare}, labels_, mesh_),
      ElementsAre(AllOf(HasSubstr("a task reads Old of a label that has no value at the start"),
                        HasSubstr("plan   step"), HasSubstr("task   Test::often"),
                        HasSubstr("reads  Old beta"), HasSubstr("left   by plan rare, task Test::seldom"),
                        HasSubstr("fix    write beta in declareInitial as well"))));
  initial_.task("Test::second").writes(b_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faultsOf({&initial_, &step_, &rare}, labels_, mesh_), IsEmpty());
}

TEST_F(PlanFaults, AStepThatReadsWhatItWasTheFirstToWriteHasNoValueEither) {
  initial_.task("Test::first").writes(a_).runs<Cpu>(NoBody{});
  step_.task("Test::sum").reads(Old, b_).writes(b_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("left   by plan step, task Test::sum")));
}

/// Three levels on a line of 16 cells; the third lies at the very edge of the second.
class LevelFaults : public PlanFaults {
 protected:
  LevelFaults() {
    Geometry geometry;
    geometry.cells = {16, 1, 1};
    geometry.periodic = {true, false, false};
    const RefinedLevel second{2, {Box{{4, 0, 0}, {8, 1, 1}}}, {4, 1, 1}};
    const RefinedLevel third{2, {Box{{8, 0, 0}, {12, 1, 1}}}, {4, 1, 1}};
    mesh_ = refinedHierarchy(geometry, {Division::By::Patches, {2, 1, 1}}, {second, third});
    initial_.task("Test::initial").writes(a_).writes(b_).runs<Cpu>(NoBody{});
  }
};

TEST_F(LevelFaults, AReadOfTheCoarserLevelThatLeavesItNamesThePatchAndTheFix) {
  step_.task("Test::under").on(2).reads(Old, a_, fromCoarser()).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), IsEmpty());
  step_.task("Test::around").on(2).reads(Old, a_, fromCoarser(1)).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(),
              ElementsAre(AllOf(HasSubstr("a read of the coarser level leaves it"),
                                HasSubstr("alpha under patch L2/P"), HasSubstr("of which level 1 lacks 1"),
                                HasSubstr("enlarge the boxes of level 1"))));
}

TEST_F(LevelFaults, AHaloThatNeedsOldBelowItsLevelWantsItWrittenThere) {
  const auto c = labels_.variable<double, Cell>("gamma");
  initial_.task("Test::fine").on(1).writes(c).runs<Cpu>(NoBody{});
  step_.task("Test::reads").on(1).reads(Old, c, halo(1)).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("a task reads Old of a label that no plan ever writes"),
                                          HasSubstr("reads  Old gamma\n"))));
}

TEST_F(PlanFaults, AMissingBoundaryConditionNamesTheSide) {
  initial_.task("Test::write").writes(a_).runs<Cpu>(NoBody{});
  step_.task("Test::reads").reads(Old, a_, halo(0, 1)).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(),
              ElementsAre(AllOf(HasSubstr("reads  Old alpha beyond y_high"), HasSubstr("setBoundary"))));
}

TEST_F(PlanFaults, AHaloWiderThanTheLevelIsRefusedWhereTheAxisEnds) {
  labels_.setBoundary(a_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  initial_.task("Test::write").writes(a_).runs<Cpu>(NoBody{});
  step_.task("Test::reads").reads(Old, a_, halo(9)).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("9 layers along y, where level 0 has 8 cells"),
                                          HasSubstr("declare at most halo(8)"))));
}

TEST_F(PlanFaults, ATaskWithoutBodyAndATaskNamedTwice) {
  step_.task("Test::empty").writes(a_);
  step_.task("Test::empty").writes(b_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("a task has no body"),
                                    HasSubstr("two tasks of one plan have the same name")));
}

TEST_F(PlanFaults, DifferentKindsOfOneReduction) {
  const auto r = labels_.reduction("r");
  step_.task("Test::one").contributes(r, Min).runs<Cpu>(NoBody{});
  step_.task("Test::two").contributes(r, Sum).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("two tasks contribute to one reduction in different ways")));
}

TEST_F(PlanFaults, OneLabelForTwoKindsOfDataNamesBoth) {
  labels_.variable<float, Cell>("alpha");
  labels_.variable<double, Node>("beta");
  EXPECT_THAT(faults(),
              ElementsAre(AllOf(HasSubstr("two components use one label with different kinds of data"),
                                HasSubstr("label  alpha"), HasSubstr("known  double, cell centred"),
                                HasSubstr("asked  float, cell centred"), HasSubstr("fix    ")),
                          AllOf(HasSubstr("label  beta"), HasSubstr("asked  double, node centred"))));
}

TEST_F(PlanFaults, ALabelOnALevelWhereNobodyWritesItAndADeviceOnlyTaskAreNamed) {
  Geometry geometry;
  geometry.cells = {8, 8, 1};
  mesh_ = refinedHierarchy(geometry, {Division::By::Patches, {2, 2, 1}}, {{2, {Box{{2, 2, 0}, {4, 4, 1}}}}});
  step_.task("Test::coarse").on(0).writes(a_).runs<Cpu>(NoBody{});
  step_.task("Test::reads").on(1).reads(New, a_).runs<Cpu>(NoBody{});
  step_.task("Test::device").writes(b_).runs<Gpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("a task can run on a device only, and there is none"),
                                          HasSubstr("Test::device"), HasSubstr("write .runs<Cpu, Gpu>(...)")),
                                    AllOf(HasSubstr("no task computes what a task reads"),
                                          HasSubstr("reads  New alpha on level 1"),
                                          HasSubstr("add a task with .writes(alpha)"))));
}

/// Every kind of fault that a set of plans can have, in one compile.
TEST_F(PlanFaults, OfEveryKindAreReportedAtOnceAndEachHasAFix) {
  Geometry geometry;
  geometry.cells = {8, 8, 1};
  mesh_ = refinedHierarchy(geometry, {Division::By::Patches, {2, 2, 1}}, {{2, {Box{{2, 2, 0}, {4, 4, 1}}}}});
  const auto c = labels_.variable<double, Cell>("gamma");
  const auto d = labels_.variable<double, Cell>("delta");
  const auto e = labels_.variable<double, Cell>("epsilon");
  labels_.setBoundary(d, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  labels_.variable<float, Cell>("alpha");
  initial_.task("Test::initial").writes(d).runs<Cpu>(NoBody{});
  step_.task("Test::noProducer").reads(New, a_).runs<Cpu>(NoBody{});
  step_.task("Test::one").writes(b_).runs<Cpu>(NoBody{});
  step_.task("Test::two").writes(b_).runs<Cpu>(NoBody{});
  step_.task("Test::round").reads(New, d).writes(c).runs<Cpu>(NoBody{});
  step_.task("Test::about").reads(New, c).writes(d).runs<Cpu>(NoBody{});
  step_.task("Test::wide").on(0).reads(Old, d, halo(9)).runs<Cpu>(NoBody{});
  step_.task("Test::fineOnly").on(1).writes(e).runs<Cpu>(NoBody{});
  step_.task("Test::elsewhere").on(0).reads(New, e).runs<Cpu>(NoBody{});
  step_.task("Test::device").runs<Gpu>(NoBody{});

  const std::vector<std::string> found = faults();

  for (const char* what :
       {"two components use one label", "no task computes what a task reads", "two tasks write one label",
        "tasks wait for one another in a cycle", "a halo is wider than the level", "New epsilon",
        "a task can run on a device only"}) {
    EXPECT_THAT(found, ::testing::Contains(HasSubstr(what)));
  }
  EXPECT_THAT(found, ::testing::Each(HasSubstr("\n  fix    ")));
}

TEST_F(PlanFaults, AllFaultsOfAllPlansAreReportedAtOnce) {
  initial_.task("Test::first").reads(New, a_).runs<Cpu>(NoBody{});
  step_.task("Test::one").writes(b_).runs<Cpu>(NoBody{});
  step_.task("Test::two").writes(b_).runs<Cpu>(NoBody{});
  EXPECT_EQ(faults().size(), 2U);
}

TEST_F(PlanFaults, ATaskOnAllPatchesOfALevelSaysWhatItCannotHave) {
  step_.task("Test::both").oncePerRank().oncePerLevel().reads(Old, a_, wholeLevel()).runs<Cpu>(NoBody{});
  step_.task("Test::device").oncePerLevel().writes(a_).runs<Cpu, Gpu>(NoBody{});
  step_.task("Test::scratch").oncePerLevel().scratch(a_).writes(b_, inLoop("x")).runs<Cpu>(NoBody{});
  initial_.task("Test::initial").writes(a_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("Test::both"), HasSubstr("keep one of")),
                                    AllOf(HasSubstr("Test::device"), HasSubstr("write .runs<Cpu>(...)")),
                                    AllOf(HasSubstr("Test::scratch"), HasSubstr(".scratch(...)")),
                                    AllOf(HasSubstr("Test::scratch"), HasSubstr(".inLoop(...)"))));
}

TEST_F(PlanFaults, ATableThatNobodyHasMade) {
  step_.task("Test::looks").reads(TableLabel{}).writes(a_).runs<Cpu>(NoBody{});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("constant table that nobody has made"),
                                          HasSubstr("Test::looks"), HasSubstr("setup.labels.table"))));
}

TEST_F(PlanFaults, OneTableOfDifferentNumbers) {
  const TableLabel first = labels_.table("rates", {1.0, 2.0});
  EXPECT_EQ(labels_.table("rates", {1.0, 2.0}).id, first.id);
  labels_.table("rates", {1.0, 3.0});
  EXPECT_THAT(faults(), ElementsAre(AllOf(HasSubstr("one constant table of different numbers"),
                                          HasSubstr("table  rates"))));
}

}  // namespace
}  // namespace tessera
