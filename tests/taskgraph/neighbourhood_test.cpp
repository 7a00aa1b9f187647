#include <map>
#include <set>

#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::NoBody;

/// 9 x 9 patches of one cell, periodic: a patch number is x + 9 y.
class Neighbourhoods : public ::testing::Test {
 protected:
  Neighbourhoods() {
    initial_.task("T::initial").writes(u_).writes(v_).runs<Cpu>(NoBody{});
    for (PatchId p = 0; p < 81; ++p) {
      const Index at = mesh_->patch(p).cells.lo;
      idOf_[{at.i, at.j}] = p;
    }
  }

  CompiledGraphs compile() const {
    const RankMap owners(81, 0);
    const std::vector<const StepPlan*> plans{&initial_, &step_};
    return compileGraphs(plans, {mesh_, &labels_, &owners, 0});
  }
  /// Where the sources of a fill around the patch in the middle lie, relative to it.
  std::set<std::pair<std::int64_t, std::int64_t>> sourcesOf(const CompiledGraphs& graphs,
                                                            LabelId label) const {
    std::set<std::pair<std::int64_t, std::int64_t>> found;
    for (const FillPlan& fill : graphs.plans[1].fills) {
      if (fill.label != label || fill.reach != Reach::Patch) continue;
      const NeighbourTable& table = graphs.plans[1].tables[static_cast<std::size_t>(fill.table)];
      for (const Neighbour& n : table.row(idOf_.at({4, 4}))) {
        const Index at = mesh_->patch(graphs.ownPatches[static_cast<std::size_t>(n.source)]).cells.lo;
        found.insert({at.i - 4, at.j - 4});
      }
    }
    return found;
  }
  static Halo haloOf(const CompiledGraphs& graphs, LabelId label) {
    for (const LevelStorage& s : graphs.storage) {
      if (s.label == label) return s.halo;
    }
    return {};
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> v_ = labels_.variable<double, Cell>("v");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  std::shared_ptr<const Hierarchy> mesh_ = test::mesh({9, 9, 1}, {9, 9, 1}, {true, true, true});
  std::map<std::pair<std::int64_t, std::int64_t>, PatchId> idOf_;
};

std::set<std::pair<std::int64_t, std::int64_t>> rectangle(std::int64_t loX, std::int64_t hiX,
                                                          std::int64_t loY, std::int64_t hiY) {
  std::set<std::pair<std::int64_t, std::int64_t>> cells;
  for (std::int64_t y = loY; y <= hiY; ++y) {
    for (std::int64_t x = loX; x <= hiX; ++x) {
      if (x != 0 || y != 0) cells.insert({x, y});
    }
  }
  return cells;
}

TEST_F(Neighbourhoods, AreAsWideAsTheReadOnEachSideAndAxis) {
  step_.task("T::reads").reads(Old, u_, HaloClause{{{3, 0, 0}, {1, 2, 0}}}).writes(u_).runs<Cpu>(NoBody{});
  const CompiledGraphs graphs = compile();

  EXPECT_EQ(sourcesOf(graphs, u_.id), rectangle(-3, 1, 0, 2));
  EXPECT_EQ(haloOf(graphs, u_.id), (Halo{{3, 0, 0}, {1, 2, 0}}));
}

TEST_F(Neighbourhoods, UniteTheReadsOfOneLabelAndNotThoseOfOthers) {
  step_.task("T::left").reads(Old, u_, HaloClause{{{2, 0, 0}, {0, 0, 0}}}).writes(u_).runs<Cpu>(NoBody{});
  step_.task("T::up")
      .reads(Old, u_, HaloClause{{{0, 0, 0}, {0, 1, 0}}})
      .reads(Old, v_, halo(1))
      .writes(v_)
      .runs<Cpu>(NoBody{});
  const CompiledGraphs graphs = compile();

  EXPECT_EQ(sourcesOf(graphs, u_.id), rectangle(-2, 0, 0, 1));
  EXPECT_EQ(sourcesOf(graphs, v_.id), rectangle(-1, 1, -1, 1));
}

TEST_F(Neighbourhoods, AreNotWidenedByAReadOfTheWholeLevel) {
  step_.task("T::narrow").reads(Old, u_, halo(1)).reads(Old, v_, halo(1)).writes(u_).runs<Cpu>(NoBody{});
  const CompiledGraphs before = compile();
  step_.task("T::all")
      .reads(Old, u_, wholeLevel())
      .reads(Old, v_, wholeLevel())
      .writes(v_)
      .runs<Cpu>(NoBody{});
  const CompiledGraphs after = compile();

  for (const LabelId label : {u_.id, v_.id}) {
    EXPECT_EQ(sourcesOf(after, label), rectangle(-1, 1, -1, 1));
    EXPECT_EQ(haloOf(after, label), haloOf(before, label));
  }
  // The whole level is a single row of all patches.
  std::size_t rows = 0;
  for (const FillPlan& fill : after.plans[1].fills) {
    if (fill.reach != Reach::WholeLevel) continue;
    const NeighbourTable& table = after.plans[1].tables[static_cast<std::size_t>(fill.table)];
    rows += table.places.size();
    EXPECT_EQ(table.row(0).size(), 81U);
  }
  EXPECT_EQ(rows, 2U);
}

TEST_F(Neighbourhoods, ATaskThatOnlyComputesHasNone) {
  step_.task("T::computes").reads(Old, u_).writes(u_).runs<Cpu>(NoBody{});
  const CompiledGraphs graphs = compile();

  EXPECT_TRUE(graphs.plans[1].fills.empty());
  EXPECT_TRUE(graphs.plans[1].tables.empty());
  EXPECT_EQ(graphs.plans[1].successorLists.pool.size(), 0U);
}

}  // namespace
}  // namespace tessera
