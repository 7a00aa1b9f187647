#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// How far a device is from the cores of a rank.
struct DeviceNearness {
  static constexpr int kUnknown = std::numeric_limits<int>::max();

  int numaNode = -1;        ///< whose cores are nearest to the device, by the operating system; -1: not known
  int distance = kUnknown;  ///< of that node from the cores: 10 is the same node, 20 or so another one's
};

/// For devices at these PCI addresses ("0000:0f:00.0", the case of letters does not matter) and for cores
/// with these numbers of the operating system; no cores: all that this thread may use. Where the machine does
/// not tell distances, 10 is the cores' own node and 20 any other. Where the machine does not know the
/// address, nothing is known of it. `topologyXml`: of hwloc, in place of this machine; for tests.
std::vector<DeviceNearness> nearnessOf(std::span<const std::string> pciAddresses, std::span<const int> cores,
                                       const std::string& topologyXml = {});

/// Positions, the nearest first; what is as near in the order given.
std::vector<std::int32_t> orderByDistance(std::span<const DeviceNearness> devices);

/// Deals the devices of a host to its ranks: `distances[rank][device]`, of all ranks alike. With as many
/// ranks as devices or more, each rank gets one, and no device more than one rank more than another; with
/// fewer, each device goes to one rank, and no rank gets more than one device more than another. Under that
/// rule the nearest pairs come first; where all are as near, ranks take devices in turns, or devices in
/// ranges. Returns the positions for each rank, ascending. Without devices each rank gets none. Pure: all
/// ranks find the same.
std::vector<std::vector<std::int32_t>> dealDevices(const std::vector<std::vector<int>>& distances);

}  // namespace tessera
