#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::fuzz {

/// A random placement that a seed stands for: all tasks on one side or each by lot, whole patches or task by
/// task, on one to three devices.
PlaceTask drawPlaces(std::uint64_t seed);

/// Which device each of `patches` own patches is at home on, of two or three; by lot.
std::vector<DeviceAssignment> drawHomes(std::uint64_t seed, std::size_t patches);

/// Each task by lot on the host or, everywhere, at the patch's home.
PlaceTask drawAtHome(std::uint64_t seed, std::vector<DeviceAssignment> homes);

}  // namespace tessera::fuzz
