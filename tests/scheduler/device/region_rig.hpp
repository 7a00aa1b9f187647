#pragma once

#include <optional>

#include "scheduler/device/moves/region_table.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera::test {

/// A suite over deviceKinds() with what tables of regions need.
class RegionsOnEachDevice : public OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (IsSkipped()) return;
    device_ = makeDevice();
    stream_ = device_->makeStream();
    memory_.emplace(*device_, DevicePoolOptions{DeviceSpace::Device, 64 << 20, 1 << 20});
    pinned_.emplace(*device_, DevicePoolOptions{DeviceSpace::PinnedHost, 64 << 20, 1 << 20});
  }
  RegionTable upload(const RegionList& list) {
    return {*device_, *memory_, *pinned_, stream_, list, "a test"};
  }

  std::unique_ptr<DeviceBackend> device_;
  DeviceStream stream_;
  std::optional<DevicePool> memory_;
  std::optional<DevicePool> pinned_;
};

}  // namespace tessera::test
