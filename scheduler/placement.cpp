#include "scheduler/placement.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "scheduler/assignment/patch_devices.hpp"

namespace tessera {
namespace {

bool names(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool wantsDevice(DevicePlacement placement, const TaskDeclaration& task) {
  switch (placement) {
    case DevicePlacement::Cpu:
      return false;
    case DevicePlacement::Gpu:
      return true;
    case DevicePlacement::Auto:
    case DevicePlacement::Cost:
      // Without a field a launch costs more than it computes.
      return !task.reads.empty() || !task.writes.empty();
  }
  return false;
}

std::int64_t cellsOf(const CompiledGraphs& graphs, std::int64_t local) {
  const PatchId patch = graphs.ownPatches[static_cast<std::size_t>(local)];
  return patch < 0 ? 0 : graphs.hierarchy->patch(patch).cells.volume();
}

/// Of one level, by device.
std::map<DeviceAssignment, double> cellsByDevice(const CompiledGraphs& graphs, Range level,
                                                 const std::vector<DeviceAssignment>& devices) {
  std::map<DeviceAssignment, double> cells;
  for (std::int64_t local = level.begin; local < level.end; ++local) {
    cells[devices[static_cast<std::size_t>(local)]] += static_cast<double>(cellsOf(graphs, local));
  }
  return cells;
}

}  // namespace

PatchPlaces patchPlaces(const CompiledGraphs& graphs, int deviceCount, double hostPart) {
  const std::vector<DeviceAssignment> devices = detail::PatchDevices(graphs, deviceCount).places();
  PatchPlaces patches{devices, devices, 0.0};
  double all = 0.0;
  double given = 0.0;
  for (const Range& level : graphs.localsOfLevel) {
    std::map<DeviceAssignment, double> wanted = cellsByDevice(graphs, level, devices);
    for (auto& [device, cells] : wanted) {
      all += cells;
      cells *= hostPart;
    }
    for (std::int64_t local = level.end - 1; local >= level.begin; --local) {
      const auto patch = static_cast<std::size_t>(local);
      const auto cells = static_cast<double>(cellsOf(graphs, local));
      double& left = wanted[devices[patch]];
      if (cells <= 0.0 || left < cells / 2.0) {
        left = 0.0;  // a smaller one behind it would lie apart
        continue;
      }
      left -= cells;
      given += cells;
      patches.places[patch] = kOnHost;
    }
  }
  patches.hostPart = all > 0.0 ? given / all : 0.0;
  return patches;
}

PlaceTask makePlacement(const DeviceOptions& options, const PatchPlaces& patches) {
  return [devices = patches.devices, places = patches.places, placement = options.placement,
          cpuTasks = options.cpuTasks, gpuTasks = options.gpuTasks](const TaskDeclaration& task, LevelId,
                                                                    std::int32_t local) -> DeviceAssignment {
    if (local < 0 || !task.body.device) return kOnHost;
    const auto patch = static_cast<std::size_t>(local);
    if (names(gpuTasks, task.name)) return devices[patch];
    if (names(cpuTasks, task.name) || !wantsDevice(placement, task)) return kOnHost;
    return places[patch];
  };
}

}  // namespace tessera
