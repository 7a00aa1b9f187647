#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "grid/refined_levels.hpp"
#include "taskgraph/storage/memory_plan.hpp"
#include "tests/taskgraph/edge_drop.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::EdgeAt;
using test::NoBody;
using ::testing::Contains;
using ::testing::HasSubstr;

/// A step of temporaries: u -> a -> b -> c -> u, where b and c read a halo. While c is made, a is done with.
class TemporaryChain : public ::testing::Test {
 protected:
  TemporaryChain() {
    initial_.task("T::initial").writes(u_).runs<Cpu>(NoBody{});
    step_.task("T::a").reads(Old, u_).writes(a_).runs<Cpu>(NoBody{});
    step_.task("T::b").reads(New, a_, halo(1)).writes(b_).runs<Cpu>(NoBody{});
    step_.task("T::c").reads(New, b_, halo(1)).writes(c_).runs<Cpu>(NoBody{});
    step_.task("T::u").reads(New, c_).writes(u_).runs<Cpu>(NoBody{});
  }

  CompiledGraphs compile(const std::vector<const StepPlan*>& plans, std::vector<LabelId> kept = {},
                         BufferReuse reuse = BufferReuse::On) const {
    const RankMap owners(2, 0);
    CompileInput input{mesh_, &labels_, &owners, 0};
    input.reuse = reuse;
    input.kept = std::move(kept);
    return compileGraphs(plans, input);
  }
  static std::int32_t slotOf(const CompiledGraphs& graphs, LabelId label) {
    for (const LevelStorage& s : graphs.storage) {
      if (s.label == label) return s.slot;
    }
    return -2;
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> a_ = labels_.variable<double, Cell>("a");
  Label<double, Cell> b_ = labels_.variable<double, Cell>("b");
  Label<double, Cell> c_ = labels_.variable<double, Cell>("c");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  /// A ring of 8 cells in 2 patches.
  std::shared_ptr<const Hierarchy> mesh_ = test::mesh({8, 1, 1}, {2, 1, 1}, {true, true, true});
};

TEST_F(TemporaryChain, TheFirstAndTheThirdTemporaryShareMemory) {
  const CompiledGraphs graphs = compile({&initial_, &step_});

  EXPECT_EQ(slotOf(graphs, a_.id), slotOf(graphs, c_.id));
  EXPECT_GE(slotOf(graphs, a_.id), 0);
  EXPECT_EQ(slotOf(graphs, b_.id), -1);
  EXPECT_EQ(slotOf(graphs, u_.id), -1);
}

TEST_F(TemporaryChain, ThePlannedBytesCountSharedMemoryOnceAndItsLargestWindow) {
  const MemoryPlan plan = memoryPlanOf(compile({&initial_, &step_}));

  // A patch of 4 cells: u twice 4, a and b with their halo 6, c 4.
  EXPECT_EQ(plan.fieldsWithoutReuse, 2 * 8 * (2 * 4 + 6 + 6 + 4));
  EXPECT_EQ(plan.fields, 2 * 8 * (2 * 4 + 6 + 6));
  EXPECT_EQ(plan.total(), plan.fields);
}

TEST_F(TemporaryChain, WithoutReuseEveryVariableHasMemoryOfItsOwn) {
  const CompiledGraphs graphs = compile({&initial_, &step_}, {}, BufferReuse::Off);

  for (const LevelStorage& s : graphs.storage) EXPECT_EQ(s.slot, -1);
  EXPECT_EQ(memoryPlanOf(graphs).fields, memoryPlanOf(graphs).fieldsWithoutReuse);
}

TEST_F(TemporaryChain, AKeptVariableSharesWithNobody) {
  for (const LabelId kept : {a_.id, c_.id}) {
    const CompiledGraphs graphs = compile({&initial_, &step_}, {kept});
    EXPECT_EQ(slotOf(graphs, a_.id), -1);
    EXPECT_EQ(slotOf(graphs, c_.id), -1);
  }
}

TEST_F(TemporaryChain, APlanThatUsesBothAtOnceKeepsThemApartInAllPlans) {
  StepPlan other("other");
  other.task("T::a").writes(a_).runs<Cpu>(NoBody{});
  other.task("T::c").reads(New, a_).writes(c_).runs<Cpu>(NoBody{});
  other.task("T::u").reads(New, c_).writes(u_).runs<Cpu>(NoBody{});

  const CompiledGraphs graphs = compile({&initial_, &step_, &other});

  EXPECT_EQ(slotOf(graphs, a_.id), -1);
  EXPECT_EQ(slotOf(graphs, c_.id), -1);
}

TEST_F(TemporaryChain, AHaloOrACopyStillToBeTakenKeepsTheMemory) {
  StepPlan late("late");
  late.task("T::a").reads(Old, u_).writes(a_).runs<Cpu>(NoBody{});
  late.task("T::b").reads(New, a_).writes(b_).runs<Cpu>(NoBody{});
  late.task("T::c").reads(New, b_).writes(c_).runs<Cpu>(NoBody{});
  late.task("T::u").reads(New, c_).reads(New, a_, halo(1)).writes(u_).runs<Cpu>(NoBody{});

  EXPECT_EQ(slotOf(compile({&initial_, &late}), a_.id), -1);
}

TEST_F(TemporaryChain, VariablesInUseTogetherWhoseMemoryIsMadeOneAreReported) {
  std::vector<CompiledGraphs> graphs{compile({&initial_, &step_})};
  for (LevelStorage& s : graphs[0].storage) {
    if (s.label == b_.id) s.slot = slotOf(graphs[0], a_.id);
  }

  EXPECT_THAT(checkRaces(graphs, 1).faults, Contains(HasSubstr("whose bytes are also")));
}

/// Two levels; temporaries with halos (some of whose cells come from the coarser level), with gathers of
/// either level and of whole levels.
class SharedEverywhere : public ::testing::Test {
 protected:
  SharedEverywhere() {
    Geometry geometry;
    geometry.cells = {12, 6, 1};
    geometry.periodic = {true, false, false};
    mesh_ = refinedHierarchy(geometry, {Division::By::PatchSize, {4, 3, 1}},
                             {{2, {{{2, 1, 0}, {7, 5, 1}}, {{9, 0, 0}, {12, 2, 1}}}, {5, 4, 1}}});
    for (const auto& label : {u_, a_, b_, c_, d_, e_})
      labels_.setBoundary(label, BoundaryConditions::everywhere(BoundaryKind::Neumann));
    initial_.task("T::initial").writes(u_).runs<Cpu>(NoBody{});
    step_.task("T::a").reads(Old, u_, halo(1)).writes(a_).runs<Cpu>(NoBody{});
    step_.task("T::again").modifies(a_).runs<Cpu>(NoBody{});
    step_.task("T::b").reads(New, a_, halo(1)).writes(b_).runs<Cpu>(NoBody{});
    step_.task("T::early").on(allButFinest()).reads(New, b_, fromFiner()).writes(p_).runs<Cpu>(NoBody{});
    step_.task("T::c").reads(New, b_, halo(2)).writes(c_).runs<Cpu>(NoBody{});
    step_.task("T::up").on(allButFinest()).reads(New, c_, fromFiner()).writes(d_).runs<Cpu>(NoBody{});
    step_.task("T::down").on(finestLevel()).reads(New, c_, fromCoarser(1)).writes(d_).runs<Cpu>(NoBody{});
    step_.task("T::all").reads(New, d_, wholeLevel(0)).writes(e_).runs<Cpu>(NoBody{});
    step_.task("T::f").reads(New, e_).writes(f_).runs<Cpu>(NoBody{});
    step_.task("T::g").reads(New, f_, wholeLevel(0)).writes(g_).runs<Cpu>(NoBody{});
    step_.task("T::h")
        .on(allButFinest())
        .reads(New, g_, fromFiner())
        .reads(New, g_)
        .writes(h_)
        .runs<Cpu>(NoBody{});
    step_.task("T::u").reads(New, g_).writes(u_).runs<Cpu>(NoBody{});
  }

  std::vector<CompiledGraphs> compile(int ranks, BufferReuse reuse) const {
    RankMap owners(static_cast<std::size_t>(mesh_->patchCount()));
    for (std::size_t p = 0; p < owners.size(); ++p)
      owners[p] = static_cast<Rank>((p * 7 + p / 3) % static_cast<unsigned>(ranks));
    return test::compileAllRanks({&initial_, &step_}, mesh_, labels_, owners, ranks, reuse,
                                 WindowSharing::Off);
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> a_ = labels_.variable<double, Cell>("a");
  Label<double, Cell> b_ = labels_.variable<double, Cell>("b");
  Label<double, Cell> c_ = labels_.variable<double, Cell>("c");
  Label<double, Cell> d_ = labels_.variable<double, Cell>("d");
  Label<double, Cell> e_ = labels_.variable<double, Cell>("e");
  Label<float, Cell> f_ = labels_.variable<float, Cell>("f");
  Label<float, Cell> g_ = labels_.variable<float, Cell>("g");
  Label<double, Cell> p_ = labels_.variable<double, Cell>("p");
  Label<double, Cell> h_ = labels_.variable<double, Cell>("h");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  std::shared_ptr<const Hierarchy> mesh_;
};

TEST_F(SharedEverywhere, NoTwoTenantsOfOneMemoryRace) {
  for (int ranks = 1; ranks <= 6; ++ranks) {
    const auto graphs = compile(ranks, BufferReuse::On);
    EXPECT_THAT(checkRaces(graphs, 1).faults, ::testing::IsEmpty()) << ranks << " ranks";
    EXPECT_LT(memoryPlanOf(graphs[0]).fields, memoryPlanOf(graphs[0]).fieldsWithoutReuse);
    EXPECT_LT(memoryPlanOf(graphs[0]).gathers, memoryPlanOf(graphs[0]).gathersWithoutReuse);
  }
}

TEST_F(SharedEverywhere, GathersThatAreReadOneAfterTheOtherTakeTheRoomOfOne) {
  const CompiledGraphs graphs = compile(1, BufferReuse::On)[0];

  // Over the coarse patches: c, then g, each on the 12 x 6 x 4 finer cells; under the fine ones: c alone.
  // Whole levels: d, then f.
  std::map<std::int32_t, std::set<LabelId>> users;
  for (const GatherNeed& need : graphs.gathers[1]) users[need.slot].insert(need.label);
  std::set<std::set<LabelId>> groups;
  for (const auto& [slot, labels] : users) groups.insert(labels);
  EXPECT_EQ(groups, (std::set<std::set<LabelId>>{{b_.id, c_.id, g_.id}, {c_.id}, {d_.id, f_.id}}));
}

/// The edges that are there for the sake of shared memory alone.
std::vector<EdgeAt> edgesOfReuse(const std::vector<CompiledGraphs>& with,
                                 const std::vector<CompiledGraphs>& without) {
  std::multiset<std::array<std::int32_t, 3>> known;
  for (const EdgeAt& e : test::edgesOf(without, 1)) known.insert({e.rank, e.before, e.after});
  std::vector<EdgeAt> added;
  for (const EdgeAt& e : test::edgesOf(with, 1)) {
    const auto at = known.find({e.rank, e.before, e.after});
    if (at == known.end()) {
      added.push_back(e);
    } else {
      known.erase(at);
    }
  }
  return added;
}

TEST_F(SharedEverywhere, EveryDroppedEdgeBetweenTwoTenantsIsFound) {
  std::map<std::string, int> found;
  for (const int ranks : {1, 2, 4}) {
    auto graphs = compile(ranks, BufferReuse::On);
    const test::Paths paths(graphs, 1);
    for (const EdgeAt& edge : edgesOfReuse(graphs, compile(ranks, BufferReuse::Off))) {
      const CompiledGraphs& rank = graphs[static_cast<std::size_t>(edge.rank)];
      if (test::isPrecaution(rank, rank.plans[1], edge)) continue;
      CompiledGraph& graph = graphs[static_cast<std::size_t>(edge.rank)].plans[1];
      const CompiledGraph whole = graph;
      test::dropEdge(graph, edge);
      if (!paths.lead(edge.rank, edge.before, edge.after)) {
        EXPECT_THAT(checkRaces(graphs, 1).faults, Contains(HasSubstr("whose bytes are also")))
            << ranks << " ranks, " << test::classOf(whole, edge);
        ++found[test::classOf(whole, edge)];
      }
      graph = whole;
    }
  }
  // A gather is read before anything else may begin, so the path over its readers replaces what starts there.
  for (const char* name : {"task before task", "halo before task", "send before task", "coarser before task",
                           "task before whole level", "task before finer"}) {
    EXPECT_GT(found[name], 0) << name;
  }
}

TEST_F(SharedEverywhere, EveryOtherEdgeIsStillNeeded) {
  for (const int ranks : {1, 3}) {
    const test::DropReport report = test::dropEach(compile(ranks, BufferReuse::On), 1);
    EXPECT_THAT(report.unreported, ::testing::IsEmpty()) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace tessera
