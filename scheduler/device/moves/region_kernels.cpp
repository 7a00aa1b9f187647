// Launches of region operations: nvcc compiles this source in a build with CUDA.
#include <cstring>
#include <span>

#include "core/known_kernels.hpp"
#include "scheduler/device/moves/region_table.hpp"

namespace tessera::detail {

namespace {

#if defined(__CUDACC__)

/// Brings memory into that of a block, which is aligned likewise.
__device__ void bring(void* to, const void* from, std::uint32_t bytes) {
  for (std::uint32_t n = threadIdx.x; n < bytes / 4; n += kRegionThreads) {
    static_cast<std::uint32_t*>(to)[n] = static_cast<const std::uint32_t*>(from)[n];
  }
}

template <int Runs>
__global__ void __launch_bounds__(kRegionThreads)
    runRegions(const __grid_constant__ RegionLaunch<Runs> launch) {
  // By all threads at once: each would wait for one piece after the other.
  __shared__ alignas(PlacedRegion) std::byte ops[kRegionOps * sizeof(PlacedRegion)];
  __shared__ std::uint32_t begins[kRegionOps];
  RegionBlock block = blockOf(launch, static_cast<std::int32_t>(blockIdx.x));
  const auto count = static_cast<std::uint32_t>(block.opCount);
  bring(ops, launch.table.ops + block.firstOp, count * static_cast<std::uint32_t>(sizeof(PlacedRegion)));
  bring(begins, launch.table.begins + block.firstOp, count * 4);
  __syncthreads();
  block.firstOp = 0;
  writeWords<static_cast<int>(kRegionWords / kRegionThreads)>(
      {reinterpret_cast<const PlacedRegion*>(ops), begins, nullptr, launch.table.values}, launch.values,
      block, threadIdx.x, kRegionThreads);
}

#endif

template <int Runs>
void runLaunch(const void* self, [[maybe_unused]] void* cudaStream) {
  RegionLaunch<Runs> launch;
  std::memcpy(static_cast<void*>(&launch), self, sizeof(launch));
#if defined(__CUDACC__)
  keepKnown<&runRegions<Runs>>();
  if (cudaStream != nullptr) {
    runRegions<Runs><<<static_cast<std::uint32_t>(launch.blockCount), kRegionThreads, 0,
                       static_cast<cudaStream_t>(cudaStream)>>>(launch);
    return;
  }
#endif
  for (std::int32_t n = 0; n < launch.blockCount; ++n) {
    const RegionBlock block = blockOf(launch, n);
    for (std::uint32_t w = 0; w < block.words; ++w) writeWords<1>(launch.table, launch.values, block, w, 1);
  }
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
