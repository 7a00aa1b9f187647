#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scheduler/device/lane/device_lane.hpp"
#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"
#include "tests/scheduler/device/lane_rig.hpp"

namespace tessera::test {

/// A random graph whose tasks are dealt out to the lanes of several devices. Digests, as those of LaneRig,
/// lie in memory that all of the devices see.
class PeerLanesRig {
 public:
  /// `laneOf`: by task of the case. Devices outlive the rig.
  PeerLanesRig(std::span<DeviceBackend* const> devices, RandomLaneCase drawn,
               std::vector<std::int32_t> laneOf);

  std::size_t laneCount() const { return sides_.size(); }
  DeviceLane& lane(std::size_t n) { return sides_[n]->lane; }
  /// The launch that holds this task first waits for `letGo`.
  void holdTask(std::int32_t task) { heldTask_ = task; }
  void letGo();

  /// All lanes begin a step, each after the others: `arm`, then `begin` for each.
  void begin();
  void arm();
  void begin(std::size_t lane);
  void submit(std::int32_t task);
  /// Of one lane: how many have ended.
  std::size_t serve(std::size_t lane);
  /// Submits and serves all, from so many threads, until all tasks have ended.
  void runStep(int threads);
  /// Waits for all devices.
  void expectRightDigests();

 private:
  struct Side : public LaneClient {
    Side(PeerLanesRig& theRig, DeviceBackend& theDevice, const LaneOptions& options)
        : rig(theRig), device(theDevice), lane(theDevice, options) {}
    void launch(std::int32_t kind, std::span<const std::int32_t> tasks,
                std::span<const DeviceStream> streams) override;

    PeerLanesRig& rig;
    DeviceBackend& device;
    DeviceLane lane;
    LanePlan plan;
    std::vector<std::int32_t> tasks;  ///< of the case, by task of the lane
    std::unique_ptr<LaneWork> work;
  };

  void dealOut();
  void fillTables();
  void ended(std::int32_t task);

  RandomLaneCase drawn_;
  std::vector<std::int32_t> laneOf_;
  std::vector<std::int32_t> numberOf_;  ///< in its lane, by task
  std::vector<std::vector<std::int32_t>> predecessors_;
  OnDevice<std::uint64_t> digits_;
  OnDevice<std::int32_t> lists_;
  OnDevice<DigestPatch> patches_;
  OnDevice<int> flag_;
  std::vector<std::unique_ptr<Side>> sides_;
  std::vector<std::atomic<std::int32_t>> missing_;  ///< host predecessors yet to end, by task
  std::atomic<std::size_t> ended_{0};
  std::int32_t heldTask_ = -1;
};

}  // namespace tessera::test
