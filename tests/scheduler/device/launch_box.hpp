#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "core/exec/exec.hpp"
#include "core/geometry/box.hpp"
#include "scheduler/device/backend/device_backend.hpp"

namespace tessera::test {

/// One kernel over the cells of one box, as a launch of a device carries it.
template <class Arguments, class Kernel>
struct BoxLaunch {
  Box box;
  Arguments arguments;
  Kernel kernel;

  static void run(const void* self, void* cudaStream);
};

#if defined(__CUDACC__)

template <class Launch>
__global__ void runBox(const __grid_constant__ Launch launch) {
  const Extent n = launch.box.extent();
  for (std::int64_t cell = threadIdx.x; cell < n.i * n.j * n.k; cell += blockDim.x) {
    const Index x{launch.box.lo.i + cell % n.i, launch.box.lo.j + cell / n.i % n.j,
                  launch.box.lo.k + cell / (n.i * n.j)};
    launch.kernel(launch.arguments, x);
  }
}

#endif

template <class Arguments, class Kernel>
void BoxLaunch<Arguments, Kernel>::run(const void* self, [[maybe_unused]] void* cudaStream) {
  BoxLaunch launch;
  std::memcpy(static_cast<void*>(&launch), self, sizeof(launch));
#if defined(__CUDACC__)
  if (cudaStream != nullptr) {
    runBox<<<1, 256, 0, static_cast<cudaStream_t>(cudaStream)>>>(launch);
    return;
  }
#endif
  detail::forEachInOrder(launch.box, [&](Index x) { launch.kernel(launch.arguments, x); });
}

/// Runs `kernel(arguments, Index)` once for each cell of the box, by one block of threads or in order on the
/// host. To be instantiated in a source whose name ends in _kernels.cpp.
template <class Arguments, class Kernel>
void launchBox(DeviceBackend& device, DeviceStream stream, const char* name, const Box& box,
               const Arguments& arguments, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel> && std::is_trivially_copyable_v<Arguments>);
  if (box.empty()) return;
  const BoxLaunch<Arguments, Kernel> launch{box, arguments, kernel};
  device.launch(stream, {name, &launch.run, std::as_bytes(std::span(&launch, 1))});
}

}  // namespace tessera::test
