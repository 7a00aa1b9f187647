#include "scheduler/placement.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::NoBody;
using ::testing::ElementsAre;

/// A line of 16 cells in 8 patches, and tasks that can run here, there or on both sides.
class PlacementTest : public ::testing::Test {
 protected:
  PlacementTest() {
    initial_.task("initial").writes(u_).runs<Cpu>(NoBody{});
    initial_.task("advance").reads(New, u_).writes(v_).runs<Cpu, Gpu>(NoBody{});
    initial_.task("count").contributes(n_, Max).runs<Cpu, Gpu>(NoBody{});
    graphs_ = test::compileAllRanks({&initial_}, test::mesh({16, 1, 1}, {8, 1, 1}, {false, false, false}),
                                    labels_, RankMap(8, 0), 1, BufferReuse::On, WindowSharing::Off);
  }
  const TaskDeclaration& task(const std::string& name) const {
    for (const TaskDeclaration& one : initial_.tasks()) {
      if (one.name == name) return one;
    }
    throw std::invalid_argument("no task is called " + name);
  }
  /// Of the task, by patch.
  std::vector<int> places(const std::string& name, const DeviceOptions& options,
                          double hostPart = 0.0) const {
    const PlaceTask place = makePlacement(options, patchPlaces(graphs_[0], 1, hostPart));
    std::vector<int> where;
    for (std::int32_t local = 0; local < 8; ++local) where.push_back(place(task(name), 0, local));
    return where;
  }
  int place(const std::string& name, const DeviceOptions& options) const {
    return places(name, options).front();
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> v_ = labels_.variable<double, Cell>("v");
  ReductionLabel n_ = labels_.reduction("n");
  StepPlan initial_{"initial"};
  std::vector<CompiledGraphs> graphs_;
};

TEST_F(PlacementTest, AutoLeavesToTheHostWhatHasNoDeviceBodyOrNoField) {
  const DeviceOptions options;

  EXPECT_EQ(place("initial", options), kOnHost);
  EXPECT_EQ(place("advance", options), 0);
  EXPECT_EQ(place("count", options), kOnHost);
  EXPECT_EQ(makePlacement(options, patchPlaces(graphs_[0]))(task("advance"), 0, -1), kOnHost)
      << "once a rank";
}

TEST_F(PlacementTest, GpuTakesAllThatCanAndCpuNothingThatNeedNot) {
  DeviceOptions options;
  options.placement = DevicePlacement::Gpu;
  EXPECT_EQ(place("count", options), 0);
  EXPECT_EQ(place("initial", options), kOnHost);

  options.placement = DevicePlacement::Cpu;
  EXPECT_EQ(place("advance", options), kOnHost);
}

TEST_F(PlacementTest, ANamedTaskIsWhereItIsNamedFor) {
  DeviceOptions options;
  options.cpuTasks = {"advance"};
  options.gpuTasks = {"count"};

  EXPECT_EQ(place("advance", options), kOnHost);
  EXPECT_EQ(place("count", options), 0);
}

TEST_F(PlacementTest, TheHostsPartAreTheLastPatchesAndTheNearestNumberOfThem) {
  DeviceOptions options;
  options.gpuTasks = {"count"};

  EXPECT_THAT(places("advance", options, 0.25), ElementsAre(0, 0, 0, 0, 0, 0, -1, -1));
  EXPECT_THAT(places("advance", options, 0.07), ElementsAre(0, 0, 0, 0, 0, 0, 0, -1));
  EXPECT_THAT(places("advance", options, 0.06), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(places("advance", options, 1.0), ElementsAre(-1, -1, -1, -1, -1, -1, -1, -1));
  EXPECT_THAT(places("count", options, 1.0), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0)) << "named for devices";
}

TEST_F(PlacementTest, EachDeviceGivesThatPartOfItsOwn) {
  const PatchPlaces patches = patchPlaces(graphs_[0], 2, 0.25);

  EXPECT_THAT(patches.devices, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(patches.places, ElementsAre(0, 0, 0, -1, 1, 1, 1, -1));
  EXPECT_DOUBLE_EQ(patches.hostPart, 0.25);
}

}  // namespace
}  // namespace tessera
