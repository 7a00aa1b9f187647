#pragma once

#include <cstdint>

#include "taskgraph/placed_graph.hpp"

namespace tessera::fuzz {

/// A random placement that a seed stands for: all tasks on one side or each by lot, whole patches or task by
/// task, on one to three devices.
PlaceTask drawPlaces(std::uint64_t seed);

}  // namespace tessera::fuzz
