#include "scheduler/assignment/patch_devices.hpp"

#include "grid/rank_map.hpp"

namespace tessera::detail {

PatchDevices::PatchDevices(const CompiledGraphs& graphs, int deviceCount)
    : places_(graphs.ownPatches.size(), DeviceAssignment{0}) {
  for (std::size_t level = 0; level < graphs.localsOfLevel.size(); ++level) {
    const Range locals = graphs.localsOfLevel[level];
    std::vector<Patch> patches;
    for (std::int64_t local = locals.begin; local < locals.end; ++local) {
      patches.push_back(graphs.hierarchy->patch(graphs.ownPatches[static_cast<std::size_t>(local)]));
    }
    const std::vector<int> deviceOf =
        cutAlongCurve(graphs.hierarchy->level(static_cast<LevelId>(level)), patches, deviceCount);
    for (std::size_t n = 0; n < deviceOf.size(); ++n) {
      places_[static_cast<std::size_t>(locals.begin) + n] = static_cast<DeviceAssignment>(deviceOf[n]);
    }
  }
}

}  // namespace tessera::detail
