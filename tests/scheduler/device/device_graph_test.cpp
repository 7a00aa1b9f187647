#include <gmock/gmock.h>

#include "core/text/error.hpp"
#include "scheduler/device/backend/device_backend.hpp"
#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera {
namespace {

using test::OnDevice;
using testing::Each;

/// Captured work, on each kind of device.
class DeviceGraphClaims : public test::OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (!IsSkipped()) device_ = makeDevice();
  }
  void twice(DeviceStream stream, OnDevice<double>& data) {
    test::putAffine(*device_, stream, data.data(), 100, 2.0, 0.0);
  }
  void plusOne(DeviceStream stream, OnDevice<double>& data) {
    test::putAffine(*device_, stream, data.data(), 100, 1.0, 1.0);
  }
  /// `then` comes after all that is in `first`.
  void chain(DeviceStream first, DeviceStream then) {
    const DeviceEvent event = device_->makeEvent();
    device_->record(event, first);
    device_->wait(then, event);
  }

  std::unique_ptr<DeviceBackend> device_;
};

TEST_P(DeviceGraphClaims, WhatIsCapturedRunsAtEachLaunchAndNotBefore) {
  const DeviceStream capturing = device_->makeStream();
  const DeviceStream stream = device_->makeStream();
  OnDevice<double> data(*device_, 100);
  data.set(stream, std::vector<double>(100, 1.0));

  device_->beginCapture(capturing);
  twice(capturing, data);
  plusOne(capturing, data);
  const DeviceGraph graph = device_->endCapture();

  EXPECT_THAT(data.get(stream), Each(1.0)) << "captured, and not run";
  device_->launchGraph(stream, graph, "test graph");
  EXPECT_THAT(data.get(stream), Each(3.0));
  device_->launchGraph(stream, graph, "test graph");
  device_->launchGraph(stream, graph, "test graph");
  EXPECT_THAT(data.get(stream), Each(15.0)) << "one launch after the other";
}

TEST_P(DeviceGraphClaims, ALaunchKeepsTheOrderOfItsStream) {
  const DeviceStream capturing = device_->makeStream();
  const DeviceStream stream = device_->makeStream();
  OnDevice<double> data(*device_, 100);
  data.set(stream, std::vector<double>(100, 1.0));
  device_->beginCapture(capturing);
  twice(capturing, data);
  const DeviceGraph graph = device_->endCapture();

  double expected = 1.0;
  for (int n = 0; n < 20; ++n) {
    plusOne(stream, data);
    device_->launchGraph(stream, graph, "test graph");
    expected = 2.0 * (expected + 1.0);
  }

  EXPECT_THAT(data.get(stream), Each(expected));
}

TEST_P(DeviceGraphClaims, StreamsOfACaptureForkAndJoin) {
  const DeviceStream first = device_->makeStream();
  const DeviceStream second = device_->makeStream();
  const DeviceStream stream = device_->makeStream();
  OnDevice<double> left(*device_, 100);
  OnDevice<double> right(*device_, 100);
  left.set(stream, std::vector<double>(100, 1.0));
  right.set(stream, std::vector<double>(100, 1.0));

  device_->beginCapture(first);
  twice(first, left);
  twice(first, right);
  chain(first, second);
  for (int n = 0; n < 3; ++n) plusOne(first, left);
  for (int n = 0; n < 3; ++n) twice(second, right);
  chain(second, first);
  plusOne(first, right);
  const DeviceGraph graph = device_->endCapture();
  for (int n = 0; n < 2; ++n) device_->launchGraph(stream, graph, "test graph");

  EXPECT_THAT(left.get(stream), Each((1.0 * 2 + 3) * 2 + 3));
  EXPECT_THAT(right.get(stream), Each((1.0 * 16 + 1) * 16 + 1));
}

TEST_P(DeviceGraphClaims, CopiesReadWhatTheMemoryHoldsAtTheLaunch) {
  const DeviceStream capturing = device_->makeStream();
  const DeviceStream stream = device_->makeStream();
  OnDevice<double> pinned(*device_, 100, DeviceSpace::PinnedHost);
  OnDevice<double> data(*device_, 100);
  device_->beginCapture(capturing);
  device_->copy(capturing, CopyDirection::HostToDevice, data.data(), pinned.data(), data.bytes());
  twice(capturing, data);
  const DeviceGraph graph = device_->endCapture();

  for (const double value : {3.0, 5.0}) {
    std::fill_n(pinned.data(), 100, value);
    device_->launchGraph(stream, graph, "test graph");
    EXPECT_THAT(data.get(stream), Each(2.0 * value));
  }
}

TEST_P(DeviceGraphClaims, StreamsAreAsBeforeWhenTheirCaptureHasEnded) {
  const DeviceStream first = device_->makeStream();
  const DeviceStream second = device_->makeStream();
  OnDevice<double> data(*device_, 100);
  data.set(first, std::vector<double>(100, 1.0));
  device_->beginCapture(first);
  chain(first, second);
  twice(second, data);
  chain(second, first);
  const DeviceGraph graph = device_->endCapture();

  plusOne(first, data);
  chain(first, second);
  plusOne(second, data);

  EXPECT_THAT(data.get(second), Each(3.0));
  device_->releaseGraph(graph);
}

TEST_P(DeviceGraphClaims, AStreamThatNobodyHasWaitedForIsAnError) {
  const DeviceStream first = device_->makeStream();
  const DeviceStream second = device_->makeStream();
  OnDevice<double> data(*device_, 100);
  device_->beginCapture(first);
  chain(first, second);
  twice(second, data);

  EXPECT_THROW(device_->endCapture(), Error);
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceGraphClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tessera
