#pragma once

#include <utility>

#include "core/exec/detail/device_loop_types.hpp"
#include "core/exec/device_number.hpp"
#include "core/exec/exec.hpp"

// A device's `forEach` and `reduce`. A build with CUDA has to instantiate them in sources whose names end in
// _kernels.cpp, which nvcc compiles.

namespace tessera {

/// Records the loop. `kernel` has captured all it needs by value: it runs when the body has long returned.
template <class Kernel>
void forEach(Gpu gpu, const char* name, const Box& box, const Kernel& kernel) {
  detail::requireKernel<Gpu, Kernel>();
  detail::requireNvcc<Kernel>();
  if (gpu.finals != nullptr) gpu.finals->announce(name, *gpu.loops);
  gpu.loops->loop(name, box, &kernel, detail::kDeviceLoopType<Kernel, detail::NoResult>);
}

/// The same for kernels that do much for each cell: a thread does one of them.
template <class Kernel>
void forEachHeavy(Gpu gpu, const char* name, const Box& box, const Kernel& kernel) {
  detail::requireKernel<Gpu, Kernel>();
  detail::requireNvcc<Kernel>();
  if (gpu.finals != nullptr) gpu.finals->announce(name, *gpu.loops);
  gpu.loops->loop(name, box, &kernel, detail::kDeviceLoopTypeOf<Kernel, detail::NoResult, LoopWalk::OneCell>);
}

/// As on the CPU, with the same bits: NaN is passed over, and a smallest or largest value of 0 has no sign.
/// The first call of a body gets a NaN, since the device has yet to compute it: a DeviceNumber is for
/// `task.contribute`, and nothing can branch on it.
template <class Kernel>
DeviceNumber reduce(Gpu gpu, const char* name, const Box& box, MinTag, Kernel&& kernel) {
  return detail::resultOf<detail::DeviceMin>(gpu, name, box, kernel);
}
template <class Kernel>
DeviceNumber reduce(Gpu gpu, const char* name, const Box& box, MaxTag, Kernel&& kernel) {
  return detail::resultOf<detail::DeviceMax>(gpu, name, box, kernel);
}
/// Exact, as on the CPU; the sum of a NaN in the first call.
template <class Kernel>
DeviceExactSum reduce(Gpu gpu, const char* name, const Box& box, SumTag, Kernel&& kernel) {
  return DeviceExactSum(detail::resultOf<detail::DeviceSum>(gpu, name, box, kernel));
}

/// The same for bodies of checked mode.
template <class Kernel>
void forEach(CheckedGpu gpu, const char* name, const Box& box, const Kernel& kernel) {
  detail::requireKernel<CheckedGpu, Kernel>();
  detail::requireNvcc<Kernel>();
  gpu.loops->loop(name, box, &kernel, detail::kDeviceLoopType<Kernel, detail::NoResult, CheckedGpu>);
}
template <class Kernel>
void forEachHeavy(CheckedGpu gpu, const char* name, const Box& box, const Kernel& kernel) {
  forEach(gpu, name, box, kernel);
}
template <class Kernel>
DeviceNumber reduce(CheckedGpu gpu, const char* name, const Box& box, MinTag, Kernel&& kernel) {
  return detail::resultOf<detail::DeviceMin>(gpu, name, box, kernel);
}
template <class Kernel>
DeviceNumber reduce(CheckedGpu gpu, const char* name, const Box& box, MaxTag, Kernel&& kernel) {
  return detail::resultOf<detail::DeviceMax>(gpu, name, box, kernel);
}
template <class Kernel>
DeviceExactSum reduce(CheckedGpu gpu, const char* name, const Box& box, SumTag, Kernel&& kernel) {
  return DeviceExactSum(detail::resultOf<detail::DeviceSum>(gpu, name, box, kernel));
}

}  // namespace tessera
