// Launches of region operations: nvcc compiles this source in a build with CUDA.
#include <cstring>
#include <span>

#include "core/launch_overlap.hpp"
#include "scheduler/device/region_batch.hpp"

namespace tessera::detail {

namespace {

#if defined(__CUDACC__)

template <int Runs>
__global__ void __launch_bounds__(kRegionThreads)
    runRegions(const __grid_constant__ RegionLaunch<Runs> launch) {
  startNextLaunch();
  std::uint32_t block = blockIdx.x;
  awaitLastLaunch(block);
  writeWords(launch, static_cast<std::int32_t>(block), threadIdx.x, kRegionThreads);
}

#endif

template <int Runs>
void runLaunch(const void* self, [[maybe_unused]] void* cudaStream) {
  RegionLaunch<Runs> launch;
  std::memcpy(static_cast<void*>(&launch), self, sizeof(launch));
#if defined(__CUDACC__)
  if (cudaStream != nullptr) {
    launchOverlapped(runRegions<Runs>, static_cast<std::uint32_t>(launch.blockCount), kRegionThreads,
                     launch.overlaps, cudaStream, launch);
    return;
  }
#endif
  for (std::int32_t block = 0; block < launch.blockCount; ++block) writeWords(launch, block, 0, 1);
}

}  // namespace

template <int Runs>
void putRegions(DeviceBackend& device, DeviceStream stream, const char* name,
                const RegionLaunch<Runs>& launch) {
  static_assert(sizeof(launch) <= 4096, "every device takes arguments of 4 KiB");
  device.launch(stream, {name, &runLaunch<Runs>, std::as_bytes(std::span(&launch, 1))});
}

template void putRegions(DeviceBackend&, DeviceStream, const char*, const RegionLaunch<1>&);
template void putRegions(DeviceBackend&, DeviceStream, const char*, const RegionLaunch<kMostRuns>&);

}  // namespace tessera::detail
