#pragma once

#include <vector>

#include "scheduler/device/device_options.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera {

/// By own patch: its device, and where tasks run that are not named.
struct PatchPlaces {
  std::vector<DeviceAssignment> devices;
  std::vector<DeviceAssignment> places;  ///< the device, or the host
  double hostPart = 0.0;                 ///< of the cells, that are the host's
};

/// Patches are dealt out to the devices along the space-filling curve. Of the cells that each device has of a
/// level the part `hostPart`, 0 to 1, is the host's: whole patches, the nearest number of them, the last ones
/// in the order of own patches, so that few of them have neighbours on the device.
PatchPlaces patchPlaces(const CompiledGraphs& graphs, int deviceCount = 1, double hostPart = 0.0);

/// Where the tasks of a rank run, as the options say: a named task on the side that it is named for, any
/// other one by `placement`; on devices, on the one that its patch belongs to. A task without a body for
/// devices, and one that runs once a rank, is the host's whatever is said; one without a body for the host
/// the devices'. A patch that is the host's has no other task on a device.
///
///   placeGraph(graphs, plan, makePlacement(options, patchPlaces(graphs)));
///
/// Uses no device. Any thread may call the function.
PlaceTask makePlacement(const DeviceOptions& options, const PatchPlaces& patches);

}  // namespace tessera
