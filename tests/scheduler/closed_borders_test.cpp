#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grid/refined_levels.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "tests/scheduler/runtime_rig.hpp"

// A patch stores and writes all nodes and faces of its cells.
namespace tessera {
namespace {

using test::RunShape;
using ::testing::HasSubstr;

/// Upwards and downwards values of a conserved quantity: the flux between two cells is kept on their face.
struct Diffusion {
  Geometry geometry;
  std::shared_ptr<const Hierarchy> hierarchy;
  LabelTable labels;
  Label<double, Cell> u;
  Label<double, FaceX> flux;
  Label<double, Node> node;
  StepPlan initial{"initial"};
  StepPlan step{"step"};
  bool mirrored = false;

  explicit Diffusion(bool isMirrored, bool periodic = false) : mirrored(isMirrored) {
    geometry.cells = {16, 8, 1};
    geometry.periodic = {periodic, false, false};
    RefinedLevel fine{2, {{{3, 2, 0}, {7, 4, 1}}, {{5, 4, 0}, {9, 7, 1}}}, {3, 2, 1}};
    if (mirrored) {
      for (Box& box : fine.boxes) {
        const std::int64_t lo = box.lo.i;
        box.lo.i = 16 - box.hi.i;
        box.hi.i = 16 - lo;
      }
    }
    hierarchy = refinedHierarchy(geometry, {Division::By::Patches, {4, 2, 1}}, {fine});
    u = labels.variable<double, Cell>("u");
    flux = labels.variable<double, FaceX>("flux");
    node = labels.variable<double, Node>("node");
    labels.setBoundary(u, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    declare();
  }

  void declare() {
    initial.task("D::initial").writes(u).runs<Cpu>([this](const auto& task) {
      const auto out = task.write(u);
      const std::int64_t n = task.level().domain().hi.i;
      forEach(task.exec(), "initial", task.interior(u), [this, out, n](Index x) {
        const auto i = static_cast<double>(mirrored ? n - 1 - x.i : x.i);
        out(x) = 1.0 / (3.0 + i) + 0.1 * static_cast<double>(x.j % 3);
      });
    });
    step.task("D::flux").reads(Old, u, halo(1)).writes(flux).runs<Cpu>([this](const auto& task) {
      const auto in = task.read(Old, u);
      const auto out = task.write(flux);
      forEach(task.exec(), "flux", task.interior(flux),
              [this, in, out](Index x) { out(x) = (mirrored ? -0.3 : 0.3) * (in(x - ex) - in(x)); });
    });
    step.task("D::node").reads(Old, u, halo(1)).writes(node).runs<Cpu>([this](const auto& task) {
      const auto in = task.read(Old, u);
      const auto out = task.write(node);
      forEach(task.exec(), "node", task.interior(node),
              [in, out](Index x) { out(x) = (in(x) + in(x - ex)) + (in(x - ey) + in(x - ex - ey)); });
    });
    // Without a halo: all faces and nodes of the cells are the patch's own.
    step.task("D::update")
        .reads(Old, u)
        .reads(New, flux)
        .reads(New, node)
        .writes(u)
        .runs<Cpu>([this](const auto& task) {
          const auto in = task.read(Old, u);
          const auto f = task.read(New, flux);
          const auto n = task.read(New, node);
          const auto out = task.write(u);
          const double sign = mirrored ? -1.0 : 1.0;
          forEach(task.exec(), "update", task.interior(u), [=](Index x) {
            out(x) = in(x) + sign * (f(x) - f(x + ex)) +
                     1e-3 * ((n(x) + n(x + ex)) + (n(x + ey) + n(x + ex + ey)));
          });
        });
  }

  using Place = std::tuple<LevelId, std::int64_t, std::int64_t>;

  /// After three steps the values of all cells.
  std::map<Place, double> run(const RunShape& shape) {
    std::map<Place, double> found;
    std::mutex mutex;
    test::runOnRanks(shape, hierarchy, labels, {&initial, &step},
                     [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                       runner.run(0, {0.0, 0.0, 0, {}});
                       for (std::int64_t s = 1; s <= 3; ++s) runner.run(1, {0.0, 0.0, s, {}});
                       const std::lock_guard lock(mutex);
                       for (std::size_t local = 0; local < data.ownPatches().size(); ++local)
                         add(data, local, found);
                     });
    return found;
  }

  void add(const DataWarehouse& data, std::size_t local, std::map<Place, double>& found) const {
    const Patch& patch = hierarchy->patch(data.ownPatches()[local]);
    std::vector<double> values(static_cast<std::size_t>(patch.cells.volume()));
    data.packOwned(u.id, local, std::as_writable_bytes(std::span(values)));
    std::size_t n = 0;
    for (std::int64_t j = patch.cells.lo.j; j < patch.cells.hi.j; ++j) {
      for (std::int64_t i = patch.cells.lo.i; i < patch.cells.hi.i; ++i)
        found[{patch.level, j, i}] = values[n++];
    }
  }
};

TEST(ClosedBorders, AMirroredMeshGivesMirroredBits) {
  for (const bool periodic : {false, true}) {
    const auto plain = Diffusion(false, periodic).run({1, 0, true, {}});
    ASSERT_FALSE(plain.empty());
    for (const RunShape& shape : {RunShape{1, 0, true, {}}, RunShape{3, 2, false, 5}}) {
      const auto mirrored = Diffusion(true, periodic).run(shape);
      ASSERT_EQ(mirrored.size(), plain.size());
      for (const auto& [place, value] : plain) {
        const auto& [level, j, i] = place;
        const std::int64_t n = level == 0 ? 16 : 32;
        ASSERT_EQ(mirrored.at({level, j, n - 1 - i}), value) << "level " << level << ", " << i << " " << j;
      }
    }
  }
}

TEST(ClosedBorders, WhatAPatchWritesOnItsFacesIsReadWithoutAFill) {
  Diffusion diffusion(false);
  const RankMap owners = distribute(*diffusion.hierarchy, 2);
  CompileInput input{diffusion.hierarchy, &diffusion.labels, &owners, 0, 2};
  const std::vector<const StepPlan*> plans{&diffusion.initial, &diffusion.step};
  const CompiledGraphs graphs = compileGraphs(plans, input);
  for (const FillPlan& fill : graphs.plans[1].fills) EXPECT_EQ(fill.label, diffusion.u.id);
  EXPECT_FALSE(graphs.plans[1].fills.empty());
}

TEST(ClosedBorders, DeclaredLayersThatAreThePatchsOwnNeedNoFill) {
  Geometry geometry;
  geometry.cells = {8, 8, 1};
  EXPECT_TRUE(beyondBorders(geometry, Centering::Node, {{}, {1, 1, 0}}).isZero());
  EXPECT_TRUE(beyondBorders(geometry, Centering::FaceX, {{}, {1, 0, 0}}).isZero());
  EXPECT_FALSE(beyondBorders(geometry, Centering::FaceX, {{}, {1, 1, 0}}).isZero());
  EXPECT_FALSE(beyondBorders(geometry, Centering::Node, {{}, {2, 0, 0}}).isZero());
  EXPECT_FALSE(beyondBorders(geometry, Centering::Node, {{1, 0, 0}, {1, 1, 0}}).isZero());
}

/// Whether a periodic image, a neighbour, or both differ.
void expectNamed(const Geometry& geometry, Extent patches,
                 const std::function<double(const Patch&, Index)>& f, const std::vector<std::string>& words) {
  const auto hierarchy = Hierarchy::uniform(geometry, {Division::By::Patches, patches});
  LabelTable labels;
  const auto node = labels.variable<double, Node>("stress");
  StepPlan plan{"plan"};
  plan.task("Stress::write").writes(node).runs<Cpu>([&](const auto& task) {
    const auto out = task.write(node);
    forEach(task.exec(), "write", task.interior(node), [&, out](Index x) { out(x) = f(task.patch(), x); });
  });
  try {
    test::runOnRanks({1, 0, true, {}}, hierarchy, labels, {&plan},
                     [&](StepRunner& runner, DataWarehouse&, Transport&) {
                       runner.run(0, {0.0, 0.0, 0, {}});
                       runner.run(0, {0.0, 0.0, 1, {}});
                     });
    EXPECT_TRUE(words.empty());
  } catch (const UndeclaredAccess& error) {
    ASSERT_FALSE(words.empty()) << error.message();
    for (const std::string& word : words) EXPECT_THAT(error.message(), HasSubstr(word));
  }
}

TEST(ClosedBorders, PatchesThatDisagreeAreNamedInCheckedMode) {
  Geometry geometry;
  geometry.cells = {8, 4, 1};
  const auto ofIndex = [](const Patch&, Index x) { return 0.25 * static_cast<double>(x.i + 10 * x.j); };
  expectNamed(geometry, {2, 1, 1}, ofIndex, {});
  expectNamed(
      geometry, {2, 1, 1},
      [&](const Patch& patch, Index x) { return ofIndex(patch, x) + (x.j == 3 ? double(patch.id) : 0.0); },
      {"Stress::write", "stress at node (4, 3, 0)", "L0/P0000", "L0/P0001", ": 9.5 on patch", "8.5 on patch",
       "fix"});
  // The last index of an axis that wraps is another name of the first one.
  geometry.periodic = {true, false, false};
  expectNamed(geometry, {2, 1, 1}, ofIndex, {"stress at node (8, 0, 0)"});
  expectNamed(geometry, {1, 1, 1}, ofIndex, {"stress at node"});
  expectNamed(geometry, {2, 1, 1},
              [&](const Patch& p, Index x) {
                return ofIndex(p, {x.i % 8, x.j, 0});
              },
              {});
}

}  // namespace
}  // namespace tessera
