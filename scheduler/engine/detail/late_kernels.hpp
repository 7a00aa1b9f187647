#pragma once

#if defined(TESSERA_HAVE_CUDA)

#include <chrono>
#include <cuda_runtime_api.h>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/resident_kernels.hpp"
#include "scheduler/engine/detail/cuda_memory.hpp"

namespace tessera::engine {

/// A kernel that has been launched and has not begun, since others keep all places of the GPU, and what it
/// reads when it does, to end at once. Its engine is gone.
struct LateKernel {
  cudaStream_t stream = nullptr;
  std::unique_ptr<CudaPiece> device;
  std::unique_ptr<CudaPiece> host;
};

/// Those of this process. Any thread.
class LateKernels {
 public:
  static LateKernels& ofProcess() {
    static auto& all = *new LateKernels;  // kernels may be late when the process ends
    return all;
  }
  void add(LateKernel kernel) {
    const std::lock_guard<std::mutex> lock(mutex_);
    kernels_.push_back(std::move(kernel));
  }
  /// After the end of an engine: takes what has ended since then, and waits for it a little.
  void takeEnded() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (int looks = 0; looks < 1000; ++looks) {
      std::erase_if(kernels_, [](const LateKernel& each) {
        if (cudaStreamQuery(each.stream) == cudaErrorNotReady) return false;
        cudaStreamDestroy(each.stream);
        residentEnds();
        return true;
      });
      if (kernels_.empty()) return;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

 private:
  std::mutex mutex_;
  std::vector<LateKernel> kernels_;
};

}  // namespace tessera::engine

#endif
