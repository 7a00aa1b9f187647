#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scheduler/device/lane/launch_order.hpp"

namespace tessera {

/// Captures all launches of a lane's plan as one graph of its device, in as many streams as the lane has:
///
///   PlanCapture captures(device, plan, options);
///   const DeviceGraph graph = captures.capture([&](std::size_t batch, std::span<const DeviceStream> streams)
///   {
///     ...   // what LaneClient::launch does for captures.batches()[batch]
///   });
///   device.launchGraph(stream, graph, "plan");      // in place of the lane, any number of times
///
/// The batches are those of a lane whose tasks are all submitted before it is served; each follows those that
/// it waits for. Thread rule: the backend's.
class PlanCapture {
 public:
  /// Puts batch number `batch`, part p into `streams[p]`; with calls that streams of a capture take, only.
  using Put = std::function<void(std::size_t batch, std::span<const DeviceStream> streams)>;

  /// The device outlives the object.
  PlanCapture(DeviceBackend& device, const LanePlan& plan, const LaneOptions& options);

  std::span<const StreamedBatch> batches() const { return batches_; }
  /// Whoever calls it releases the graph.
  DeviceGraph capture(const Put& put);

 private:
  void enter(std::size_t stream);
  void captureBatch(std::size_t n, const Put& put);

  DeviceBackend& device_;
  std::vector<StreamedBatch> batches_;
  std::vector<DeviceStream> streams_;             ///< nothing but captures is put into them
  std::vector<std::vector<DeviceEvent>> events_;  ///< behind each part of each batch
  DeviceEvent fork_;
  std::vector<char> entered_;          ///< by stream: it is part of the capture at hand
  std::vector<DeviceStream> ofBatch_;  ///< of the batch at hand, by part
};

}  // namespace tessera
