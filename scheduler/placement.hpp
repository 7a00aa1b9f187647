#pragma once

#include "scheduler/device/device_options.hpp"
#include "taskgraph/placed_graph.hpp"

namespace tessera {

/// Where the tasks of a rank run, as the options say: a named task on the side that it is named for, any
/// other one by `placement`; on devices, on the one that its patch belongs to. A task without a body for
/// devices, and one that runs once a rank, is the host's whatever is said; one without a body for the host
/// the devices'.
///
/// `hostPart`, 0 to 1: of the cells that each device has of a level, so many are the host's for all tasks
/// that are not named: whole patches, the nearest number of them, the last ones along the space-filling
/// curve, so that few of their neighbours are on the other side.
///
///   placeGraph(graphs, plan, makePlacement(graphs, options));
///
/// Uses no device. The function keeps what it needs of `graphs`, and any thread may call it.
PlaceTask makePlacement(const CompiledGraphs& graphs, const DeviceOptions& options, double hostPart = 0.0);

}  // namespace tessera
