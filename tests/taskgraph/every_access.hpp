#pragma once

#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "grid/refined_levels.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera::test {

/// Two levels, and a step with every kind of access.
class EveryAccess : public ::testing::Test {
 protected:
  EveryAccess() {
    Geometry geometry;
    geometry.cells = {12, 6, 1};
    geometry.periodic = {true, false, false};
    hierarchy_ = refinedHierarchy(geometry, {Division::By::PatchSize, {4, 3, 1}},
                                  {{2, {{{2, 1, 0}, {7, 5, 1}}, {{9, 0, 0}, {12, 2, 1}}}, {5, 4, 1}}});
    for (const auto& label : {a_, b_})
      labels_.setBoundary(label, BoundaryConditions::everywhere(BoundaryKind::Neumann));
    labels_.setBoundary(n_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    initial_.task("T::initial").writes(a_).writes(b_).writes(n_).runs<Cpu>(NoBody{});
    step_.task("T::first").reads(Old, a_, halo(1)).writes(a_).runs<Cpu>(NoBody{});
    step_.task("T::second").reads(New, a_, halo(1)).modifies(a_).runs<Cpu>(NoBody{});
    step_.task("T::third").modifies(a_, from("T::second")).runs<Cpu>(NoBody{});
    step_.task("T::early")
        .reads(New, a_, halo(2), from("T::first"))
        .reads(Old, b_)
        .writes(b_)
        .runs<Cpu>(NoBody{});
    step_.task("T::nodes").reads(New, a_, halo(1), from("T::second")).writes(n_).runs<Cpu>(NoBody{});
    step_.task("T::up").on(allButFinest()).reads(New, n_, fromFiner()).writes(c_).runs<Cpu>(NoBody{});
    step_.task("T::down")
        .on(allButCoarsest())
        .reads(New, b_, fromCoarser(1))
        .reads(New, n_, halo(1))
        .writes(d_)
        .runs<Cpu>(NoBody{});
    step_.task("T::late").reads(New, a_, halo(1)).contributes(sum_, Sum).runs<Cpu>(NoBody{});
    step_.task("T::all")
        .reads(New, c_, wholeLevel(0))
        .reads(New, b_)
        .contributes(sum_, Sum)
        .contributes(low_, Min)
        .runs<Cpu>(NoBody{});
    step_.task("T::once")
        .oncePerRank()
        .reads(Old, b_, wholeLevel(0))
        .contributes(low_, Min)
        .runs<Cpu>(NoBody{});
    step_.task("T::change").modifies(b_).runs<Cpu>(NoBody{});
  }

  std::vector<CompiledGraphs> compile(int ranks, unsigned seed) const {
    std::mt19937 random(seed);
    RankMap owners(static_cast<std::size_t>(hierarchy_->patchCount()));
    for (Rank& owner : owners) owner = static_cast<Rank>(random() % static_cast<unsigned>(ranks));
    return compileAllRanks({&initial_, &step_}, hierarchy_, labels_, owners, ranks);
  }

  LabelTable labels_;
  Label<double, Cell> a_ = labels_.variable<double, Cell>("a");
  Label<double, Cell> b_ = labels_.variable<double, Cell>("b");
  Label<float, Node> n_ = labels_.variable<float, Node>("n");
  Label<double, Cell> c_ = labels_.variable<double, Cell>("c");
  Label<double, FaceX> d_ = labels_.variable<double, FaceX>("d");
  ReductionLabel sum_ = labels_.reduction("sum");
  ReductionLabel low_ = labels_.reduction("low");
  std::shared_ptr<const Hierarchy> hierarchy_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

}  // namespace tessera::test
