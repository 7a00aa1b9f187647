#pragma once

#if defined(TESSERA_HAVE_CUDA)

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <map>
#include <mutex>

#include "core/known_kernels.hpp"
#include "scheduler/engine/detail/cuda_memory.hpp"

namespace tessera::engine {

/// What of the known kernels of this process is on its devices. Any thread.
class LoadedKernels {
 public:
  static LoadedKernels& ofProcess() {
    static auto& all = *new LoadedKernels;  // engines may end after static objects
    return all;
  }
  /// Before an engine's kernel starts on `device`, the calling thread's: puts all known kernels there, and
  /// makes the stack of its threads large enough for the deepest, so that no launch beside the engine has to
  /// wait for either. Beside an engine only kernels are loaded that a library has added since: a larger stack
  /// would wait for its end.
  void loadAll(int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = knownKernels();
    State& state = states_[device];
    for (; state.loaded < known.size(); ++state.loaded) {
      const LoadedKernel kernel = known[state.loaded]();
      if (kernel.status == cudaSuccess) {
        state.stackBytes = std::max(state.stackBytes, kernel.stackBytes);
      } else {
        // Not compiled for this device: whoever launches it is told so then.
        static_cast<void>(cudaGetLastError());
      }
    }
    if (state.stackBytes <= state.stackMade || (state.stackMade > 0 && residentKernels() > 0)) return;
    std::size_t now = 0;
    checkCuda(cudaDeviceGetLimit(&now, cudaLimitStackSize), "look at the stack of its threads");
    if (static_cast<std::int64_t>(now) < state.stackBytes) {
      checkCuda(cudaDeviceSetLimit(cudaLimitStackSize, static_cast<std::size_t>(state.stackBytes)),
                "make the stack of its threads large enough for all kernels");
    }
    state.stackMade = state.stackBytes;
  }

 private:
  struct State {
    std::size_t loaded = 0;
    std::int64_t stackBytes = 0;  ///< of the deepest of those loaded
    std::int64_t stackMade = 0;   ///< 0: no engine was here yet
  };
  std::mutex mutex_;
  std::map<int, State> states_;
};

}  // namespace tessera::engine

#endif
