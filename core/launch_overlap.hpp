#pragma once

#include <cstdint>

namespace tessera::detail {

#if defined(__CUDACC__)

/// Lets the next launch of the stream start on what this one leaves free. It waits in `awaitLastLaunch`.
__device__ inline void startNextLaunch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits for all that was launched before in the stream. No thread of a launch may end without: the launch
/// after the next one relies on it. What is loaded through `slot` is loaded afterwards, also by loads that
/// are known to meet no writes, which a compiler may move across any barrier.
__device__ inline void awaitLastLaunch([[maybe_unused]] std::uint32_t &slot) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : "+r"(slot)::"memory");
#endif
}

/// A launch that may start while the one before it in its stream ends; the kernel begins with the two
/// functions above. The backend asks for the error.
template <class Argument>
void launchOverlapped(void (*kernel)(Argument), std::uint32_t blocks, std::uint32_t threads, bool overlaps,
                      void *cudaStream, const Argument &argument) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = blocks;
  how.blockDim = threads;
  how.stream = static_cast<cudaStream_t>(cudaStream);
  how.attrs = &overlap;
  how.numAttrs = overlaps ? 1 : 0;
  static_cast<void>(cudaLaunchKernelEx(&how, kernel, argument));
}

#endif

}  // namespace tessera::detail
