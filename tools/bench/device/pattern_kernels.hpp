#pragma once

#include <cstdint>
#include <span>

#include "scheduler/device/device_backend.hpp"

namespace tessera::bench {

/// A task of a pattern, in memory of the device.
struct PatternTask {
  std::uint64_t* stamps = nullptr;       ///< of all tasks; it writes its own
  const std::int32_t* inputs = nullptr;  ///< tasks whose stamps it reads
  std::int32_t inputCount = 0;
  std::int32_t number = 0;
};

/// What a task leaves, made of its number and of what its inputs have left.
inline constexpr std::uint64_t kStampFactor = 0x9E3779B97F4A7C15ULL;

/// Threads of a task's block, and numbers that each works on: enough to keep a multiprocessor busy alone.
inline constexpr int kPatternThreads = 256;
inline constexpr int kPatternNumbers = 16;

/// Runs these tasks, a block each: `iterations` times a multiply and an add on each of its numbers, then its
/// stamp. In more than one launch where they are many.
void putPatternTasks(DeviceBackend& device, DeviceStream stream, const PatternTask* tasks,
                     std::span<const std::int32_t> numbers, std::int64_t iterations);

}  // namespace tessera::bench
