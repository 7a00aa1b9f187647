#include "tools/bench/device/pattern_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "core/kernel.hpp"

namespace tessera::bench {

namespace {

/// With the rest less than the 4 KiB that a launch may carry.
constexpr std::int32_t kMostTasks = 960;

struct PatternLaunch {
  const PatternTask* tasks;
  std::int64_t iterations;
  std::int32_t count;
  std::int32_t numbers[kMostTasks];  // NOLINT: a std::array's operator[] is no device function
};

TESSERA_KERNEL inline std::uint64_t stampOf(const PatternTask& task, double computed) {
  std::uint64_t hash = static_cast<std::uint64_t>(task.number) + 1;
  for (std::int32_t n = 0; n < task.inputCount; ++n) {
    hash = (hash ^ task.stamps[task.inputs[n]]) * kStampFactor;
    hash ^= hash >> 29;
  }
  // Never: but the compiler does not know, and has to compute it.
  return computed == -1.0 ? 0 : hash;
}

/// One thread's share.
TESSERA_KERNEL inline double compute(std::int64_t iterations, int thread) {
  double values[kPatternNumbers];  // NOLINT: registers
  for (int k = 0; k < kPatternNumbers; ++k) values[k] = 1.0 + 0.001 * (thread + k);
  for (std::int64_t n = 0; n < iterations; ++n) {
    for (int k = 0; k < kPatternNumbers; ++k) values[k] = values[k] * 0.999 + 0.001;
  }
  double sum = 0.0;
  for (int k = 0; k < kPatternNumbers; ++k) sum += values[k];
  return sum;
}

#if defined(__CUDACC__)

__global__ void __launch_bounds__(kPatternThreads) runTasks(const __grid_constant__ PatternLaunch launch) {
  const PatternTask& task = launch.tasks[launch.numbers[blockIdx.x]];
  const double computed = compute(launch.iterations, static_cast<int>(threadIdx.x));
  // Some thread other than the first may hold the block up: all of it has to be done.
  const bool odd = __syncthreads_or(computed == -1.0) != 0;
  if (threadIdx.x == 0) task.stamps[task.number] = stampOf(task, odd ? -1.0 : 1.0);
}

#endif

/// On the host one thread's share stands for the block.
void runPattern(const void* arguments, [[maybe_unused]] void* cudaStream) {
  PatternLaunch launch;
  std::memcpy(&launch, arguments, sizeof(launch));
#if defined(__CUDACC__)
  if (cudaStream != nullptr) {
    runTasks<<<static_cast<unsigned>(launch.count), kPatternThreads, 0,
               static_cast<cudaStream_t>(cudaStream)>>>(launch);
    return;
  }
#endif
  for (std::int32_t n = 0; n < launch.count; ++n) {
    const PatternTask& task = launch.tasks[launch.numbers[n]];
    task.stamps[task.number] = stampOf(task, compute(launch.iterations, 0));
  }
}

}  // namespace

void putPatternTasks(DeviceBackend& device, DeviceStream stream, const PatternTask* tasks,
                     std::span<const std::int32_t> numbers, std::int64_t iterations) {
  for (std::size_t begin = 0; begin < numbers.size(); begin += kMostTasks) {
    const auto part = numbers.subspan(begin, std::min<std::size_t>(kMostTasks, numbers.size() - begin));
    PatternLaunch launch{};
    launch.tasks = tasks;
    launch.iterations = iterations;
    launch.count = static_cast<std::int32_t>(part.size());
    std::copy(part.begin(), part.end(), launch.numbers);
    device.launch(stream, {"Pattern::tasks", &runPattern, std::as_bytes(std::span(&launch, 1))});
  }
}

}  // namespace tessera::bench
