#include "taskgraph/transfer/migration_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "grid/refined_levels.hpp"
#include "taskgraph/transfer/check_migration.hpp"
#include "tests/graph_fuzz/recut.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Two levels, the upper one over the middle, and a variable of each centering on both.
struct MigrationCase {
  Geometry geometry{{}, {1.0, 1.0, 1.0}, {12, 8, 6}, {true, false, false}};
  std::shared_ptr<const Hierarchy> mesh = refinedHierarchy(geometry, {Division::By::Patches, {3, 2, 2}},
                                                           {{2, {{{2, 2, 1}, {9, 6, 5}}}, {5, 4, 3}}});
  LabelTable labels;
  std::vector<LevelLabel> which;

  MigrationCase() {
    const LabelId ids[] = {
        labels.variable<double, Cell>("cells").id, labels.variable<float, Node>("nodes").id,
        labels.variable<double, FaceX>("facesX").id, labels.variable<double, FaceZ>("facesZ").id};
    for (const LabelId id : ids) {
      for (const LevelId level : {0, 1}) which.push_back({id, level});
    }
  }

  std::vector<MigrationPlan> plansOf(const OwnedMesh& before, const OwnedMesh& after, int ranks) const {
    std::vector<MigrationPlan> plans;
    for (Rank rank = 0; rank < ranks; ++rank)
      plans.push_back(planMigration(before, after, which, labels, rank));
    return plans;
  }
};

/// The patches of a mesh that the fuzzer has drawn, but with all cells: it may drop some of the finest level.
bool hasAllCells(const Hierarchy& mesh, const Hierarchy& other) {
  return mesh.level(1).cellCount() == other.level(1).cellCount();
}

TEST(MigrationPlan, GivesEachIndexOneSourceWhateverTheMeshes) {
  const MigrationCase c;
  int checked = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 8);
    const auto first = fuzz::recut(*c.mesh, seed);
    const auto second = fuzz::recut(*c.mesh, seed + 1000);
    if (!hasAllCells(*c.mesh, *first) || !hasAllCells(*c.mesh, *second)) continue;
    const OwnedMesh before{first, fuzz::ownersByPlace(*first, ranks, seed, 0)};
    const OwnedMesh after{second, fuzz::ownersByPlace(*second, ranks, seed, 1)};
    EXPECT_THAT(checkMigration(c.plansOf(before, after, ranks), before, after, c.which, c.labels), IsEmpty())
        << "seed " << seed << ", " << ranks << " ranks";
    ++checked;
  }
  EXPECT_GT(checked, 40);
}

TEST(MigrationPlan, OfTheSameMeshCopiesEachPatchOnceAndSendsNothing) {
  const MigrationCase c;
  const OwnedMesh mesh{c.mesh, distribute(*c.mesh, 1)};
  const MigrationPlan plan = planMigration(mesh, mesh, c.which, c.labels, 0);
  EXPECT_THAT(plan.local, SizeIs(4 * c.mesh->patchCount()));
  EXPECT_THAT(plan.sends, IsEmpty());
  EXPECT_THAT(plan.receives, IsEmpty());
}

TEST(MigrationPlan, RefusesAMeshWithCellsThatWereNotThere) {
  const MigrationCase c;
  const auto larger = refinedHierarchy(c.geometry, {Division::By::Patches, {1, 1, 1}},
                                       {{2, {{{2, 2, 1}, {10, 6, 5}}}, {16, 16, 16}}});
  const OwnedMesh before{c.mesh, distribute(*c.mesh, 1)};
  const OwnedMesh after{larger, distribute(*larger, 1)};
  try {
    planMigration(before, after, c.which, c.labels, 0);
    FAIL() << "no refusal";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.message(), HasSubstr("cells that the mesh before it has not"));
    EXPECT_THAT(error.message(), HasSubstr("L1/P0001"));
  }
}

/// A region of level 1 that moves, vanishes and comes back, on 1 to 8 ranks.
TEST(MigrationPlan, ListsWhatNoPatchHadBefore) {
  const MigrationCase c;
  const Box regions[] = {{{2, 2, 1}, {9, 6, 5}}, {{4, 1, 1}, {11, 7, 5}}, {{0, 0, 0}, {2, 2, 2}}, {}};
  const auto meshOf = [&](const Box& region) {
    std::vector<Box> boxes;
    if (!region.empty()) boxes.push_back(region);
    return refinedHierarchy(c.geometry, {Division::By::Patches, {3, 2, 2}}, {{2, boxes, {5, 4, 3}}});
  };
  for (const Box& first : regions) {
    for (const Box& second : regions) {
      for (int ranks = 1; ranks <= 8; ranks += 3) {
        const OwnedMesh before{meshOf(first), distribute(*meshOf(first), ranks)};
        const OwnedMesh after{meshOf(second), distribute(*meshOf(second), ranks)};
        std::vector<MigrationPlan> plans;
        std::int64_t fresh = 0;
        for (Rank rank = 0; rank < ranks; ++rank) {
          plans.push_back(planMigration(before, after, c.which, c.labels, rank, FreshIndices::Listed));
          for (const MigrationPiece& piece : plans.back().fresh)
            fresh += piece.label == c.which.front().label ? piece.box.volume() : 0;
        }
        EXPECT_THAT(checkMigration(plans, before, after, c.which, c.labels), IsEmpty())
            << asText(first) << " to " << asText(second) << ", " << ranks << " ranks";
        EXPECT_EQ(fresh, 8 * (second.volume() - intersect(first, second).volume()));
      }
    }
  }
}

TEST(MigrationCheck, FindsWhatIsListedAsFreshAlthoughAPatchHadIt) {
  const MigrationCase c;
  const OwnedMesh mesh{c.mesh, distribute(*c.mesh, 1)};
  std::vector<MigrationPlan> plans = c.plansOf(mesh, mesh, 1);
  MigrationPiece piece = plans[0].local.front();
  plans[0].local.erase(plans[0].local.begin());
  piece.from = -1;
  plans[0].fresh.push_back(piece);
  EXPECT_THAT(checkMigration(plans, mesh, mesh, c.which, c.labels),
              ::testing::Contains(HasSubstr("are not carried over")));
}

TEST(MigrationCheck, FindsWhatIsWrongWithPlans) {
  const MigrationCase c;
  const OwnedMesh before{c.mesh, distribute(*c.mesh, 2)};
  OwnedMesh after = before;
  for (Rank& owner : after.owners) owner = 1 - owner;
  const std::vector<MigrationPlan> right = c.plansOf(before, after, 2);
  ASSERT_THAT(right[0].receives, SizeIs(1));
  const auto faultsOf = [&](const std::vector<MigrationPlan>& plans) {
    return checkMigration(plans, before, after, c.which, c.labels);
  };
  ASSERT_THAT(faultsOf(right), IsEmpty());

  std::vector<MigrationPlan> wrong = right;
  wrong[0].receives[0].pieces.pop_back();
  EXPECT_THAT(faultsOf(wrong), ::testing::Contains(HasSubstr("do not agree")));
  EXPECT_THAT(faultsOf(wrong), ::testing::Contains(HasSubstr("does not get each value once")));
  wrong = right;
  wrong[0].receives.clear();
  EXPECT_THAT(faultsOf(wrong), ::testing::Contains(HasSubstr("does not wait for")));
  wrong = right;
  wrong[1].sends[0].pieces[0].box.hi.i += 1;
  wrong[0].receives[0].pieces[0].box.hi.i += 1;
  EXPECT_THAT(faultsOf(wrong), ::testing::Contains(HasSubstr("gives what it has not")));
  wrong = right;
  wrong[0].local.push_back(right[0].receives[0].pieces[0]);
  EXPECT_THAT(faultsOf(wrong), ::testing::Contains(HasSubstr("gives what it has not")));
}

}  // namespace
}  // namespace tessera
