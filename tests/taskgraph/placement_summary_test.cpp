#include "taskgraph/placement/placement_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "tests/taskgraph/placed_rig.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::NoBody;
using test::onDevice;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The step of `heat` on a line of 8 cells in 4 patches.
class PlacementSummaryTest : public ::testing::Test {
 protected:
  PlacementSummaryTest() {
    labels_.setBoundary(u_, BoundaryConditions::everywhere(BoundaryKind::Neumann));
    initial_.task("initial").writes(u_).runs<Cpu>(NoBody{});
    step_.task("advance").reads(Old, u_, halo(1)).writes(u_).runs<Cpu, Gpu>(NoBody{});
    step_.task("limit").reads(New, u_).contributes(dt_, Min).runs<Cpu, Gpu>(NoBody{});
    graphs_ = test::compileAllRanks({&initial_, &step_}, hierarchy_, labels_, {0, 0, 0, 0}, 1,
                                    BufferReuse::On, WindowSharing::Off);
  }
  PlacementSummary summaryOf(const PlaceTask& place, int devices = 1) const {
    return summarise(graphs_[0], 1, placeGraph(graphs_[0], 1, place), devices);
  }
  static const PlacedNodes& row(const PlacementSummary& summary, const std::string& name) {
    const auto found = std::find_if(summary.blocks.begin(), summary.blocks.end(),
                                    [&](const PlacedNodes& row) { return row.name == name; });
    return found == summary.blocks.end() ? summary.blocks.at(0) : *found;
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  ReductionLabel dt_ = labels_.reduction("dt");
  std::shared_ptr<const Hierarchy> hierarchy_ = test::mesh({8, 1, 1}, {4, 1, 1}, {false, false, false});
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  std::vector<CompiledGraphs> graphs_;
};

TEST_F(PlacementSummaryTest, CountsNodesByPlaceAndCopiesInBytes) {
  const PlacementSummary s = summaryOf(onDevice({"advance"}));

  EXPECT_EQ(row(s, "advance").onDevices[0], 4);
  EXPECT_EQ(row(s, "advance").onHost, 0);
  EXPECT_EQ(row(s, "limit").onHost, 4);
  ASSERT_EQ(s.copies.size(), 1U);
  EXPECT_TRUE(s.copies[0].toHost);
  EXPECT_EQ(s.copies[0].values, 4);
  EXPECT_EQ(s.copies[0].bytes, 8 * 8) << "eight cells of eight bytes";
}

TEST_F(PlacementSummaryTest, EdgesAddUpByWhatTheyJoin) {
  const PlacementSummary s = summaryOf(onDevice({"advance"}));

  // Fill to advance, and advance to its copy, on each patch; the copy to limit; limit to the reduction.
  EXPECT_EQ(s.edges.onDevice, 8);
  EXPECT_EQ(s.edges.deviceToHost, 4);
  EXPECT_EQ(s.edges.onHost, 4);
  EXPECT_EQ(s.edges.hostToDevice, 0);
  EXPECT_EQ(s.edges.betweenDevices, 0);
}

TEST_F(PlacementSummaryTest, AllOnTheHostCopiesNothing) {
  const PlacementSummary s = summaryOf(onDevice({}));

  EXPECT_THAT(s.copies, IsEmpty());
  EXPECT_EQ(s.edges.onDevice + s.edges.hostToDevice + s.edges.deviceToHost, 0);
  EXPECT_THAT(asText(s, labels_), HasSubstr("copies in each run\n  none\n"));
}

TEST_F(PlacementSummaryTest, ReadsAsATableOfPlaces) {
  const std::string text = asText(summaryOf(onDevice({"advance"})), labels_);

  EXPECT_THAT(text, HasSubstr("New u from device 0 to the host  4 patches, 64 bytes"));
  EXPECT_THAT(text, HasSubstr("u on level 0  on device 0"));
  EXPECT_THAT(text, HasSubstr("edges: 4 on the host, 0 from it to a device, 4 from a device to it, 8 on a "
                              "device, 0 from one device to another\n"));
}

}  // namespace
}  // namespace tessera
