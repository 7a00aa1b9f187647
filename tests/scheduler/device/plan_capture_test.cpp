#include "scheduler/device/lane/plan_capture.hpp"

#include <string>

#include <gmock/gmock.h>

#include "tests/scheduler/device/device_rig.hpp"
#include "tests/scheduler/device/lane_rig.hpp"

namespace tessera {
namespace {

using testing::ElementsAre;

class PlanCaptureClaims : public test::OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (!IsSkipped()) device_ = makeDevice();
  }

  std::unique_ptr<DeviceBackend> device_;
};

TEST_P(PlanCaptureClaims, TasksOfAKindThatAreReadyTogetherAreOneBatch) {
  // Two rows of three: each task of the second waits for the one above it.
  const LanePlan plan{{{0}, {0}, {0}, {1}, {1}, {1}}, {{0, 3}, {1, 4}, {2, 5}}};

  const PlanCapture captures(*device_, plan, {});

  ASSERT_EQ(captures.batches().size(), 2U);
  EXPECT_THAT(captures.batches()[0].tasks, ElementsAre(0, 1, 2));
  EXPECT_THAT(captures.batches()[1].tasks, ElementsAre(3, 4, 5));
}

TEST_P(PlanCaptureClaims, ABatchHasNoMoreTasksThanIsAsked) {
  const PlanCapture captures(*device_, {{{0}, {0}, {0}}, {}}, {.largestBatch = 2});

  ASSERT_EQ(captures.batches().size(), 2U);
  EXPECT_THAT(captures.batches()[0].tasks, ElementsAre(0, 1));
  EXPECT_THAT(captures.batches()[1].tasks, ElementsAre(2));
}

TEST_P(PlanCaptureClaims, AChainStaysInItsStreamAndABranchGetsAnother) {
  // 0 comes before 1 and 2, both before 3.
  const LanePlan plan{{{0}, {1}, {2}, {3}}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}};

  const PlanCapture captures(*device_, plan, {.largestBatch = 1});

  const auto batches = captures.batches();
  EXPECT_EQ(batches[1].streams, batches[0].streams);
  EXPECT_NE(batches[2].streams, batches[0].streams);
  EXPECT_EQ(batches[3].streams, batches[2].streams) << "of two that it waits for, the later one's";
}

/// A batch that did not come behind all that its tasks wait for would compute wrong digests.
TEST_P(PlanCaptureClaims, AGraphOfARandomPlanComputesWhatTheLaneDoes) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const test::RandomLaneCase drawn = test::drawLaneCase(seed);
    test::LaneRig rig(*device_, drawn.plan);
    PlanCapture captures(*device_, drawn.plan, drawn.options);
    const DeviceStream stream = device_->makeStream();
    const DeviceGraph graph = captures.capture([&](std::size_t batch, std::span<const DeviceStream> streams) {
      rig.launch(captures.batches()[batch].kind, captures.batches()[batch].tasks, streams);
    });
    for (int repeat = 0; repeat < 2; ++repeat) {
      rig.clear();
      device_->launchGraph(stream, graph, "test plan");
      device_->synchronize(stream);
      rig.expectRightDigests();
    }
    device_->releaseGraph(graph);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, PlanCaptureClaims, testing::ValuesIn(test::deviceKinds()));

}  // namespace
}  // namespace tessera
