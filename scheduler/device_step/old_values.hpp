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

/// Brings Old and carried values of the patches of one device to where they are read, between plans: to the
/// device, or to the host. Waits for what it copies.
class OldValues {
 public:
  /// All of these outlive the object.
  OldValues(const CompiledGraphs& graphs, DataWarehouse& data, const PlacedGraph& placed,
            DeviceAssignment device, DeviceStore& store, DeviceLane& lane, DeviceNodes& nodes);

  /// What the plan reads of them in each place.
  void copy();
  /// These variables to the host, where it does not have them.
  void copyToHost(Generation generation, std::span<const LabelId> labels);
  /// These variables to the device, where it has memory for them and not their values.
  void copyToDevice(Generation generation, std::span<const LabelId> labels);

 private:
  void copyAll(DeviceMoves::CopyTo to, Generation generation, std::span<const LabelId> labels);
  void copy(DeviceMoves::CopyTo to, Generation generation, const LevelLabel& what);
  /// Patches whose value is valid in space `from` and not in `to`.
  std::vector<std::int32_t> localsToBring(Generation generation, const LevelLabel& what, MemorySpace from,
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
