#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "core/kernel.hpp"
#include "scheduler/device/backend/device_backend.hpp"

namespace tessera::bench {

/// A task of a pattern, in memory of the device.
struct PatternTask {
  std::uint64_t* stamps = nullptr;       ///< of all tasks; it writes its own
  const std::int32_t* inputs = nullptr;  ///< tasks whose stamps it reads
  std::int32_t inputCount = 0;
  std::int32_t number = 0;
};

/// What a task leaves, made of its number and of what its inputs have left, in their order: of pieces of so
/// many inputs, which the threads of a block work on at once.
inline constexpr std::int32_t kPieceInputs = 16;

TESSERA_KERNEL inline std::uint64_t mixStamp(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

/// Of piece number `piece`, with `count` inputs.
TESSERA_KERNEL inline std::uint64_t stampOfPiece(std::int32_t piece, const std::uint64_t* inputs,
                                                 std::int32_t count) {
  std::uint64_t hash = static_cast<std::uint64_t>(piece) + 1;
  for (std::int32_t n = 0; n < count; ++n) hash = mixStamp(hash, inputs[n]);
  return hash;
}

/// All of it, by one thread of the host; `input(n)` is what the n-th input has left.
template <class Input>
std::uint64_t stampOf(std::int32_t number, std::int32_t inputCount, const Input& input) {
  std::uint64_t hash = static_cast<std::uint64_t>(number) + 1;
  for (std::int32_t first = 0; first < inputCount; first += kPieceInputs) {
    std::array<std::uint64_t, kPieceInputs> inputs{};
    const std::int32_t count = std::min(kPieceInputs, inputCount - first);
    for (std::int32_t n = 0; n < count; ++n) inputs[static_cast<std::size_t>(n)] = input(first + n);
    hash = mixStamp(hash, stampOfPiece(first / kPieceInputs, inputs.data(), count));
  }
  return hash;
}

/// Threads of a task's block, and numbers that each works on: enough to keep a multiprocessor busy alone.
inline constexpr int kPatternThreads = 256;
inline constexpr int kPatternNumbers = 16;

/// Runs these tasks, a block each: `iterations` times a multiply and an add on each of its numbers, then its
/// stamp. In more than one launch where they are many.
void putPatternTasks(DeviceBackend& device, DeviceStream stream, const PatternTask* tasks,
                     std::span<const std::int32_t> numbers, std::int64_t iterations);

}  // namespace tessera::bench
