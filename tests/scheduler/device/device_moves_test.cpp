#include "scheduler/device/moves/device_moves.hpp"

#include <numeric>

#include <gmock/gmock.h>

#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/task_context.hpp"
#include "grid/rank_map.hpp"
#include "grid/refined_levels.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tests/scheduler/device/device_rig.hpp"
#include "tests/scheduler/device/fill_comparison.hpp"

namespace tessera {
namespace {

/// Variables of all centerings and several types, with conditions of all kinds, and a step that reads them in
/// all ways.
class Case {
 public:
  explicit Case(std::shared_ptr<const Hierarchy> mesh) : mesh_(std::move(mesh)) {}

  template <class T, Centering C>
  Label<T, C> variable(const char* name) {
    const auto label = labels_.variable<T, C>(name);
    BoundaryConditions conditions;
    const char* values[] = {"0.5", "x + 2*y - z", "sin(t)", "t*x - y", "3", "z + t"};
    const BoundaryKind kinds[] = {BoundaryKind::Dirichlet, BoundaryKind::Neumann, BoundaryKind::Dirichlet,
                                  BoundaryKind::Neumann,   BoundaryKind::Outflow, BoundaryKind::Dirichlet};
    for (std::size_t side = 0; side < 6; ++side) {
      conditions.sides[side] =
          SideCondition{kinds[(side + conditions_) % 6], Expression::parse(values[(side + conditions_) % 6])};
    }
    ++conditions_;
    labels_.setBoundary(label, conditions);
    initial_.task(std::string("Initial::") + name).writes(label).template runs<Cpu>(NoBody{});
    return label;
  }

  CompiledGraphs compile(Rank rank, int ranks) const {
    const RankMap owners = distribute(*mesh_, ranks);
    CompileInput input{mesh_, &labels_, &owners, rank, ranks};
    input.reuse = BufferReuse::Off;
    const std::vector<const StepPlan*> plans{&initial_, &step_};
    return compileGraphs(plans, input);
  }

  StepPlan& step() { return step_; }

  struct NoBody {
    template <class Task>
    void operator()(const Task&) const {}
  };

 private:
  std::shared_ptr<const Hierarchy> mesh_;
  LabelTable labels_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  std::size_t conditions_ = 0;
};

using NoBody = Case::NoBody;

std::shared_ptr<const Hierarchy> uniform(Extent cells, Extent patches, std::array<bool, 3> periodic) {
  Geometry geometry;
  geometry.cells = cells;
  geometry.periodic = periodic;
  geometry.upper = {1.0, 2.0, 0.7};
  return Hierarchy::uniform(geometry, {Division::By::Patches, patches});
}

void addAllCenterings(Case& c, HaloClause clause) {
  const auto cells = c.variable<double, Cell>("cells");
  const auto nodes = c.variable<float, Node>("nodes");
  const auto vectors = c.variable<Vec<double, 3>, FaceX>("vectors");
  const auto numbers = c.variable<std::int64_t, FaceY>("numbers");
  const auto pairs = c.variable<Vec<float, 2>, FaceZ>("pairs");
  c.step()
      .task("Step::read")
      .reads(Old, cells, clause)
      .reads(Old, nodes, clause)
      .reads(Old, vectors, clause)
      .reads(Old, numbers, clause)
      .reads(Old, pairs, clause)
      .writes(cells)
      .writes(nodes)
      .writes(vectors)
      .writes(numbers)
      .writes(pairs)
      .runs<Cpu>(NoBody{});
  c.step().task("Step::readAgain").reads(New, cells, halo(1)).modifies(vectors).runs<Cpu>(NoBody{});
}

/// Cells of level 1 over the middle of the domain, cut so that its patches touch one another.
std::shared_ptr<const Hierarchy> twoLevels(bool periodic) {
  Geometry geometry;
  geometry.cells = {8, 8, 4};
  geometry.periodic = {periodic, false, periodic};
  RefinedLevel fine;
  fine.boxes = {{{0, 2, 0}, {4, 6, 4}}, {{4, 2, 1}, {6, 8, 4}}};
  fine.patchSize = {4, 4, 4};
  return refinedHierarchy(geometry, {Division::By::PatchSize, {4, 4, 4}}, {fine});
}

void addLevels(Case& c) {
  const auto u = c.variable<double, Cell>("u");
  const auto v = c.variable<double, Node>("v");
  const auto w = c.variable<float, Cell>("w");
  c.step()
      .task("Step::advance")
      .reads(Old, u, halo(2))
      .reads(Old, v, halo(1))
      .writes(u)
      .writes(v)
      .runs<Cpu>(NoBody{});
  c.step()
      .task("Step::up")
      .on(allButCoarsest())
      .reads(Old, w, fromCoarser(1))
      .reads(Old, w)
      .writes(w)
      .runs<Cpu>(NoBody{});
  c.step().task("Step::keep").on(onlyLevel(0)).reads(Old, w, wholeLevel()).writes(w).runs<Cpu>(NoBody{});
  c.step().task("Step::down").on(allButFinest()).reads(New, u, fromFiner()).modifies(w).runs<Cpu>(NoBody{});
}

class DeviceMoveClaims : public test::OnEachDevice {
 protected:
  /// Both plans on each of `ranks` ranks, over several steps.
  static void expectBitsOfHost(const Case& c, int ranks, std::int64_t atLeast) {
    LoopbackWorld world(ranks);
    std::int64_t compared = 0;
    for (Rank rank = 0; rank < ranks; ++rank) {
      const CompiledGraphs graphs = c.compile(rank, ranks);
      for (std::size_t plan = 0; plan < 2; ++plan) {
        const std::uint64_t seed = static_cast<std::uint64_t>(10 * rank) + plan;
        SCOPED_TRACE("rank " + std::to_string(rank) + " of " + std::to_string(ranks) + ", plan " +
                     std::to_string(plan) + ", seed " + std::to_string(seed));
        const auto device = makeDevice();
        test::FillComparison both(graphs, plan, world.transport(rank), *device, seed);
        for (const double time : {0.0, 0.25, 0.5}) {
          both.expectSameFills(time);
          both.expectSameMessages();
          both.promote();
          if (HasFailure()) return;
        }
        both.expectCopiesThereAndBack();
        compared += both.compared();
      }
    }
    EXPECT_GT(compared, atLeast);
  }
};

TEST_P(DeviceMoveClaims, AllCenteringsAndConditionsHaveTheBitsOfTheHost) {
  for (const std::array<bool, 3> periodic :
       {std::array{false, false, false}, std::array{true, false, true}, std::array{true, true, true}}) {
    Case c(uniform({8, 6, 5}, {2, 3, 1}, periodic));
    addAllCenterings(c, halo(2));
    for (const int ranks : {1, 2}) expectBitsOfHost(c, ranks, 10'000);
  }
}

TEST_P(DeviceMoveClaims, FlatAxesAndOneSidedHalosToo) {
  Case plane(uniform({9, 7, 1}, {3, 2, 1}, {true, false, false}));
  addAllCenterings(plane, halo({2, 0, 0}, {1, 3, 0}));
  expectBitsOfHost(plane, 2, 1000);
  Case line(uniform({17, 1, 1}, {4, 1, 1}, {false, false, false}));
  addAllCenterings(line, halo(3));
  expectBitsOfHost(line, 1, 500);
}

TEST_P(DeviceMoveClaims, LevelsAboveAndBelowAndWholeOnesToo) {
  for (const bool periodic : {false, true}) {
    Case c(twoLevels(periodic));
    addLevels(c);
    for (const int ranks : {1, 3}) expectBitsOfHost(c, ranks, 3000);
  }
}

TEST_P(DeviceMoveClaims, SharedWindowsAreOneWindowHere) {
  Case c(uniform({32, 16, 1}, {8, 4, 1}, {true, false, false}));
  const auto u = c.variable<double, Cell>("u");
  c.step().task("Step::smooth").reads(Old, u, halo(8)).writes(u).runs<Cpu>(NoBody{});
  ASSERT_FALSE(c.compile(0, 1).shared.empty()) << "the case is about shared windows";

  // Members unpack the same cells. With messages of random bytes the last one counts, and on a GPU any may be
  // it.
  for (int ranks = 1; ranks <= (isCuda() ? 1 : 2); ++ranks) expectBitsOfHost(c, ranks, 10'000);
}

TEST_P(DeviceMoveClaims, WindowsOfAnLHaveTheBitsOfTheHost) {
  Geometry geometry;
  geometry.cells = {32, 32, 32};
  RefinedLevel fine;
  fine.boxes = {{{0, 0, 0}, {32, 16, 32}}, {{0, 16, 0}, {16, 32, 32}}};
  Case c(refinedHierarchy(geometry, {Division::By::PatchSize, {16, 16, 16}}, {fine}));
  const auto u = c.variable<double, Cell>("u");
  c.step().task("Step::smooth").on(finestLevel()).reads(Old, u, halo(16)).writes(u).runs<Cpu>(NoBody{});
  c.step().task("Step::keep").on(allButFinest()).reads(Old, u).writes(u).runs<Cpu>(NoBody{});
  const CompiledGraphs graphs = c.compile(0, 1);
  ASSERT_FALSE(graphs.shared.empty());
  LoopbackWorld world(1);
  const auto device = makeDevice();
  test::FillComparison both(graphs, 1, world.transport(0), *device, 5);

  both.expectSameFills(0.0);
}

TEST_P(DeviceMoveClaims, ASteadyStepUploadsNothing) {
  Case c(uniform({8, 8, 8}, {2, 2, 2}, {false, false, false}));
  addAllCenterings(c, halo(1));
  const CompiledGraphs graphs = c.compile(0, 1);
  LoopbackWorld world(1);
  const auto device = makeDevice();
  test::FillComparison both(graphs, 1, world.transport(0), *device, 1);
  for (int step = 0; step < 2; ++step) {
    both.expectSameFills(0.5);
    both.promote();
  }
  const DeviceMoveCounts before = both.fills().counts();
  EXPECT_GT(before.bytesUploaded, 0);

  for (int step = 0; step < 4; ++step) {
    both.expectSameFills(0.5);
    both.promote();
  }

  EXPECT_EQ(both.fills().counts().bytesUploaded, before.bytesUploaded);
  EXPECT_EQ(both.fills().counts().regions.total(), 3 * before.regions.total());
}

TEST_P(DeviceMoveClaims, WhatTheStoreLacksIsAFaultAndNotAWrongHalo) {
  Case c(uniform({8, 8, 1}, {2, 2, 1}, {true, true, false}));
  const auto u = c.variable<double, Cell>("u");
  c.step().task("Step::smooth").reads(Old, u, halo(1)).writes(u).runs<Cpu>(NoBody{});
  const CompiledGraphs graphs = c.compile(0, 1);
  LoopbackWorld world(1);
  const auto device = makeDevice();
  test::FillComparison both(graphs, 1, world.transport(0), *device, 1);
  const DeviceStream stream = device->makeStream();
  DevicePool memory(*device, {DeviceSpace::Device, 1 << 24, 1 << 20});
  DevicePool pinned(*device, {DeviceSpace::PinnedHost, 1 << 24, 1 << 20});
  StoreMemory storeMemory(*device, memory, stream);
  DeviceStore store(both.data(), 1, storeMemory);
  store.addEntry(u.id, 0);
  store.allocate();
  detail::MessagePump pump(graphs.plans[1], world.transport(0), {}, nullptr, nullptr);
  DeviceMoves fills(graphs, 1, both.data(), store, pump, *device, memory, pinned);
  const std::vector<std::int32_t> rows{0};

  EXPECT_THROW(fills.launchFill(0, rows, 0.0, stream), InternalError);
  EXPECT_NO_THROW(fills.launchCopy(DeviceMoves::CopyTo::Device, u.id, Generation::Old, rows, stream));
  EXPECT_THROW(fills.launchCopy(DeviceMoves::CopyTo::Device, u.id, Generation::Old,
                                std::vector<std::int32_t>{0, 1}, stream),
               InternalError);
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceMoveClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tessera
