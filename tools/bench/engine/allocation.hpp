#pragma once

#include "scheduler/engine/group.hpp"

namespace tessera::engine {

/// Allocates and releases blocks, each lane of lane 0 of a warp for itself, to measure the memory of tasks
/// under contention: the result is nanoseconds, summed over all pairs.
struct AllocationLoop {
  static constexpr const char* name = "allocation_loop";
  static constexpr TaskWidth width = TaskWidth::Warp;
  static constexpr int kHeld = 4;
  struct Arguments {
    std::uint64_t pairs, bytes;
  };
  struct Result {
    std::uint64_t nanos, faults;
  };
  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    Result result{0, 0};
    if (group.lane() != 0) return result;
    void* held[kHeld] = {};
    const std::uint64_t begin = nowNanos();
    for (std::uint64_t n = 0; n < in.pairs; ++n) {
      void*& block = held[n % kHeld];
      if (block != nullptr && group.release(block) != MemoryFault::None) ++result.faults;
      block = group.allocate(in.bytes);
      if (block == nullptr) ++result.faults;
    }
    result.nanos = nowNanos() - begin;
    for (void* block : held) {
      if (block != nullptr) static_cast<void>(group.release(block));
    }
    return result;
  }
};

}  // namespace tessera::engine
