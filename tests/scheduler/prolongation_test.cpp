#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "grid/rank_map.hpp"
#include "grid/refined_levels.hpp"
#include "tests/scheduler/runtime_rig.hpp"

// Halos beyond the border of a refined region, from the coarser values around.
namespace tessera {
namespace {

using test::RunShape;

/// A mesh of one to three refined levels, of ratio 2 and 4, with periodic axes and walls. Each level is boxes
/// in the middle or at the sides of the one below.
struct DrawnMesh {
  std::shared_ptr<const Hierarchy> hierarchy;
  Real3 slope;  ///< of the linear function; 0 along periodic axes
  std::string text;
};

DrawnMesh drawMesh(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(n));
  };
  const std::int64_t axes = 1 + below(3);
  Geometry geometry;
  geometry.cells = {1, 1, 1};
  Division division{Division::By::PatchSize, {1, 1, 1}};
  DrawnMesh mesh;
  for (int d = 0; d < axes; ++d) {
    geometry.cells[d] = axes == 3 ? 8 : 12;
    geometry.periodic[static_cast<std::size_t>(d)] = below(3) == 0;
    geometry.upper[d] = static_cast<double>(geometry.cells[d]);
    division.value[d] = 3 + below(6);
    if (!geometry.periodic[static_cast<std::size_t>(d)])
      mesh.slope[d] = 0.5 * static_cast<double>(below(13) - 6);
  }
  std::vector<RefinedLevel> levels;
  Box within{{}, geometry.cells};
  const std::int64_t count = 1 + below(2);
  for (std::int64_t l = 0; l < count; ++l) {
    RefinedLevel level;
    level.ratio = l == 0 && below(3) == 0 ? 4 : 2;
    Box box = within;
    Extent ratio{1, 1, 1};
    for (int d = 0; d < axes; ++d) {
      // From level 1 on so far from the border of the level below that rings lie on it.
      const std::int64_t margin = l == 0 ? below(3) : 3;
      box.lo[d] += margin;
      box.hi[d] -= l == 0 ? below(3) : margin;
      ratio[d] = level.ratio;
      level.patchSize[d] = 3 + below(9);
    }
    if (box.empty()) break;
    level.boxes.push_back(box);
    levels.push_back(level);
    within = refine(box, ratio);
  }
  mesh.hierarchy = refinedHierarchy(geometry, division, levels);
  mesh.text = "seed " + std::to_string(seed) + ", " + std::to_string(axes) + " axes, " +
              std::to_string(levels.size()) + " levels above";
  return mesh;
}

std::string formulaOf(Real3 slope) {
  return "3 + " + std::to_string(slope.x) + "*x + " + std::to_string(slope.y) + "*y + " +
         std::to_string(slope.z) + "*z";
}

double linear(Real3 slope, Real3 p) { return 3.0 + slope.x * p.x + slope.y * p.y + slope.z * p.z; }

/// Writes a variable, and looks at its halo of two layers in Old and New.
template <Centering C>
class LineRun {
 public:
  LineRun(const DrawnMesh& mesh, Prolongation prolongation) : mesh_(mesh) {
    label_ = labels_.variable<double, C>("line");
    wrong_ = labels_.reduction("wrong");
    BoundaryConditions conditions;
    conditions.sides.fill(SideCondition{BoundaryKind::Given, Expression::parse(formulaOf(mesh.slope))});
    labels_.setBoundary(label_, conditions);
    labels_.setProlongation(label_, prolongation);
    const auto write = [u = label_, slope = mesh.slope](const auto& task) {
      const auto to = task.write(u);
      const Level& level = task.level();
      forEach(task.exec(), "line", task.interior(u),
              [&, to, slope](Index x) { to(x) = linear(slope, level.position(x, C)); });
    };
    initial_.task("Line::initial").writes(label_).template runs<Cpu>(write);
    step_.task("Line::write").writes(label_).template runs<Cpu>(write);
    look("Line::lookAtOld", Old);
    look("Line::lookAtNew", New);
  }

  double wrongIndices(const RunShape& shape) {
    double found = 0.0;
    test::runOnRanks(shape, mesh_.hierarchy, labels_, {&initial_, &step_},
                     [&](StepRunner& runner, DataWarehouse&, Transport& transport) {
                       runner.run(0, {0.0, 0.0, 0, {}});
                       const StepResult result = runner.run(1, {0.0, 0.0, 1, {}});
                       if (transport.rank() == 0)
                         found = result.reductions[static_cast<std::size_t>(wrong_.id)];
                     });
    return found;
  }

 private:
  void look(const char* name, Generation generation) {
    step_.task(name)
        .reads(generation, label_, halo(2))
        .contributes(wrong_, Sum)
        .template runs<Cpu>([=, this, u = label_, slope = mesh_.slope](const auto& task) {
          const auto line = task.read(generation, u);
          const Level& level = task.level();
          const Box box =
              boundingBox(task.interior(u), grow(task.interior(), level.effectiveHalo(uniformHalo(2))));
          task.contribute(wrong_, reduce(task.exec(), name, box, Sum, [&](Index x) {
                            return line(x) == linear(slope, level.position(x, C)) ? 0.0 : 1.0;
                          }));
        });
  }

  const DrawnMesh& mesh_;
  LabelTable labels_;
  Label<double, C> label_;
  ReductionLabel wrong_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

constexpr std::uint32_t kMeshes = 24;

template <Centering C>
void everyLineIsKept() {
  for (std::uint32_t seed = 1; seed <= kMeshes; ++seed) {
    const DrawnMesh mesh = drawMesh(seed);
    RunShape shape{1 + static_cast<int>(seed % 4), static_cast<int>(seed % 3), seed % 5 == 0, seed};
    shape.scratch = seed % 2 == 0;
    for (const Prolongation prolongation : {Prolongation::Linear, Prolongation::LimitedLinear}) {
      EXPECT_EQ(LineRun<C>(mesh, prolongation).wrongIndices(shape), 0.0) << mesh.text << ", " << asText(C);
    }
  }
}

TEST(Prolongation, ALinearFunctionIsKeptBitForBitInCells) { everyLineIsKept<Cell>(); }
TEST(Prolongation, ALinearFunctionIsKeptBitForBitAtNodes) { everyLineIsKept<Node>(); }
TEST(Prolongation, ALinearFunctionIsKeptBitForBitOnFaces) {
  everyLineIsKept<FaceX>();
  everyLineIsKept<FaceY>();
}

TEST(Prolongation, AConstantOneKeepsNoLine) {
  double wrong = 0.0;
  for (std::uint32_t seed = 1; seed <= kMeshes; ++seed) {
    const DrawnMesh mesh = drawMesh(seed);
    wrong += LineRun<Cell>(mesh, Prolongation::Constant).wrongIndices({});
  }
  EXPECT_GT(wrong, 100.0);
}

/// Zeros and ones at random: how far halos leave the range.
double beyondRange(std::uint32_t seed, Prolongation prolongation) {
  const DrawnMesh mesh = drawMesh(seed);
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  const auto beyond = labels.reduction("beyond");
  labels.setBoundary(u, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  labels.setProlongation(u, prolongation);
  StepPlan plan("step");
  plan.task("Range::write").writes(u).runs<Cpu>([=](const auto& task) {
    const auto to = task.write(u);
    forEach(task.exec(), "write", task.interior(), [=](Index x) {
      to(x) = static_cast<double>((x.i * 7 + x.j * 5 + x.k * 3 + x.i * x.j + seed) % 3 % 2);
    });
  });
  plan.task("Range::look").reads(New, u, halo(2)).contributes(beyond, Max).runs<Cpu>([=](const auto& task) {
    const auto seen = task.read(New, u);
    const Box box = grow(task.interior(), task.level().effectiveHalo(uniformHalo(2)));
    task.contribute(beyond, reduce(task.exec(), "look", box, Max, [=](Index x) {
                      return std::max({0.0 - seen(x), seen(x) - 1.0, 0.0});
                    }));
  });
  double found = 0.0;
  test::runOnRanks({}, mesh.hierarchy, labels, {&plan}, [&](StepRunner& runner, DataWarehouse&, Transport&) {
    const StepResult result = runner.run(0, {0.0, 0.0, 0, {}});
    found = result.reductions[static_cast<std::size_t>(beyond.id)];
  });
  return found;
}

TEST(Prolongation, ALimitedOneMakesNoNewExtremum) {
  double unlimited = 0.0;
  for (std::uint32_t seed = 1; seed <= kMeshes; ++seed) {
    EXPECT_EQ(beyondRange(seed, Prolongation::LimitedLinear), 0.0) << "seed " << seed;
    unlimited = std::max(unlimited, beyondRange(seed, Prolongation::Linear));
  }
  EXPECT_GT(unlimited, 0.1);
}

}  // namespace
}  // namespace tessera
