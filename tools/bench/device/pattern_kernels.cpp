#include "tools/bench/device/pattern_kernels.hpp"

#include <algorithm>
#include <cstring>

namespace tessera::bench {

namespace {

/// Tasks first, first + 1, ...
struct TaskRange {
  std::int32_t first;
  TESSERA_KERNEL std::int32_t at(std::int64_t n) const { return first + static_cast<std::int32_t>(n); }
};

/// Tasks by their numbers. With the rest less than the 4 KiB that a launch may carry.
template <std::int32_t kMost>
struct TaskList {
  std::int32_t numbers[kMost];  // NOLINT: a std::array's operator[] is no device function
  TESSERA_KERNEL std::int32_t at(std::int64_t n) const { return numbers[n]; }
};

template <class Which>
struct PatternLaunch {
  const PatternTask* tasks;
  std::int64_t iterations;
  std::int32_t count;
  Which which;
};

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

/// A thread reads the input of its number before the work, so that the block asks for all of them at once.
template <class Which>
__global__ void __launch_bounds__(kPatternThreads)
    runTasks(const __grid_constant__ PatternLaunch<Which> launch) {
  __shared__ std::uint64_t inputs[kPatternThreads];                 // NOLINT: of the device
  __shared__ std::uint64_t pieces[kPatternThreads / kPieceInputs];  // NOLINT: of the device
  const PatternTask task = launch.tasks[launch.which.at(blockIdx.x)];
  const auto thread = static_cast<std::int32_t>(threadIdx.x);
  const auto inputAt = [&](std::int32_t n) {
    return n < task.inputCount ? task.stamps[task.inputs[n]] : std::uint64_t{0};
  };
  inputs[thread] = inputAt(thread);
  const double computed = compute(launch.iterations, thread);
  // Some thread other than the first may hold the block up: all of it has to be done.
  const bool odd = __syncthreads_or(computed == -1.0) != 0;
  std::uint64_t stamp = static_cast<std::uint64_t>(task.number) + 1;
  for (std::int32_t begin = 0; begin < task.inputCount; begin += kPatternThreads) {
    if (begin > 0) {
      __syncthreads();
      inputs[thread] = inputAt(begin + thread);
      __syncthreads();
    }
    const std::int32_t count = min(kPatternThreads, task.inputCount - begin);
    const std::int32_t first = thread * kPieceInputs;
    if (first < count) {
      pieces[thread] =
          stampOfPiece((begin + first) / kPieceInputs, inputs + first, min(kPieceInputs, count - first));
    }
    __syncthreads();
    for (std::int32_t piece = 0; piece * kPieceInputs < count; ++piece)
      stamp = mixStamp(stamp, pieces[piece]);
  }
  // Never odd: but the compiler does not know, and has to compute it.
  if (thread == 0) task.stamps[task.number] = odd ? 0 : stamp;
}

#endif

/// On the host one thread's share stands for the block.
template <class Which>
void runPattern(const void* arguments, [[maybe_unused]] void* cudaStream) {
  PatternLaunch<Which> launch;
  std::memcpy(&launch, arguments, sizeof(launch));
#if defined(__CUDACC__)
  if (cudaStream != nullptr) {
    runTasks<<<static_cast<unsigned>(launch.count), kPatternThreads, 0,
               static_cast<cudaStream_t>(cudaStream)>>>(launch);
    return;
  }
#endif
  for (std::int32_t n = 0; n < launch.count; ++n) {
    const PatternTask& task = launch.tasks[launch.which.at(n)];
    const double computed = compute(launch.iterations, 0);
    const std::uint64_t stamp = stampOf(task.number, task.inputCount,
                                        [&](std::int32_t input) { return task.stamps[task.inputs[input]]; });
    task.stamps[task.number] = computed == -1.0 ? 0 : stamp;
  }
}

template <class Which>
void put(DeviceBackend& device, DeviceStream stream, const PatternLaunch<Which>& launch) {
  device.launch(stream, {"Pattern::tasks", &runPattern<Which>, std::as_bytes(std::span(&launch, 1))});
}

template <std::int32_t kMost>
void putList(DeviceBackend& device, DeviceStream stream, const PatternTask* tasks,
             std::span<const std::int32_t> numbers, std::int64_t iterations) {
  PatternLaunch<TaskList<kMost>> launch{tasks, iterations, static_cast<std::int32_t>(numbers.size()), {}};
  std::copy(numbers.begin(), numbers.end(), launch.which.numbers);
  put(device, stream, launch);
}

}  // namespace

void putPatternTasks(DeviceBackend& device, DeviceStream stream, const PatternTask* tasks,
                     std::span<const std::int32_t> numbers, std::int64_t iterations) {
  if (numbers.empty()) return;
  const auto all = static_cast<std::int32_t>(numbers.size());
  if (numbers.back() - numbers.front() == all - 1) {
    return put(device, stream, PatternLaunch<TaskRange>{tasks, iterations, all, {numbers.front()}});
  }
  if (all <= 128) return putList<128>(device, stream, tasks, numbers, iterations);
  constexpr std::int32_t kMost = 960;
  for (std::size_t begin = 0; begin < numbers.size(); begin += kMost) {
    putList<kMost>(device, stream, tasks,
                   numbers.subspan(begin, std::min<std::size_t>(kMost, numbers.size() - begin)), iterations);
  }
}

}  // namespace tessera::bench
