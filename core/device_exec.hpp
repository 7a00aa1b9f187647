#pragma once

#include <type_traits>

#include "core/detail/device_loop_types.hpp"
#include "core/exec.hpp"

// A device's `forEach` and `reduce`. A build with CUDA has to instantiate them in sources whose names end in
// _kernels.cpp, which nvcc compiles.

namespace tessera {

/// Gpu, and CheckedGpu for bodies of checked mode.
template <class Exec>
concept DeviceExec = std::is_same_v<Exec, Gpu> || std::is_same_v<Exec, CheckedGpu>;

/// Records the loop. `kernel` has captured all it needs by value: it runs when the body has long returned.
template <DeviceExec Exec, class Kernel>
void forEach(Exec device, const char* name, const Box& box, const Kernel& kernel) {
  device.loops->loop(name, box, &kernel, detail::kDeviceLoopType<Kernel, detail::NoResult, Exec>);
}

/// As on the CPU, with the same bits: NaN is passed over, and a smallest or largest value of 0 has no sign.
/// The first call of a body gets NaN, since the device has yet to compute it: what a task's other loops do
/// must not depend on it.
template <DeviceExec Exec, class Kernel>
double reduce(Exec device, const char* name, const Box& box, MinTag, const Kernel& kernel) {
  return detail::resultOf<detail::DeviceMin>(device, name, box, kernel);
}
template <DeviceExec Exec, class Kernel>
double reduce(Exec device, const char* name, const Box& box, MaxTag, const Kernel& kernel) {
  return detail::resultOf<detail::DeviceMax>(device, name, box, kernel);
}
/// Exact, as on the CPU; the sum of a NaN in the first call.
template <DeviceExec Exec, class Kernel>
ExactSum reduce(Exec device, const char* name, const Box& box, SumTag, const Kernel& kernel) {
  return detail::resultOf<detail::DeviceSum>(device, name, box, kernel);
}

}  // namespace tessera
