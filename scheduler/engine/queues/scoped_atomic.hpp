#pragma once

#include <atomic>
#include <cstdint>

#if defined(__CUDACC__)
#include <cuda/atomic>
#endif

#include "core/kernel.hpp"

namespace tessera::engine {

/// Which threads an atomic variable is shared between. Host threads see all of them alike.
enum class Scope : std::uint8_t {
  Block,   ///< the threads of one block of a kernel
  Device,  ///< all threads of one device
  System,  ///< the device and the host
};

#if defined(__CUDACC__)
/// The word of libcu++ for a scope of ours.
template <Scope kScope>
inline constexpr cuda::thread_scope kThreadScope = kScope == Scope::Block    ? cuda::thread_scope_block
                                                   : kScope == Scope::Device ? cuda::thread_scope_device
                                                                             : cuda::thread_scope_system;

TESSERA_KERNEL constexpr cuda::memory_order cudaOrder(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return cuda::memory_order_relaxed;
    case std::memory_order_acquire:
      return cuda::memory_order_acquire;
    case std::memory_order_release:
      return cuda::memory_order_release;
    case std::memory_order_acq_rel:
      return cuda::memory_order_acq_rel;
    default:
      return cuda::memory_order_seq_cst;
  }
}
#endif

/// One variable that host threads and threads of a kernel use by the same code: what std::atomic can do, as
/// far as the engine needs it. Its bytes are those of T, so that it may lie in memory of a device or in
/// pinned memory of the host.
template <class T, Scope kScope>
class ScopedAtomic {
 public:
  ScopedAtomic() = default;
  TESSERA_KERNEL ScopedAtomic(T value) : value_(value) {}  // NOLINT
  ScopedAtomic(const ScopedAtomic&) = delete;
  ScopedAtomic& operator=(const ScopedAtomic&) = delete;

#if defined(__CUDA_ARCH__)
  __device__ T load(std::memory_order order) const { return onDevice().load(cudaOrder(order)); }
  __device__ void store(T value, std::memory_order order) { onDevice().store(value, cudaOrder(order)); }
  __device__ T fetch_add(T by, std::memory_order order) { return onDevice().fetch_add(by, cudaOrder(order)); }
  __device__ T fetch_or(T with, std::memory_order order) {
    return onDevice().fetch_or(with, cudaOrder(order));
  }
  __device__ T fetch_and(T with, std::memory_order order) {
    return onDevice().fetch_and(with, cudaOrder(order));
  }
  __device__ bool compare_exchange_strong(T& expected, T desired, std::memory_order order) {
    return onDevice().compare_exchange_strong(expected, desired, cudaOrder(order),
                                              cuda::memory_order_relaxed);
  }

 private:
  __device__ cuda::atomic_ref<T, kThreadScope<kScope>> onDevice() const {
    return cuda::atomic_ref<T, kThreadScope<kScope>>(const_cast<T&>(value_));
  }
#else
  TESSERA_KERNEL T load(std::memory_order order) const { return onHost().load(order); }
  TESSERA_KERNEL void store(T value, std::memory_order order) { onHost().store(value, order); }
  TESSERA_KERNEL T fetch_add(T by, std::memory_order order) { return onHost().fetch_add(by, order); }
  TESSERA_KERNEL T fetch_or(T with, std::memory_order order) { return onHost().fetch_or(with, order); }
  TESSERA_KERNEL T fetch_and(T with, std::memory_order order) { return onHost().fetch_and(with, order); }
  TESSERA_KERNEL bool compare_exchange_strong(T& expected, T desired, std::memory_order order) {
    return onHost().compare_exchange_strong(expected, desired, order, std::memory_order_relaxed);
  }

 private:
  TESSERA_KERNEL std::atomic_ref<T> onHost() const { return std::atomic_ref<T>(const_cast<T&>(value_)); }
#endif

  T value_{};
};

/// What the lock-free parts of the engine are made of. Each takes such a policy as a template argument, so
/// that its model test can run the same code on atomics that try every interleaving
/// (tests/interleavings.hpp).
template <Scope kScope>
struct ScopedAtomics {
  template <class T>
  using Atomic = ScopedAtomic<T, kScope>;
  /// Memory that the algorithm itself keeps from being touched by two threads at once.
  template <class T>
  using Plain = T;
};

}  // namespace tessera::engine
