#pragma once

#include <cstdint>
#include <vector>

#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// Which device of a rank keeps the values of each own patch: on each level a range of the Morton curve, of
/// nearly equal cells. The same for all tasks, plans and variables, so that a value is on the host, on its
/// patch's device or on both, and never on another device.
class PatchDevices {
 public:
  PatchDevices(const CompiledGraphs& graphs, int deviceCount);

  DeviceAssignment of(std::int32_t local) const { return places_[static_cast<std::size_t>(local)]; }
  /// By own patch; as PlacedGraph::homes. Spare slots are device 0's.
  const std::vector<DeviceAssignment>& places() const { return places_; }

 private:
  std::vector<DeviceAssignment> places_;
};

}  // namespace tessera::detail
