// Large halos stored as one: the same bits as with private copies, from less memory.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grid/rank_map.hpp"
#include "grid/refined_levels.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera {
namespace {

using test::RunShape;

/// A step that sums the cube of `halo` cells around each cell of Old, on every level, and what it leaves.
class CubeSum {
 public:
  CubeSum(std::shared_ptr<const Hierarchy> hierarchy, std::int64_t width) : hierarchy_(std::move(hierarchy)) {
    label_ = labels_.variable<double, Centering::Cell>("u");
    BoundaryConditions conditions = BoundaryConditions::everywhere(BoundaryKind::Outflow);
    labels_.setBoundary(label_, conditions);
    initial_.task("Cube::initial").writes(label_).runs<Cpu>([u = label_](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "initial", task.interior(),
              [=](Index x) { out(x) = static_cast<double>((x.i * 7 + x.j * 13 + x.k * 29) % 17); });
    });
    step_.task("Cube::sum")
        .reads(Old, label_, halo(width))
        .writes(label_)
        .runs<Cpu>([u = label_, width](const auto& task) {
          const auto old = task.read(Old, u);
          const auto out = task.write(u);
          const bool flat = !task.geometry().active(2);
          const std::int64_t deep = flat ? 0 : width;
          forEach(task.exec(), "sum", task.interior(), [=](Index x) {
            double sum = 0.0;
            for (std::int64_t k = -deep; k <= deep; ++k) {
              for (std::int64_t j = -width; j <= width; ++j) {
                for (std::int64_t i = -width; i <= width; ++i) sum += old(x + Index{i, j, k});
              }
            }
            out(x) = sum / 64.0;
          });
        });
  }

  /// The values of all patches after three steps, in the order of their ids.
  std::vector<std::vector<std::byte>> run(RunShape shape, WindowSharing sharing) {
    shape.sharing = sharing;
    std::vector<std::vector<std::byte>> values(static_cast<std::size_t>(hierarchy_->patchCount()));
    test::runOnRanks(shape, hierarchy_, labels_, {&initial_, &step_},
                     [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                       runner.run(0, {0.0, 0.0, 0, {}});
                       for (std::int64_t s = 1; s <= 3; ++s) runner.run(1, {0.0, 0.0, s, {}});
                       for (std::size_t n = 0; n < data.ownPatches().size(); ++n) {
                         auto& packed = values[static_cast<std::size_t>(data.ownPatches()[n])];
                         packed.resize(static_cast<std::size_t>(data.ownedBox(label_.id, n).volume() * 8));
                         data.packOwned(label_.id, n, packed);
                       }
                     });
    return values;
  }

  CompiledGraphs compile(WindowSharing sharing) {
    const RankMap owners = distribute(*hierarchy_, 1);
    CompileInput input{hierarchy_, &labels_, &owners, 0};
    input.sharing = sharing;
    const std::vector<const StepPlan*> plans{&initial_, &step_};
    return compileGraphs(plans, input);
  }

 private:
  std::shared_ptr<const Hierarchy> hierarchy_;
  LabelTable labels_;
  Label<double, Centering::Cell> label_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

Geometry square(std::int64_t cells, bool periodic) {
  Geometry geometry;
  geometry.cells = {cells, cells, 1};
  geometry.periodic = {periodic, periodic, false};
  return geometry;
}

void expectSameBits(CubeSum& cube) {
  const auto expected = cube.run({}, WindowSharing::Off);
  for (const RunShape& shape :
       {RunShape{}, RunShape{1, 3, false, {}}, RunShape{3, 2, false, 7}, RunShape{2, 0, true, {}}}) {
    SCOPED_TRACE(std::to_string(shape.ranks) + " ranks, " + std::to_string(shape.threads) + " threads");
    EXPECT_EQ(cube.run(shape, WindowSharing::On), expected);
  }
}

TEST(SharedWindow, GivesTheBitsOfPrivateCopiesWithConditions) {
  CubeSum cube(Hierarchy::uniform(square(12, false), {Division::By::PatchSize, {2, 3, 1}}), 4);
  ASSERT_EQ(cube.compile(WindowSharing::On).shared.size(), 1U);
  expectSameBits(cube);
}

TEST(SharedWindow, GivesTheBitsOfPrivateCopiesAcrossPeriods) {
  CubeSum cube(Hierarchy::uniform(square(12, true), {Division::By::Patches, {5, 4, 1}}), 5);
  ASSERT_EQ(cube.compile(WindowSharing::On).shared.size(), 1U);
  expectSameBits(cube);
}

TEST(SharedWindow, GivesTheBitsOfPrivateCopiesOnAnLThatHasCoarseCellsInItsHalo) {
  RefinedLevel fine;
  fine.boxes = {Box{{2, 2, 0}, {14, 5, 1}}, Box{{2, 5, 0}, {5, 14, 1}}};
  fine.patchSize = {3, 3, 1};
  CubeSum cube(refinedHierarchy(square(16, false), {Division::By::Patches, {2, 2, 1}}, {fine}), 4);
  const CompiledGraphs graphs = cube.compile(WindowSharing::On);
  ASSERT_EQ(graphs.shared.size(), 2U) << "the bar and the arm";
  expectSameBits(cube);
}

TEST(SharedWindow, MembersNameOneDescriptionThatTheyFillOnce) {
  CubeSum cube(Hierarchy::uniform(square(8, false), {Division::By::Patches, {4, 4, 1}}), 4);
  const CompiledGraphs graphs = cube.compile(WindowSharing::On);
  const auto data = makeDataWarehouse(graphs, 3);
  EXPECT_EQ(data->allocatedBytes(), 2 * 16 * 16 * 8) << "Old and New of 8 x 8 cells and 4 around them";
  for (const Generation g : {Generation::Old, Generation::New}) {
    for (std::size_t local = 0; local < 16; ++local) {
      EXPECT_EQ(data->data(g, 0, local), data->data(g, 0, 0));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data->data(g, 0, local)) % 64, 0U);
      EXPECT_EQ(data->description(data->descriptionOf(g, 0, local)).entries, 16);
      EXPECT_EQ(data->status(g, 0, local).state(kHost), SpaceState::Valid);
    }
  }
  EXPECT_NE(data->data(Generation::Old, 0, 0), data->data(Generation::New, 0, 0));
  const auto apart = makeDataWarehouse(cube.compile(WindowSharing::Off));
  EXPECT_GE(apart->allocatedBytes(), 2 * 16 * 10 * 10 * 8);
}

TEST(SharedWindow, ManyThreadsPopulateItTogether) {
  CubeSum cube(Hierarchy::uniform(square(64, true), {Division::By::Patches, {16, 16, 1}}), 8);
  const CompiledGraphs graphs = cube.compile(WindowSharing::On);
  for (int round = 0; round < 20; ++round) {
    const auto data = makeDataWarehouse(graphs, 4);
    EXPECT_EQ(data->description(data->descriptionOf(Generation::New, 0, 255)).entries, 256);
    EXPECT_TRUE(std::isnan(*reinterpret_cast<const double*>(data->data(Generation::New, 0, 255))));
  }
}

/// Each patch takes the cell opposite to each of its own, from the whole level.
void turnAround(StepPlan& plan, Label<double, Centering::Cell> u) {
  plan.task("T::turn").reads(Old, u, wholeLevel()).writes(u).runs<Cpu>([u](const auto& task) {
    const auto level = task.readLevel(Old, u);
    const auto out = task.write(u);
    forEach(task.exec(), "turn", task.interior(), [=](Index x) { out(x) = level({7 - x.i, 7 - x.j, 0}); });
  });
}

TEST(SharedWindow, OneRankReadsAWholeLevelWithoutACopy) {
  const auto hierarchy = Hierarchy::uniform(square(8, true), {Division::By::Patches, {4, 4, 1}});
  LabelTable labels;
  const auto u = labels.variable<double, Centering::Cell>("u");
  StepPlan initial("initial");
  initial.task("T::initial").writes(u).runs<Cpu>([u](const auto& task) {
    const auto out = task.write(u);
    forEach(task.exec(), "initial", task.interior(),
            [=](Index x) { out(x) = static_cast<double>(8 * x.j + x.i); });
  });
  StepPlan step("step");
  turnAround(step, u);
  for (const RunShape& shape :
       {RunShape{}, RunShape{1, 2, false, {}}, RunShape{1, 0, true, {}}, RunShape{3, 2, false, {}}}) {
    test::runOnRanks(shape, hierarchy, labels, {&initial, &step},
                     [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                       runner.run(0, {0.0, 0.0, 0, {}});
                       runner.run(1, {0.0, 0.0, 1, {}});
                       if (shape.ranks == 1) {
                         EXPECT_EQ(data.allocatedBytes(), 2 * 64 * 8) << "Old and New, and no copy";
                       }
                       for (std::size_t n = 0; n < data.ownPatches().size(); ++n) {
                         const Index x = data.ownedBox(u.id, n).lo;
                         double value = 0.0;
                         std::memcpy(&value,
                                     data.data(Generation::Old, u.id, n) + 8 * data.layout(u.id, n).at(x), 8);
                         EXPECT_EQ(value, static_cast<double>(8 * (7 - x.j) + 7 - x.i));
                       }
                     });
  }
}

/// Two tasks that change a value one after the other, and a reader of the halo of one of the versions.
std::size_t sharedWindowsWhenReading(const std::string& version) {
  const auto hierarchy = Hierarchy::uniform(square(8, true), {Division::By::Patches, {4, 4, 1}});
  LabelTable labels;
  const auto u = labels.variable<double, Centering::Cell>("u");
  const auto nothing = [](const auto&) {};
  StepPlan plan("step");
  plan.task("T::write").writes(u).runs<Cpu>(nothing);
  plan.task("T::change").modifies(u).runs<Cpu>(nothing);
  plan.task("T::look").reads(New, u, halo(4), from(version)).runs<Cpu>(nothing);
  const RankMap owners = distribute(*hierarchy, 1);
  const std::vector<const StepPlan*> plans{&plan};
  const CompiledGraphs graphs = compileGraphs(plans, {hierarchy, &labels, &owners, 0});
  expectNoRaces(std::span(&graphs, 1));
  return graphs.shared.size();
}

TEST(SharedWindow, IsLeftAloneWhereAVersionIsChangedAfterItsHaloIsRead) {
  EXPECT_EQ(sharedWindowsWhenReading("T::change"), 1U);
  EXPECT_EQ(sharedWindowsWhenReading("T::write"), 0U)
      << "the neighbour's change would be in the halo too early";
}

}  // namespace
}  // namespace tessera
