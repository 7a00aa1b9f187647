#pragma once

#include <cstdint>
#include <cstring>

#include "scheduler/engine/queues/scoped_atomic.hpp"

namespace tessera::engine {

/// A ring between host and device, in pinned memory, whose places need one trip over the bus and no fence:
/// each 16 bytes carry 12 of the item and a stamp, so whoever reads them sees by themselves whether they are
/// there.
///
/// Invariant. Ticket t has place t modulo the capacity. A chunk with the stamp t + 1 (32 bits of it) holds
/// its part of item t. An item is there when all its chunks have its stamp; they may arrive in any order. Who
/// writes knows by other means that the item of ticket t - capacity has been read.
///
/// Memory order. The host writes the lower half of a chunk, then the upper one, with the stamp, by release;
/// it reads the upper half with acquire and then the lower one. A device reads and writes a chunk at once
/// (128-bit accesses that cannot be torn). So a stamp never comes before its chunk's bytes. What else the
/// writer has done before is not ordered by this: a device makes it visible by a fence of its own
/// (DeviceWorker::reportAll).
template <class T, class Atomics>
struct StampedRing {
  static constexpr int kChunks = 5;
  static constexpr int kBytes = 12 * kChunks;
  struct alignas(16) Chunk {
    typename Atomics::template Atomic<std::uint64_t> low{0};
    typename Atomics::template Atomic<std::uint64_t> high{0};  ///< the stamp is its upper half
  };
  static_assert(sizeof(T) >= kBytes);

  Chunk* chunks = nullptr;
  std::uint64_t mask = 0;  ///< capacity - 1

  TESSERA_KERNEL Chunk* place(std::uint64_t ticket) const { return chunks + (ticket & mask) * kChunks; }
  TESSERA_KERNEL static std::uint32_t stampOf(std::uint64_t ticket) {
    return static_cast<std::uint32_t>(ticket + 1);
  }

  /// Host: writes the first kBytes of an item.
  void put(std::uint64_t ticket, const T& item) const {
    Chunk* chunk = place(ticket);
    const auto* from = reinterpret_cast<const unsigned char*>(&item);
    for (int n = 0; n < kChunks; ++n, ++chunk, from += 12) {
      std::uint64_t low;
      std::uint32_t rest;
      std::memcpy(&low, from, 8);
      std::memcpy(&rest, from + 8, 4);
      chunk->low.store(low, std::memory_order_relaxed);
      chunk->high.store(std::uint64_t{stampOf(ticket)} << 32 | rest, std::memory_order_release);
    }
  }

  /// Host: reads the first kBytes of an item; false: it is not there yet.
  bool get(std::uint64_t ticket, T& item) const {
    Chunk* chunk = place(ticket);
    auto* to = reinterpret_cast<unsigned char*>(&item);
    for (int n = 0; n < kChunks; ++n, ++chunk, to += 12) {
      const std::uint64_t high = chunk->high.load(std::memory_order_acquire);
      if (high >> 32 != stampOf(ticket)) return false;
      const std::uint64_t low = chunk->low.load(std::memory_order_relaxed);
      const auto rest = static_cast<std::uint32_t>(high);
      std::memcpy(to, &low, 8);
      std::memcpy(to + 8, &rest, 4);
    }
    return true;
  }
};

#if defined(__CUDACC__)
/// 16 bytes of pinned memory at once.
struct ChunkWords {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

template <class Chunk>
__device__ inline ChunkWords readChunk(const Chunk* chunk) {
  ChunkWords words;
  asm volatile("{ .reg .b128 both; ld.relaxed.sys.global.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
               : "=l"(words.low), "=l"(words.high)
               : "l"(chunk)
               : "memory");
  return words;
}

template <class Chunk>
__device__ inline void writeChunk(Chunk* chunk, ChunkWords words) {
  asm volatile(
      "{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.sys.global.b128 [%0], both; }" ::"l"(chunk),
      "l"(words.low), "l"(words.high)
      : "memory");
}
#endif

}  // namespace tessera::engine
