#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/device/lane/device_lane.hpp"
#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera::test {

/// Runs digests for all tasks of a plan: a task that started before a predecessor had ended would have a
/// wrong one.
class LaneRig : public LaneClient {
 public:
  LaneRig(DeviceBackend& device, LanePlan plan);

  const LanePlan& plan() const { return plan_; }
  /// Before a step.
  void clear();
  /// The launch that holds this task, or this part of a task, first waits for `letGo`.
  void holdTask(std::int32_t task) { heldTask_ = task; }
  void holdPart(std::int32_t part) { heldPart_ = part; }
  void letGo();
  /// Serves until so many have ended, and says which; at most some seconds.
  std::vector<std::int32_t> serveUntil(DeviceLane& lane, std::size_t count);
  /// All tasks have ended.
  void expectRightDigests();

  void launch(std::int32_t kind, std::span<const std::int32_t> tasks,
              std::span<const DeviceStream> streams) override;

 private:
  std::vector<std::uint64_t> rightDigests() const;

  DeviceBackend& device_;
  LanePlan plan_;
  DeviceStream stream_;
  std::vector<std::vector<std::int32_t>> predecessors_;
  OnDevice<std::uint64_t> digits_;
  OnDevice<std::int32_t> lists_;
  OnDevice<DigestPatch> patches_;
  OnDevice<int> flag_;
  std::int32_t heldTask_ = -1;
  std::int32_t heldPart_ = -1;
};

/// A graph whose edges are the device's or the host's: of a host edge, the second task is submitted only when
/// the first has ended.
struct RandomLaneCase {
  LanePlan plan;
  std::vector<std::vector<std::int32_t>> hostSuccessors;
  std::vector<std::int32_t> hostPredecessors;  ///< how many, by task
  LaneOptions options;
};

RandomLaneCase drawLaneCase(std::uint32_t seed);

/// Submits and serves all, from so many threads, until all tasks that report have ended.
void runStep(DeviceLane& lane, const RandomLaneCase& drawn, int threads);

}  // namespace tessera::test
