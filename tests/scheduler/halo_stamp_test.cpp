#include <string>

#include <gtest/gtest.h>

#include "tests/scheduler/runtime_rig.hpp"

// Every halo value is compared with a number made from its index alone ("stamp"), so a wrong neighbour,
// image, edge, corner or a value of the wrong step shows as a wrong number.
namespace tessera {
namespace {

using test::RunShape;

std::int64_t wrapped(std::int64_t x, std::int64_t n) { return ((x % n) + n) % n; }

/// Cell, node or face index x of step s, as a number that no other one has.
double stamp(Index x, std::int64_t step) {
  return static_cast<double>(((step * 1000 + x.k) * 1000 + x.j) * 1000 + x.i);
}

struct StampCase {
  std::string name;
  Extent cells;
  Division division;
  std::array<bool, 3> periodic;
  HaloClause halo;
};

/// Runs three steps in which each patch checks the halo of the Old value, then of the New one, on all
/// centerings.
template <Centering C>
class StampRun {
 public:
  explicit StampRun(const StampCase& c, bool newToo = true) : case_(c), newToo_(newToo) {
    Geometry geometry;
    geometry.cells = c.cells;
    geometry.periodic = c.periodic;
    hierarchy_ = Hierarchy::uniform(geometry, c.division);
    label_ = labels_.variable<double, C>("stamp");
    errors_ = labels_.reduction("errors");
    labels_.setBoundary(label_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    declare();
  }

  void run(const RunShape& shape) {
    test::runOnRanks(shape, hierarchy_, labels_, {&initial_, &step_},
                     [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                       if (shape.scratch) expectNoStoredHalos(data);
                       runner.run(0, {0.0, 0.0, 0, {}});
                       for (std::int64_t s = 1; s <= 3; ++s) {
                         const StepResult result = runner.run(1, {0.0, 0.0, s, {}});
                         ASSERT_EQ(result.reductions[static_cast<std::size_t>(errors_.id)], 0.0)
                             << "step " << s;
                       }
                     });
  }

 private:
  void declare() {
    const auto write = [T = label_](const auto& task) {
      const auto out = task.write(T);
      const std::int64_t step = task.step();
      forEach(task.exec(), "stamp", task.interior(T), [=](Index x) { out(x) = stamp(x, step); });
    };
    initial_.task("Stamp::initial").writes(label_).template runs<Cpu>(write);
    if (newToo_) {
      step_.task("Stamp::checkNew")
          .reads(New, label_, case_.halo)
          .contributes(errors_, Sum)
          .template runs<Cpu>(
              [this](const auto& task) { task.contribute(errors_, check(task, New, task.step())); });
    }
    step_.task("Stamp::checkOld")
        .reads(Old, label_, case_.halo)
        .contributes(errors_, Sum)
        .template runs<Cpu>(
            [this](const auto& task) { task.contribute(errors_, check(task, Old, task.step() - 1)); });
    step_.task("Stamp::write").writes(label_).template runs<Cpu>(write);
  }

  void expectNoStoredHalos(const DataWarehouse& data) const {
    for (std::size_t local = 0; local < data.ownPatches().size(); ++local)
      ASSERT_EQ(data.layout(label_.id, local).window, data.ownedBox(label_.id, local));
  }

  static int axesOutside(Index x, const Box& inner) {
    int axes = 0;
    for (int d = 0; d < kAxes; ++d) axes += x[d] < inner.lo[d] || x[d] >= inner.hi[d] ? 1 : 0;
    return axes;
  }

  /// How many indices around the patch hold a wrong number.
  template <class Task>
  ExactSum check(const Task& task, Generation generation, std::int64_t step) const {
    const Level& level = task.level();
    const auto in = task.read(generation, label_);
    const Box domain = level.domainOf(C);
    const Box box =
        boundingBox(task.interior(label_), grow(task.interior(), level.effectiveHalo(case_.halo.layers)));
    const Box inner = boundingBox(task.interior(label_), task.interior());
    return reduce(task.exec(), "check", box, Sum, [&](Index x) {
      if (case_.halo.facesOnly && axesOutside(x, inner) > 1) return 0.0;
      Index home = x;
      for (int d = 0; d < kAxes; ++d) {
        if (level.geometry().wraps(d)) {
          home[d] = wrapped(x[d], domain.extent()[d]);
        } else {
          home[d] = std::min(std::max(x[d], domain.lo[d]), domain.hi[d] - 1);  // outflow
        }
      }
      return in(x) == stamp(home, step) ? 0.0 : 1.0;
    });
  }

  StampCase case_;
  bool newToo_;
  std::shared_ptr<const Hierarchy> hierarchy_;
  LabelTable labels_;
  Label<double, C> label_;
  ReductionLabel errors_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

Division patches(Extent n) { return {Division::By::Patches, n}; }
Division size(Extent n) { return {Division::By::PatchSize, n}; }

const StampCase kCases[] = {
    {"cube, halo 1, all periodic", {8, 6, 4}, patches({2, 3, 2}), {true, true, true}, halo(1)},
    {"cube, halo 2, boundaries", {8, 6, 4}, patches({2, 3, 2}), {false, false, false}, halo(2)},
    {"uneven division, mixed sides", {7, 5, 3}, patches({3, 2, 2}), {true, false, true}, halo(1)},
    {"patches thinner than the halo", {9, 8, 1}, size({2, 3, 1}), {false, false, false}, halo(4)},
    {"halo deeper than several patches, periodic", {6, 4, 1}, size({1, 2, 1}), {true, true, false}, halo(5)},
    {"halo wider than the periodic domain", {4, 3, 1}, patches({2, 1, 1}), {true, true, false}, halo(9)},
    {"one-sided halo", {8, 8, 1}, patches({4, 2, 1}), {true, false, false}, halo(0, 1)},
    {"a different halo on each side",
     {8, 8, 4},
     patches({2, 2, 2}),
     {false, true, false},
     halo({3, 0, 1}, {0, 2, 2})},
    {"one-dimensional", {16, 1, 1}, patches({5, 1, 1}), {false, false, false}, halo(3)},
    {"one patch for all", {5, 5, 5}, patches({1, 1, 1}), {true, false, true}, halo(2)},
    {"only y is resolved", {1, 12, 1}, patches({1, 4, 1}), {false, true, false}, halo(2)},
    {"faces of a cube, periodic", {8, 6, 4}, patches({2, 3, 2}), {true, true, true}, faceHalo(1)},
    {"two layers at faces, boundaries", {8, 6, 4}, patches({2, 3, 2}), {false, true, false}, faceHalo(2)},
    {"patches thinner than faces are deep", {9, 8, 1}, size({2, 3, 1}), {true, false, false}, faceHalo(4)},
    {"last patch smaller", {10, 7, 1}, size({4, 4, 1}), {true, true, false}, halo(2)},
};

const RunShape kShapes[] = {{1, 0, false, {}}, {1, 0, true, {}}, {1, 2, false, {}}, {2, 0, false, 1},
                            {3, 2, false, 2},  {4, 0, true, 3},  {8, 1, false, 4}};

template <Centering C>
void everyCaseOnEveryShape() {
  for (const StampCase& c : kCases) {
    for (const RunShape& shape : kShapes) {
      SCOPED_TRACE(c.name + ", " + asText(C) + ", " + std::to_string(shape.ranks) + " ranks, " +
                   std::to_string(shape.threads) + " threads" + (shape.checked ? ", checked" : ""));
      StampRun<C>(c).run(shape);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(HaloStamps, CellHalosAreRightOnEveryLayout) { everyCaseOnEveryShape<Cell>(); }
TEST(HaloStamps, NodeHalosAreRightOnEveryLayout) { everyCaseOnEveryShape<Node>(); }
TEST(HaloStamps, FaceHalosAreRightOnEveryLayout) {
  everyCaseOnEveryShape<FaceX>();
  everyCaseOnEveryShape<FaceY>();
  everyCaseOnEveryShape<FaceZ>();
}

/// The Old value only, as far as large halos do not share windows.
template <Centering C>
void everyScratchWindowOnEveryShape() {
  for (const StampCase& c : kCases) {
    if (c.name == "halo wider than the periodic domain") continue;  // 9 cells: stored once for all patches
    for (RunShape shape : kShapes) {
      SCOPED_TRACE(c.name + ", " + asText(C) + ", " + std::to_string(shape.ranks) + " ranks, " +
                   std::to_string(shape.threads) + " threads" + (shape.checked ? ", checked" : ""));
      shape.scratch = true;
      StampRun<C>(c, false).run(shape);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(HaloStamps, WhatIsGatheredIntoScratchIsRightOnEveryLayout) {
  everyScratchWindowOnEveryShape<Cell>();
  everyScratchWindowOnEveryShape<Node>();
  everyScratchWindowOnEveryShape<FaceY>();
}

}  // namespace
}  // namespace tessera
