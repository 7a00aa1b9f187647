#pragma once

#include <string>

#include "scheduler/device/backend/device_backend.hpp"
#include "scheduler/device/lane/device_span.hpp"
#include "scheduler/diagnostics/work_names.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// What traces and profilers show of a launch.
struct LaunchName {
  std::string name;
  DeviceWork work = DeviceWork::Kernel;
};

/// Of the launches of a block that a device runs: "Heat::advance", "halo of New temperature", "pack", "New
/// temperature to the device", "New temperature to the host". `names` are those of the plan `graph`.
LaunchName launchName(const WorkNames& names, const LabelTable& labels, const CompiledGraph& graph,
                      const PlacedBlock& block);

/// Of copies between the host and a device, as above.
std::string copyName(const LabelTable& labels, Generation generation, LabelId label, CopyDirection direction);

}  // namespace tessera::detail
