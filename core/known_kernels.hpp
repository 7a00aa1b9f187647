#pragma once

#include <cstdint>
#include <vector>

namespace tessera {

/// What is known of a kernel once its code is on a device.
struct LoadedKernel {
  int status = 0;               ///< a cudaError_t
  std::int64_t stackBytes = 0;  ///< local memory of a thread
};

/// Loads one kernel onto the calling thread's device, where it is not there yet.
using KernelLoader = LoadedKernel (*)();

/// Under lazy loading CUDA loads a kernel at its first use, and that waits until the device is idle: beside
/// the kernel of a task engine, which stays, for ever. So whatever launches a kernel makes it known here, and
/// an engine loads all of them before it starts. Any thread; libraries that are loaded later add theirs.
void addKnownKernel(KernelLoader load);

/// Those that were added, in that order; a list never gets shorter.
std::vector<KernelLoader> knownKernels();

#if defined(__CUDACC__)

template <auto kKernel>
struct KnownKernel {
  static LoadedKernel load() {
    cudaFuncAttributes found{};
    const cudaError_t status = cudaFuncGetAttributes(&found, kKernel);
    return {static_cast<int>(status), static_cast<std::int64_t>(found.localSizeBytes)};
  }
  static bool add() {
    addKnownKernel(&load);
    return true;
  }
  /// Made before main where anything refers to it.
  static inline const bool isKnown = add();
};

/// By a function that launches the kernel: what launches it makes it known, without being called.
template <auto kKernel>
void keepKnown() {
  static_cast<void>(*static_cast<const volatile bool*>(&KnownKernel<kKernel>::isKnown));
}

#endif

}  // namespace tessera
