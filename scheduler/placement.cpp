#include "scheduler/placement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "scheduler/detail/patch_devices.hpp"

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

/// Makes the last patches of [begin, end) the host's that together have the nearest to `wanted` cells.
void giveToHost(const CompiledGraphs& graphs, std::int64_t begin, std::int64_t end, double wanted,
                std::vector<NodePlace>& homes) {
  double given = 0.0;
  for (std::int64_t local = end - 1; local >= begin; --local) {
    const auto cells = static_cast<double>(cellsOf(graphs, local));
    if (given + cells / 2.0 > wanted) return;
    given += cells;
    homes[static_cast<std::size_t>(local)] = kOnHost;
  }
}

/// By own patch: its device; with a part of the host's, kOnHost for the patches of that.
std::vector<NodePlace> homesOf(const CompiledGraphs& graphs, std::size_t devices, double hostPart) {
  std::vector<NodePlace> homes = detail::PatchDevices(graphs, static_cast<int>(devices)).places();
  if (hostPart <= 0.0) return homes;
  for (const Range& level : graphs.localsOfLevel) {
    for (std::int64_t begin = level.begin; begin < level.end;) {
      const NodePlace home = homes[static_cast<std::size_t>(begin)];
      std::int64_t end = begin;
      double cells = 0.0;
      for (; end < level.end && homes[static_cast<std::size_t>(end)] == home; ++end) {
        cells += static_cast<double>(cellsOf(graphs, end));
      }
      giveToHost(graphs, begin, end, hostPart * cells, homes);
      begin = end;
    }
  }
  return homes;
}

}  // namespace

PlaceTask makePlacement(const CompiledGraphs& graphs, const DeviceOptions& options, double hostPart) {
  const std::vector<NodePlace> devices = homesOf(graphs, options.numbers.size(), 0.0);
  const std::vector<NodePlace> shared = homesOf(graphs, options.numbers.size(), hostPart);
  return [=, placement = options.placement, cpuTasks = options.cpuTasks, gpuTasks = options.gpuTasks](
             const TaskDeclaration& task, LevelId, std::int32_t local) -> NodePlace {
    if (local < 0 || !task.body.device) return kOnHost;
    const auto patch = static_cast<std::size_t>(local);
    if (!task.body.cpu || names(gpuTasks, task.name)) return devices[patch];
    if (names(cpuTasks, task.name) || !wantsDevice(placement, task)) return kOnHost;
    return shared[patch];
  };
}

}  // namespace tessera
