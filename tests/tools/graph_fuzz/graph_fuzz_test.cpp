#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/proof/race_check.hpp"
#include "tests/graph_fuzz/check_case.hpp"
#include "tests/graph_fuzz/draw_case.hpp"
#include "tests/graph_fuzz/fuzz_run.hpp"
#include "tests/graph_fuzz/kernel.hpp"
#include "tests/graph_fuzz/plain_model.hpp"
#include "tests/graph_fuzz/program.hpp"
#include "tests/taskgraph/edge_drop.hpp"

namespace tessera::fuzz {
namespace {

using ::testing::HasSubstr;

TEST(GraphFuzz, RandomPlansGiveTheValuesOfThePlainModelOnEveryShape) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const FuzzReport report = fuzz(seed, 0, 400);
    if (report.failure) {
      ADD_FAILURE() << report.failure->shrunk.outcome.text << '\n'
                    << asText(report.failure->shrunk.least) << "replay: " << report.failure->replay;
    }
    EXPECT_GE(report.passed, report.refused) << "draw plans that are accepted at least every other time";
    EXPECT_GT(report.conflicts, 10'000);
  }
}

/// A task that had read a gather buffer before its next tenant was taken for one whose value that tenant
/// gathers; the first row of a shared window lacked Old coarse cells of the other members.
TEST(GraphFuzz, PlacementsThatWereWrongOnceAreProved) {
  for (const auto& [seed, number] : {std::pair{11U, 239}, std::pair{12U, 212}}) {
    const Outcome outcome = checkCase(drawCase(seed, number));
    EXPECT_EQ(outcome.kind, Outcome::Kind::Passed)
        << outcome.text << "replay: " << replayLine(seed, number, {});
  }
}

/// The race check itself, on random graphs: a lost edge may not pass.
void expectEveryDropIsFound(WindowSharing sharing) {
  std::map<std::string, int> found;
  int cases = 0;
  for (std::int64_t number = 0; cases < 150; ++number) {
    FuzzCase c = drawCase(11, number);
    c.shapes.resize(1);
    try {
      const Program program(c);
      const auto graphs = program.compile(c.shapes[0], sharing);
      for (std::size_t plan = 0; plan < c.plans.size(); ++plan) {
        if (nodesOfAllRanks(graphs, plan) > 150) continue;
        const test::DropReport report = test::dropEach(graphs, plan);
        EXPECT_THAT(report.unreported, ::testing::IsEmpty())
            << "plan " << plan << " of " << replayLine(11, number, {}) << '\n'
            << asText(c);
        for (const auto& [name, count] : report.found) found[name] += count;
      }
      ++cases;
    } catch (const PlanError&) {
      continue;
    }
  }
  EXPECT_GE(found.size(), 15U) << "classes of edges";
}

TEST(GraphFuzz, RaceCheckFindsEveryDroppedEdgeOfRandomGraphs) { expectEveryDropIsFound(WindowSharing::Off); }
TEST(GraphFuzz, RaceCheckFindsEveryDroppedEdgeOfRandomGraphsWithSharedWindows) {
  expectEveryDropIsFound(WindowSharing::On);
}

TEST(GraphFuzz, ACaseIsTheSameEachTimeItIsDrawn) {
  for (std::int64_t n = 0; n < 50; ++n) EXPECT_EQ(asText(drawCase(9, n)), asText(drawCase(9, n)));
}

/// A line of four cells, refined in the middle: plan 0 writes v0, plan 1 writes it again from Old values one
/// cell around.
class PlainModelLine : public ::testing::Test {
 protected:
  PlainModelLine() {
    case_.geometry.cells = {4, 1, 1};
    case_.refined = {{2, {Box{{1, 0, 0}, {3, 1, 1}}}, {8, 1, 1}}};
    case_.labels.resize(1);
    case_.labels[0].conditions.fill(BoundaryKind::Dirichlet);
    case_.labels[0].dirichlet = 5;
    write_.writes = {{0, false, -1}};
    average_ = write_;
    average_.reads = {{Generation::Old, 0, Reach::Patch, {{1, 0, 0}, {1, 0, 0}}, -1, -1}};
    case_.plans = {{write_}, {average_}, {}};
  }

  /// What `average` leaves at x when these are the values at x, x - 1 and x + 1.
  double expected(LevelId level, std::int64_t x, double here, double left, double right) const {
    return static_cast<double>(combine(case_, average_, level, {x, 0, 0}, Centering::Cell, saltOfWrite(0, 1),
                                       [&](std::size_t, Index at) {
                                         const double value = at.i == x ? here : at.i < x ? left : right;
                                         return std::optional(reduced(static_cast<std::int64_t>(value)));
                                       }));
  }

  FuzzCase case_;
  TaskSpec write_;
  TaskSpec average_;
};

TEST_F(PlainModelLine, KnowsConditionsPeriodsAndValuesBelowALevel) {
  for (const bool periodic : {false, true}) {
    case_.geometry.periodic[0] = periodic;
    PlainModel model(case_);
    model.run(0, 0);
    const auto old = [&, before = model](LevelId level, std::int64_t x) {
      return *before.value(0, level, {x, 0, 0});
    };
    EXPECT_NE(old(0, 0), old(0, 1));
    model.run(1, 1);
    const double beyond = periodic ? old(0, 3) : 2.0 * 5.0 - old(0, 0);
    EXPECT_EQ(model.value(0, 0, {0, 0, 0}), expected(0, 0, old(0, 0), beyond, old(0, 1)));
    EXPECT_EQ(model.value(0, 0, {2, 0, 0}), expected(0, 2, old(0, 2), old(0, 1), old(0, 3)));
    // Fine cells 2 .. 5; left of them lies coarse cell 0, right of them coarse cell 3.
    EXPECT_EQ(model.value(0, 1, {2, 0, 0}), expected(1, 2, old(1, 2), old(0, 0), old(1, 3)));
    EXPECT_EQ(model.value(0, 1, {5, 0, 0}), expected(1, 5, old(1, 5), old(1, 4), old(0, 3)));
  }
}

TEST_F(PlainModelLine, APlanThatDoesNotWriteALabelLeavesIt) {
  PlainModel model(case_);
  model.run(0, 0);
  const auto before = model.value(0, 1, {2, 0, 0});
  model.run(2, 1);
  EXPECT_EQ(model.value(0, 1, {2, 0, 0}), before);
}

TEST(GraphFuzz, AFailureShrinksToWhatCausesItAndItsPathLeadsThereAgain) {
  const FuzzCase c = drawCase(4, 7);
  // As if every case with two ranks or more failed.
  const auto check = [](const FuzzCase& now) -> Outcome {
    for (const ShapeSpec& shape : now.shapes) {
      if (shape.ranks >= 2) return {Outcome::Kind::Failed, {}, "made up: for the test", 0};
    }
    return {};
  };
  ASSERT_EQ(check(c).kind, Outcome::Kind::Failed) << "draw another case for this test";
  const Shrunk shrunk = shrink(c, check(c), 10'000, check);
  EXPECT_EQ(shrunk.least.shapes.size(), 1U);
  EXPECT_EQ(shrunk.least.shapes[0].ranks, 2);
  EXPECT_TRUE(shrunk.least.refined.empty());
  EXPECT_EQ(shrunk.least.geometry.cells, (Extent{1, 1, 1}));
  std::size_t tasks = 0;
  for (const PlanSpec& plan : shrunk.least.plans) tasks += plan.size();
  EXPECT_EQ(tasks, 0U);
  EXPECT_EQ(asText(follow(c, shrunk.path)), asText(shrunk.least));
  EXPECT_THAT(replayLine(4, 7, shrunk.path), HasSubstr("--seed 4 --case 7 --smaller "));
}

}  // namespace
}  // namespace tessera::fuzz
