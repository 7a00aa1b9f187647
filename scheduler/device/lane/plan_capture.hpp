#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scheduler/device/lane/device_lane.hpp"

namespace tessera {

/// Tasks of one kind that are launched together.
struct LaunchBatch {
  std::int32_t kind = 0;
  std::vector<std::int32_t> tasks;    ///< ascending
  std::vector<std::int32_t> streams;  ///< by part, counted from 0
};

/// Captures all launches of a lane's plan as one graph of its device:
///
///   PlanCapture captures(device, plan, options);
///   const DeviceGraph graph = captures.capture([&](std::size_t batch, std::span<const DeviceStream> streams)
///   {
///     ...   // what LaneClient::launch does for captures.batches()[batch]
///   });
///   device.launchGraph(stream, graph, "plan");      // in place of the lane, any number of times
///
/// Batches, streams and waits are those of a lane whose tasks are all submitted before it is served: a lane
/// goes through the plan once, on a device that only notes what it is asked for. Nothing is urgent there, and
/// edges to other lanes are left out. Thread rule: the backend's.
class PlanCapture {
 public:
  /// Puts batch number `batch`, part p into `streams[p]`; with calls that streams of a capture take, only.
  using Put = std::function<void(std::size_t batch, std::span<const DeviceStream> streams)>;

  /// The device outlives the object.
  PlanCapture(DeviceBackend& device, const LanePlan& plan, const LaneOptions& options);

  std::span<const LaunchBatch> batches() const { return batches_; }
  /// Whoever calls it releases the graph.
  DeviceGraph capture(const Put& put);

  /// One thing that a lane asks of its device: an event in or before a stream, or a launch.
  struct Call {
    enum Kind : std::uint8_t { Record, Wait, Launch } kind = Launch;
    std::int32_t number = 0;  ///< of the event, or of the batch
    std::int32_t stream = 0;  ///< of the event
  };

 private:
  DeviceBackend& device_;
  std::vector<LaunchBatch> batches_;
  std::vector<Call> calls_;
  std::vector<DeviceStream> streams_;  ///< nothing but captures is put into them
  std::vector<DeviceEvent> events_;
  std::vector<DeviceStream> ofBatch_;  ///< of the batch at hand, by part
};

}  // namespace tessera
