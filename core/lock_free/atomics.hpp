#pragma once

#include <atomic>

namespace tessera::detail {

/// What the lock-free parts are made of. Each takes such a policy as a template argument, so that its model
/// test can run the same code on atomics that try every interleaving (tests/scheduler/model).
struct RealAtomics {
  template <class T>
  using Atomic = std::atomic<T>;
  /// Memory that the algorithm itself keeps from being touched by two threads at once.
  template <class T>
  using Plain = T;
};

/// Two of them never share a cache line.
inline constexpr std::size_t kCacheLine = 64;

}  // namespace tessera::detail
