#include "scheduler/assignment/patch_devices.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using detail::PatchDevices;
using ::testing::ElementsAre;

/// Four patches of two cells on a line; `step` could run on a device, `look` could not.
class PatchDevicesTest : public ::testing::Test {
 protected:
  PatchDevicesTest() {
    plan_.task("step").writes(u_).runs<Cpu, Gpu>(test::NoBody{});
    plan_.task("look").reads(New, u_).contributes(sum_, Sum).runs<Cpu>(test::NoBody{});
  }
  CompiledGraphs compiled(const RankMap& ranks, std::size_t rank) {
    const auto hierarchy = test::mesh({8, 1, 1}, {4, 1, 1}, {false, false, false});
    const int count = 1 + *std::max_element(ranks.begin(), ranks.end());
    return test::compileAllRanks({&plan_}, hierarchy, labels_, ranks, count)[rank];
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  ReductionLabel sum_ = labels_.reduction("sum");
  StepPlan plan_{"step"};
};

TEST_F(PatchDevicesTest, DealsOutRangesOfTheCurveOfEqualCells) {
  const CompiledGraphs graphs = compiled({0, 0, 0, 0}, 0);
  EXPECT_THAT(PatchDevices(graphs, 1).places(), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(PatchDevices(graphs, 2).places(), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(PatchDevices(graphs, 3).places(), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(PatchDevices(graphs, 4).places(), ElementsAre(0, 1, 2, 3));
}

TEST_F(PatchDevicesTest, EachRankDealsOutItsOwnPatches) {
  EXPECT_THAT(PatchDevices(compiled({0, 0, 1, 1}, 1), 2).places(), ElementsAre(0, 1));
  EXPECT_THAT(PatchDevices(compiled({0, 1, 1, 1}, 0), 2).places(), ElementsAre(1))
      << "the middle of the only patch is in the second half";
}

}  // namespace
}  // namespace tessera
