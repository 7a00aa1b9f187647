#pragma once

#include "scheduler/engine/group.hpp"

namespace tessera::engine {

/// The group of a task on a device: one lane, a warp or a block (HostGroup says what the functions mean).
template <class Kinds, TaskWidth kWidth>
class DeviceGroup : public GroupBase {
 public:
  struct Workspace {
    std::byte* fast = nullptr;  ///< shared memory of this group
    std::uint32_t bytes = 0;
    std::uint64_t* word = nullptr;  ///< shared memory through which lane 0 of a block tells the others
  };

  __device__ DeviceGroup(const EngineState& state, const Task& task, TaskMemory::Hints& hints,
                         std::uint32_t seed, const Workspace& workspace)
      : GroupBase(state, task, hints, seed), workspace_(workspace) {}

  __device__ int lane() const {
    if constexpr (kWidth == TaskWidth::Lane) return 0;
    if constexpr (kWidth == TaskWidth::Warp) return static_cast<int>(threadIdx.x % 32);
    return static_cast<int>(threadIdx.x);
  }
  __device__ int width() const {
    if constexpr (kWidth == TaskWidth::Lane) return 1;
    if constexpr (kWidth == TaskWidth::Warp) return 32;
    return static_cast<int>(blockDim.x);
  }
  __device__ void sync() const {
    if constexpr (kWidth == TaskWidth::Warp) __syncwarp();
    if constexpr (kWidth == TaskWidth::Block) __syncthreads();
  }
  template <class T>
  __device__ T broadcast(T value) const {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    if constexpr (kWidth == TaskWidth::Warp) {
      std::uint64_t word = 0;
      memcpy(&word, &value, sizeof(T));
      word = __shfl_sync(~0U, word, 0);
      memcpy(&value, &word, sizeof(T));
    }
    if constexpr (kWidth == TaskWidth::Block) {
      __syncthreads();
      if (threadIdx.x == 0) memcpy(workspace_.word, &value, sizeof(T));
      __syncthreads();
      memcpy(&value, workspace_.word, sizeof(T));
    }
    return value;
  }
  __device__ void* workspace(std::uint64_t bytes) {
    if (bytes <= workspace_.bytes) return workspace_.fast;
    if (lane() == 0) slow_ = allocate(bytes);
    slow_ = broadcast(slow_);
    return slow_;
  }
  template <class Kind>
  __device__ bool spawn(const typename Kind::Arguments& arguments) {
    return spawnTask(taskOf<Kind>(Kinds::template numberOf<Kind>(), arguments));
  }
  /// After the body has returned, in all lanes.
  __device__ void end() {
    if (slow_ == nullptr) return;
    sync();
    if (lane() == 0) static_cast<void>(release(slow_));
  }

 private:
  Workspace workspace_;
  void* slow_ = nullptr;
};

}  // namespace tessera::engine
