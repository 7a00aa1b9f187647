#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "grid/refined_levels.hpp"
#include "taskgraph/proof/race_check.hpp"
#include "tests/graph_fuzz/compare_graphs.hpp"
#include "tests/graph_fuzz/draw_case.hpp"
#include "tests/graph_fuzz/fuzz_run.hpp"
#include "tests/graph_fuzz/recut.hpp"
#include "tests/graph_fuzz/regrid_chain.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A line of 16 cells, cut at the given places, and a step that reads one halo layer.
class LineRegrid : public ::testing::Test {
 protected:
  LineRegrid() {
    initial_.task("Line::initial").writes(u_).runs<Cpu>(test::NoBody{});
    step_.task("Line::predict").reads(Old, u_, halo(1)).writes(v_).runs<Cpu>(test::NoBody{});
    step_.task("Line::correct").reads(New, v_, halo(1)).writes(u_).runs<Cpu>(test::NoBody{});
  }

  std::shared_ptr<const Hierarchy> line(const std::vector<std::int64_t>& cuts) const {
    Geometry geometry;
    geometry.cells = {16, 1, 1};
    geometry.periodic = {true, false, false};
    std::vector<Patch> patches;
    for (std::size_t n = 0; n + 1 < cuts.size(); ++n)
      patches.push_back({static_cast<PatchId>(n), 0, {{cuts[n], 0, 0}, {cuts[n + 1], 1, 1}}});
    std::vector<Level> levels;
    levels.emplace_back(0, geometry, Box{{}, geometry.cells}, Extent{1, 1, 1}, std::move(patches));
    return std::make_shared<const Hierarchy>(geometry, std::move(levels));
  }

  CompileInput input(const std::shared_ptr<const Hierarchy>& mesh, const RankMap& owners) const {
    return {mesh, &labels_, &owners, 0, 2};
  }
  std::vector<const StepPlan*> plans() const { return {&initial_, &step_}; }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> v_ = labels_.variable<double, Cell>("v");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

TEST_F(LineRegrid, PatchesThatStayKeepTheirSlotsAndNewOnesTakeThoseThatBecameFree) {
  const auto before = line({0, 4, 8, 12, 16});
  const auto after = line({0, 4, 6, 12, 16});
  const RankMap owners{0, 0, 0, 0};

  const CompileInput from = input(before, owners);
  Recompiled made = recompile(compileGraphs(plans(), from), plans(), from, input(after, owners));

  EXPECT_EQ(made.whyFull, "");
  EXPECT_EQ(made.changedPatches, 4);  // two went, two came
  EXPECT_THAT(made.graphs.ownPatches, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(made.graphs.hierarchy, after);
}

TEST_F(LineRegrid, ThePatchOfTheLastSlotMovesIntoAGap) {
  const auto before = line({0, 4, 8, 12, 16});
  const auto after = line({0, 8, 12, 16});
  const RankMap four{0, 0, 0, 0};
  const RankMap three{0, 0, 0};

  const CompileInput from = input(before, four);
  Recompiled made = recompile(compileGraphs(plans(), from), plans(), from, input(after, three));

  // [0, 8) takes the first free slot, [12, 16) leaves the last one for the other.
  EXPECT_EQ(made.whyFull, "");
  EXPECT_THAT(made.graphs.ownPatches, ElementsAre(0, 2, 1, -1));
  EXPECT_THAT(made.graphs.localOfPatch, ElementsAre(0, 2, 1));
  const CompiledGraph& graph = made.graphs.plans[1];
  EXPECT_FALSE(graph.isSpare(graph.blocks.back().firstNode + 2));
  EXPECT_TRUE(graph.isSpare(graph.blocks.back().firstNode + 3));
  EXPECT_TRUE(graph.successors(graph.blocks.front().firstNode + 3).empty());
}

TEST_F(LineRegrid, MorePatchesThanRoomAreCompiledAnewWithRoomForTheNextTime) {
  const auto before = line({0, 4, 8, 12, 16});
  const auto more = line({0, 2, 4, 8, 12, 16});
  const auto most = line({0, 2, 4, 6, 8, 12, 16});
  const RankMap four(4, 0);
  const RankMap five(5, 0);
  const RankMap six(6, 0);

  const CompileInput first = input(before, four);
  const CompileInput second = input(more, five);
  Recompiled grown = recompile(compileGraphs(plans(), first), plans(), first, second);
  EXPECT_THAT(grown.whyFull, HasSubstr("more patches than room"));
  Recompiled again = recompile(std::move(grown.graphs), plans(), second, input(most, six));
  EXPECT_EQ(again.whyFull, "");
  EXPECT_EQ(again.graphs.ownPatchCount(), 6);
}

TEST_F(LineRegrid, APatchGivenToAnotherRankLeavesItsSlotAndIsReceived) {
  const auto mesh = line({0, 4, 8, 12, 16});
  const RankMap mine{0, 0, 0, 1};
  const RankMap less{0, 0, 1, 1};

  const CompileInput from = input(mesh, mine);
  CompiledGraphs first = compileGraphs(plans(), from);
  Recompiled made = recompile(std::move(first), plans(), from, input(mesh, less));

  EXPECT_EQ(made.whyFull, "");
  EXPECT_THAT(made.graphs.ownPatches, ElementsAre(0, 1, -1));
  const CompiledGraph& graph = made.graphs.plans[1];
  EXPECT_EQ(graph.fills[0].pieces.row(1)[0].region, (Box{{8, 0, 0}, {9, 1, 1}}));
}

TEST_F(LineRegrid, OtherPlansAreCompiledAnew) {
  const auto mesh = line({0, 8, 16});
  const RankMap owners{0, 0};
  const CompileInput from = input(mesh, owners);
  const StepPlan other = step_.selection("other");
  const std::vector<const StepPlan*> others{&initial_, &other};

  const Recompiled made = recompile(compileGraphs(plans(), from), others, from, from);

  EXPECT_EQ(made.whyFull, "other step plans");
  EXPECT_EQ(made.graphs.plans[1].plan, &other);
}

TEST_F(LineRegrid, AMeshThatPlansCannotRunOnIsRefusedLikeByAFullCompile) {
  const auto mesh = line({0, 8, 16});
  const RankMap owners{0, 0};
  StepPlan broken{"broken"};
  broken.task("Line::broken").reads(New, v_).runs<Cpu>(test::NoBody{});
  const std::vector<const StepPlan*> others{&initial_, &broken};
  const CompileInput from = input(mesh, owners);

  EXPECT_THROW(recompile(compileGraphs(plans(), from), others, from, from), PlanError);
}

/// Two levels of many patches on four ranks, changed in small windows: most messages stay as they are.
class LocalRegrid : public ::testing::Test {
 protected:
  using Owners = RankMap (*)(const Hierarchy&);

  LocalRegrid() : LocalRegrid(halo(2), {Box{{8, 8, 0}, {40, 32, 1}}}, quarters) {}
  /// `wide`: what a task reads around the cells; `boxes`: where the finer level is.
  LocalRegrid(HaloClause wide, std::vector<Box> boxes, Owners ownersOf) : ownersOf_(ownersOf) {
    const auto u = labels_.variable<double, Cell>("u");
    const auto n = labels_.variable<double, Node>("n");
    labels_.setBoundary(u, BoundaryConditions::everywhere(BoundaryKind::Dirichlet, 0.0));
    const test::NoBody body;
    initial_.task("Local::initial").writes(u).writes(n).runs<Cpu>(body);
    step_.task("Local::nodes").reads(Old, u, halo(1)).reads(Old, n).writes(n).runs<Cpu>(body);
    step_.task("Local::cells").reads(New, n, halo(0, 1)).reads(Old, u, wide).writes(u).runs<Cpu>(body);
    step_.task("Local::down").on(allButFinest()).reads(New, u, fromFiner()).modifies(u).runs<Cpu>(body);
    Geometry geometry;
    geometry.cells = {48, 48, 1};
    geometry.periodic = {true, false, false};
    RefinedLevel fine;
    fine.boxes = std::move(boxes);
    fine.patchSize = {4, 4, 1};
    mesh_ = refinedHierarchy(geometry, {Division::By::PatchSize, {4, 4, 1}}, {fine});
    owners_ = ownersOf_(*mesh_);
    for (Rank rank = 0; rank < 4; ++rank)
      graphs_.push_back(compileGraphs(plans_, inputOf(mesh_, owners_, rank)));
  }

  /// A quarter of each level for each rank.
  static RankMap quarters(const Hierarchy& hierarchy) {
    RankMap owners;
    for (const Level& level : hierarchy.levels()) {
      const Extent all = level.domain().extent();
      for (const Patch& patch : level.patches())
        owners.push_back((2 * patch.cells.lo.i >= all.i ? 1 : 0) + (2 * patch.cells.lo.j >= all.j ? 2 : 0));
    }
    return owners;
  }
  CompileInput inputOf(const std::shared_ptr<const Hierarchy>& mesh, const RankMap& owners, Rank rank) const {
    return {mesh, &labels_, &owners, rank, 4};
  }

  static Box windowOf(std::uint64_t seed) {
    const auto x = static_cast<std::int64_t>(seed * 7 % 40);
    const auto y = static_cast<std::int64_t>(seed * 13 % 40);
    return {{x, y, 0}, {x + 16, y + 16, 1}};
  }

  void regrid(const std::shared_ptr<const Hierarchy>& next) {
    const RankMap owners = ownersOf_(*next);
    for (CompiledGraphs& own : graphs_) {
      CompileInput input = inputOf(next, owners, own.rank);
      Recompiled made = recompile(std::move(own), plans_, inputOf(mesh_, owners_, own.rank), input);
      inPlace_ += made.whyFull.empty() ? 1 : 0;
      if (made.whyFull.empty()) shared_.insert(made.graphs.shared.size());
      own = std::move(made.graphs);
      const GraphSlots slots = slotsOf(own);
      input.slots = &slots;
      EXPECT_EQ(fuzz::firstDifference(own, compileGraphs(plans_, input)), "") << "rank " << own.rank;
    }
    mesh_ = next;
    owners_ = owners;
  }

  Owners ownersOf_;
  LabelTable labels_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  std::vector<const StepPlan*> plans_{&initial_, &step_};
  std::shared_ptr<const Hierarchy> mesh_;
  RankMap owners_;
  std::vector<CompiledGraphs> graphs_;
  int inPlace_ = 0;
  std::set<std::size_t> shared_;  ///< how many shared windows graphs had that were changed in place
};

/// The same with halos so wide that patches share windows, on islands of four patches, of which a rank has
/// some or none: a group on an island comes and goes.
class WideRegrid : public LocalRegrid {
 protected:
  WideRegrid()
      : LocalRegrid(halo(8), {island(8, 8), island(36, 8), island(8, 36), island(36, 36)}, scattered) {}

  static Box island(std::int64_t x, std::int64_t y) { return {{x, y, 0}, {x + 4, y + 4, 1}}; }

  static RankMap scattered(const Hierarchy& mesh) { return fuzz::ownersByPlace(mesh, 4, 5, 0); }
};

TEST_F(WideRegrid, GroupsOfWindowsFollowAndAreEqualToThoseOfAFullCompile) {
  const auto first = mesh_;
  const Box beyondTheCoarseLevel{{48, 0, 0}, {96, 96, 1}};  // two islands
  for (std::uint64_t seed = 1; seed <= 80 && !HasFailure(); ++seed) {
    SCOPED_TRACE("window " + std::to_string(seed));
    regrid(fuzz::recut(*first, seed, seed % 4 == 0 ? windowOf(seed) : beyondTheCoarseLevel));
    if (seed % 20 == 0) expectNoRaces(graphs_);
  }
  EXPECT_GT(inPlace_, 200);
  EXPECT_GT(shared_.size(), 2u) << "groups come and go";
}

/// A line of which the one rank there is reads all, and one cell around each patch.
class WholeLineRegrid : public LineRegrid {
 protected:
  WholeLineRegrid() {
    whole_.task("Line::whole").reads(Old, u_, wholeLevel(0)).writes(v_).runs<Cpu>(test::NoBody{});
    whole_.task("Line::correct").reads(Old, u_, halo(1)).writes(u_).runs<Cpu>(test::NoBody{});
  }
  CompileInput input(const std::shared_ptr<const Hierarchy>& mesh, const RankMap& owners) const {
    return {mesh, &labels_, &owners, 0, 1};
  }

  StepPlan whole_{"whole"};
  std::vector<const StepPlan*> plans_{&initial_, &whole_};
};

TEST_F(WholeLineRegrid, TheWindowOfAWholeLevelStaysAndItsMembersFollow) {
  const auto before = line({0, 4, 8, 12, 16});
  const auto after = line({0, 4, 6, 9, 12, 16});
  const RankMap four(4, 0);
  const RankMap five(5, 0);
  CompileInput from = input(before, four);
  const GraphSlots slots = roomySlots(from);
  from.slots = &slots;
  CompiledGraphs first = compileGraphs(plans_, from);
  ASSERT_EQ(first.shared.size(), 1u);
  EXPECT_THAT(first.shared[0].members, ElementsAre(0, 1, 2, 3));

  const Recompiled made = recompile(std::move(first), plans_, from, input(after, five));

  EXPECT_EQ(made.whyFull, "");
  ASSERT_EQ(made.graphs.shared.size(), 1u);
  EXPECT_TRUE(made.graphs.shared[0].whole);
  EXPECT_THAT(made.graphs.shared[0].members, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(made.graphs.shared[0].window, (Box{{-1, 0, 0}, {17, 1, 1}}));
  for (const FillPlan& fill : made.graphs.plans[1].fills) EXPECT_EQ(fill.shared, (Range{0, 1}));
  expectNoRaces(std::vector<CompiledGraphs>{made.graphs});
}

TEST_F(WholeLineRegrid, ALevelThatIsNoWindowAnyMoreIsCompiledAnew) {
  const auto before = line({0, 8, 16});
  const auto after = line({0, 16});
  const RankMap two(2, 0);
  const RankMap one(1, 0);
  const CompileInput from = input(before, two);

  const Recompiled made = recompile(compileGraphs(plans_, from), plans_, from, input(after, one));

  EXPECT_THAT(made.whyFull, HasSubstr("read whole is stored in another way"));
  EXPECT_TRUE(made.graphs.shared.empty());
  EXPECT_GE(made.graphs.plans[1].fills[0].firstGather, 0);
}

TEST_F(LocalRegrid, IsEqualToAFullCompileOnEveryRank) {
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE("window " + std::to_string(seed));
    regrid(fuzz::recut(*mesh_, seed, windowOf(seed)));
    if (seed % 10 == 0) expectNoRaces(graphs_);
  }
  EXPECT_GT(inPlace_, 200);
}

/// Random plans, meshes and regrids; the chain compares each recompile with a full one.
TEST(Recompile, IsEqualToAFullCompileEntryByEntryAfterRandomRegrids) {
  int inPlace = 0;
  int shared = 0;
  int full = 0;
  int cases = 0;
  for (std::int64_t number = 0; cases < 250; ++number) {
    fuzz::FuzzCase c = fuzz::drawCase(17, number);
    fuzz::ShapeSpec shape = c.shapes[0];
    shape.regrids = 6;
    // A plan with a task of a whole level is always compiled anew, and most random plans have one.
    if (number % 4 != 0) {
      for (fuzz::PlanSpec& plan : c.plans)
        for (fuzz::TaskSpec& task : plan) task.oncePerLevel = false;
    }
    SCOPED_TRACE("replay: case " + std::to_string(number) + " of seed 17 with 6 regrids\n" + asText(c));
    try {
      const fuzz::Program program(c);
      fuzz::RegridChain chain(program, shape);
      const std::vector<CompiledGraphs> graphs = chain.run();
      expectNoRaces(graphs);
      inPlace += chain.inPlace();
      shared += chain.inPlaceShared();
      full += chain.full();
      ++cases;
    } catch (const PlanError&) {
      continue;
    } catch (const std::exception& error) {
      FAIL() << error.what();
    }
  }
  EXPECT_GT(inPlace, full) << "most regrids fit into the slots";
  EXPECT_GT(shared, 100) << "windows that patches share are among them";
  std::cout << inPlace << " in place, " << shared << " with shared windows, " << full << " full\n";
}

}  // namespace
}  // namespace tessera
