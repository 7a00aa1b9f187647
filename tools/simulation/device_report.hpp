#pragma once

#include <string>
#include <vector>

#include "scheduler/device/device_options.hpp"
#include "scheduler/nearest_devices.hpp"
#include "scheduler/step_runner.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// One device as one rank uses it.
struct UsedDevice {
  int rank = 0;
  DeviceInfo info;
  DeviceNearness near;
};

/// As a JSON object on one line, without line break: how ranks tell each other, and what result.json and
/// provenance.json have.
std::string jsonOf(const UsedDevice& device);
UsedDevice usedDeviceOf(const std::string& json);

/// The devices of this rank; `cores` are its own, none: all that it may use.
std::vector<UsedDevice> usedDevices(int rank, const std::vector<DeviceInfo>& devices,
                                    const std::vector<int>& cores);

/// A table with a line for each device of each rank; ends without a line break.
std::string asTable(const std::vector<UsedDevice>& devices);

/// Which tasks run on devices and which on the host, and why those that do: two lines, without the last line
/// break.
std::string placesText(const CompiledGraphs& graphs, const DeviceOptions& options);

/// What placement by cost did, in a line: "the host has 20 % of the cells (...)"; empty where it was not
/// used.
std::string asText(const CostReport& report);

}  // namespace tessera
