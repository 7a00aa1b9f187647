#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace tessera {

/// Calls of CUDA that wait, on some device, until no kernel runs any more: beside a kernel that stays there
/// they never come back. The list is measured (docs/engine.md; tools/bench/engine/blocking_kernels.cpp), and
/// so is what does not wait: cudaMalloc, cudaMallocAsync, cudaFreeAsync, cudaHostAlloc, cudaHostRegister,
/// copies and sets of memory, streams, events, graphs and modules.
enum class WaitingCall : std::uint8_t {
  FreeDeviceMemory,   ///< cudaFree
  FreePinnedMemory,   ///< cudaFreeHost
  UnregisterMemory,   ///< cudaHostUnregister
  FirstUseOfKernel,   ///< where modules are loaded lazily: the launch returns, the kernel waits
  KernelThatPrints,   ///< a kernel with printf, or malloc, that has not run before
  GrowStack,          ///< a launch that needs more local memory than any before, or cudaDeviceSetLimit
  SynchronizeDevice,  ///< cudaDeviceSynchronize
};

/// The kernels that stay on devices at this moment, of task engines, in the whole process.
std::int32_t residentKernels();

/// For code that is about to make such a call: throws UsageError with the fix while a kernel is resident,
/// instead of a wait without end.
void refuseBesideResident(WaitingCall call);

/// What to do instead, a part of a sentence.
std::string_view insteadOf(WaitingCall call);

/// An engine says that its kernel begins and has ended. At the end of the last one all that waits for that is
/// done.
void residentBegins();
void residentEnds();

/// Calls `giveBack`, which frees memory of a device say, now or when no kernel is resident any more. Any
/// thread.
void whenNoneIsResident(std::function<void()> giveBack);

}  // namespace tessera
