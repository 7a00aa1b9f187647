#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/assignment/patch_devices.hpp"
#include "scheduler/device/backend/pinned_host.hpp"
#include "scheduler/device/memory/device_access.hpp"
#include "scheduler/device_step/device_side.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// The devices of a rank, which of them each own patch has, where the nodes of each plan run, and the memory
/// that this takes on each device.
class RankDevices {
 public:
  /// Opens the devices and takes their memory. `trace` may be null. Throws DeviceError.
  RankDevices(const CompiledGraphs& graphs, DataWarehouse& data, const DeviceOptions& options, Trace* trace);

  ~RankDevices();

  /// Locks memory of the host in place that kernels of all devices work on, all at once.
  void pin(std::span<const std::span<std::byte>> memory);
  /// Before that memory ends: waits for the devices.
  void unpin();

  /// Between steps: from now on the host has this part of the cells (makePlacement). The devices have done
  /// all, and nobody uses what `placed` gave before.
  void place(double hostPart);
  /// Of the cells that could be on devices, as whole patches allow.
  double hostPart() const { return hostPart_; }

  const PlacedGraph& placed(std::size_t plan) const { return placed_[plan]; }
  /// Of that, where steps are to be replayed as graphs: see replaySegments.
  const IdVector<NodeId, std::int32_t>& segments(std::size_t plan) const { return segments_[plan]; }
  const std::vector<std::unique_ptr<DeviceSide>>& sides() const { return sides_; }
  /// Where devices find the values of an own patch.
  DeviceStore& storeOf(std::int32_t local) const {
    return sides_[static_cast<std::size_t>(patches_.of(local))]->store;
  }
  /// To the first device; nothing where a pager moves variables.
  std::optional<DeviceAccess> access() const;
  /// Between steps: what any device is given from now on comes after all that any other has been given, or
  /// all but tasks that are `independentOfPeers`.
  void crossDeviceBarrier(DeviceLane::Barrier barrier) const;

 private:
  void synchronize() noexcept;
  void addEntries(std::size_t plan);
  void addEntry(LabelId label, std::int32_t local);

  const CompiledGraphs& graphs_;
  const DeviceOptions options_;
  double hostPart_ = 0.0;
  std::vector<std::unique_ptr<DeviceSide>> sides_;
  PatchDevices patches_;
  std::vector<PlacedGraph> placed_;                       ///< by plan
  std::vector<IdVector<NodeId, std::int32_t>> segments_;  ///< likewise
  std::optional<PinnedHost> pinned_;
};

}  // namespace tessera::detail
