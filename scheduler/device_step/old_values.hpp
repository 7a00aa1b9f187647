#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/device_store.hpp"
#include "scheduler/device/lane/device_lane.hpp"
#include "scheduler/device_step/device_nodes.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// Brings Old values of the patches of one device to where they are read, between steps: to the device, or to
/// the host. Waits for what it copies.
class OldValues {
 public:
  /// All of these outlive the object.
  OldValues(const CompiledGraphs& graphs, DataWarehouse& data, const PlacedGraph& placed,
            DeviceAssignment device, DeviceStore& store, DeviceLane& lane, DeviceNodes& nodes);

  /// What the plan reads of Old in each place.
  void copy();
  /// These variables to the host, where it does not have them.
  void copyToHost(std::span<const LabelId> labels);

 private:
  void copy(DeviceMoves::CopyTo to, LabelId label, LevelId level);
  /// Patches whose value is valid in space `from` and not in `to`.
  std::vector<std::int32_t> localsToBring(LabelId label, LevelId level, MemorySpace from,
                                          MemorySpace to) const;

  const CompiledGraphs& graphs_;
  DataWarehouse& data_;
  const PlacedGraph& placed_;
  const DeviceAssignment device_;
  DeviceStore& store_;
  DeviceLane& lane_;
  DeviceNodes& nodes_;
  std::vector<OldNeed> needs_;  ///< of this device and of the host, each once
};

}  // namespace tessera::detail
