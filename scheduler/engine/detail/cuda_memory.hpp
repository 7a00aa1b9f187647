#pragma once

#if defined(TESSERA_HAVE_CUDA)

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <string>

#include "core/resident_kernels.hpp"
#include "core/text/error.hpp"

namespace tessera::engine {

/// Throws InternalError naming what failed.
inline void checkCuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw InternalError(std::string("the GPU's engine could not ") + what + ": " + cudaGetErrorString(status));
}

/// Calls of this thread are about one device; afterwards about the one before again. Threads may use several
/// engines, and patch kernels of yet another device.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    checkCuda(cudaGetDevice(&before_), "look at the current device");
    checkCuda(cudaSetDevice(device), "use the device");
  }
  ~OnDevice() { static_cast<void>(cudaSetDevice(before_)); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// One allocation, on a device or pinned on the host, that is dealt out from its front. It is made before the
/// kernel starts and freed after it has ended, since both calls would wait for it.
class CudaPiece {
 public:
  enum class Place { Device, Host };

  CudaPiece(Place where, std::size_t bytes) : where_(where), bytes_(bytes) {
    if (where == Place::Device) {
      checkCuda(cudaMalloc(&memory_, bytes), "allocate memory on the device");
    } else {
      checkCuda(cudaHostAlloc(&memory_, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
                "pin memory of the host");
    }
  }
  ~CudaPiece() {
    whenNoneIsResident([memory = memory_, where = where_] {
      static_cast<void>(where == Place::Host ? cudaFreeHost(memory) : cudaFree(memory));
    });
  }
  CudaPiece(const CudaPiece&) = delete;
  CudaPiece& operator=(const CudaPiece&) = delete;

  static std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
  template <class T>
  T* deal(std::size_t count) {
    auto* place = reinterpret_cast<T*>(static_cast<std::byte*>(memory_) + used_);
    used_ += rounded(count * sizeof(T));
    if (used_ > bytes_) throw InternalError("the engine's memory plan is wrong; report this");
    return place;
  }

 private:
  Place where_;
  std::size_t bytes_;
  std::size_t used_ = 0;
  void* memory_ = nullptr;
};

}  // namespace tessera::engine

#endif
