#pragma once

#include <cstdint>
#include <span>

#include "scheduler/device/lane/device_lane.hpp"
#include "tests/scheduler/device/claim_kernels.hpp"

namespace tessera::test {

/// A plan of one task, which nobody on the host waits for: data = factor * data + shift.
class AffineStep : public LaneClient {
 public:
  AffineStep(DeviceBackend& device, double* data, double factor, double shift)
      : device_(device), data_(data), factor_(factor), shift_(shift) {}
  static LanePlan plan() { return {{{0, 1, false}}, {}}; }
  void launch(std::int32_t, std::span<const std::int32_t>, std::span<const DeviceStream> streams) override {
    putAffine(device_, streams[0], data_, 1, factor_, shift_);
  }

 private:
  DeviceBackend& device_;
  double* data_;
  double factor_;
  double shift_;
};

/// Begins, submits and launches a step of one task.
inline void launchStep(DeviceLane& lane, LaneWork& work, LaneClient& client) {
  lane.begin(work, client);
  lane.submit(0);
  while (!lane.allLaunched()) lane.serve([](std::int32_t) {});
}

}  // namespace tessera::test
