#pragma once

#include <cstddef>
#include <cstring>
#include <new>

#include "core/known_kernels.hpp"
#include "scheduler/jobs/detail/unit_block.hpp"
#include "scheduler/jobs/detail/unit_thread.hpp"
#include "scheduler/jobs/job_kernels.hpp"

#if defined(__CUDACC__)
// A body is compiled for host and device; each calls what is its own.
#pragma nv_diag_suppress 20011, 20013, 20014, 20015
#endif

namespace tessera::jobs {
namespace detail {

/// What one launch gets. On a device these bytes are the kernel's parameters.
template <JobBody Body>
struct LaunchArguments {
  TaskInput input;
  Body body;
};

template <JobBody Body>
void makeSharedQueue(const TaskInput& input) {
  const SharedUnits<typename Body::Unit> shared(input);
  engine::makeEmpty(shared.queue);
}

/// Rounds of all blocks in turn, until each has said that nothing is left for it.
template <JobBody Body>
void runBlocksOnHost(const TaskInput& input, const Body& body) {
  using Block = UnitBlock<Body, HostLanes>;
  makeSharedQueue<Body>(input);
  const std::int64_t bytes = (Block::bytes(input.lanes) + 127) / 128 * 128;
  for (std::int32_t n = 0; n < input.blocks; ++n) new (input.blockMemory + n * bytes) BlockWords();
  std::int32_t alive = input.blocks;
  for (std::uint64_t ended = 0; alive > 0;) {
    for (std::int32_t n = 0; n < input.blocks; ++n) {
      if ((ended >> n & 1U) != 0) continue;
      if (Block(body, input, input.blockMemory + n * bytes, HostLanes{input.lanes}).runRound()) continue;
      ended |= std::uint64_t{1} << n;
      --alive;
    }
  }
}

/// Returns how many units the next generation has.
template <JobBody Body>
std::int64_t runGenerationOnHost(const TaskInput& input, const Body& body, std::int32_t number) {
  auto& next = input.words->counts[(number + 1) % 2];
  next.store(0, std::memory_order_relaxed);
  Generation<Body>(body, input, number).runEvery(0, 1);
  return next.load(std::memory_order_relaxed);
}

template <JobBody Body>
void runOnHost(const TaskInput& input, const Body& body) {
  if (input.form == JobForm::Regular) {
    typename UnitThread<Body>::Stack stack;
    UnitThread<Body>(body, input, stack).runEvery(0, 1);
  } else if (input.form == JobForm::Consumer) {
    typename UnitThread<Body>::Stack stack;
    UnitThread<Body>(body, input, stack).runNext();
  } else if (input.form == JobForm::ConsumerProducer) {
    runBlocksOnHost(input, body);
  } else {
    std::int32_t number = 0;
    while (runGenerationOnHost(input, body, number++) > 0 && !hasFault(*input.words)) {
    }
  }
}

#if defined(__CUDACC__)

/// The lanes of a block on a device: its threads.
struct DeviceLanes {
  template <class Work>
  __device__ void each(const Work& work) const {
    work(static_cast<std::int32_t>(threadIdx.x));
    __syncthreads();
  }
};

template <class Body>
__global__ void runThreads(const __grid_constant__ LaunchArguments<Body> launch) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  typename UnitThread<Body>::Stack stack;
  UnitThread<Body> units(launch.body, launch.input, stack);
  if (launch.input.form == JobForm::Regular) {
    units.runEvery(thread, std::int64_t{gridDim.x} * blockDim.x);
  } else {
    units.runNext();
  }
}

template <class Body>
__global__ void runGeneration(const __grid_constant__ LaunchArguments<Body> launch, std::int32_t number) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  Generation<Body>(launch.body, launch.input, number).runEvery(thread, std::int64_t{gridDim.x} * blockDim.x);
}

template <class Body>
__global__ void makeQueueOnDevice(const __grid_constant__ LaunchArguments<Body> launch) {
  const SharedUnits<typename Body::Unit> shared(launch.input);
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t n = thread; n < shared.queue.ring.capacity();
       n += std::uint64_t{gridDim.x} * blockDim.x) {
    shared.queue.ring.words[n].store(n, std::memory_order_relaxed);
  }
  if (thread != 0) return;
  shared.queue.counters->tail.store(0, std::memory_order_relaxed);
  shared.queue.counters->head.store(0, std::memory_order_relaxed);
  shared.queue.counters->filled.store(0, std::memory_order_relaxed);
}

template <class Body>
__global__ void runBlocks(const __grid_constant__ LaunchArguments<Body> launch) {
  extern __shared__ __align__(16) std::byte memory[];
  if (threadIdx.x == 0) new (memory) BlockWords();
  __syncthreads();
  UnitBlock<Body, DeviceLanes> block(launch.body, launch.input, memory, DeviceLanes{});
  while (block.runRound()) {
  }
}

/// Dynamic shared memory of a block.
template <JobBody Body>
int sharedBytes(JobForm form, std::int32_t lanes) {
  if (form != JobForm::ConsumerProducer) return 0;
  const auto bytes = static_cast<int>(UnitBlock<Body, DeviceLanes>::bytes(lanes));
  static_cast<void>(
      cudaFuncSetAttribute(runBlocks<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  return bytes;
}

template <JobBody Body>
std::int32_t blocksOnProcessor(JobForm form, std::int32_t lanes) {
  const auto bytes = static_cast<std::size_t>(sharedBytes<Body>(form, lanes));
  int blocks = 0;
  const cudaError_t status =
      form == JobForm::ConsumerProducer
          ? cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, runBlocks<Body>, lanes, bytes)
      : form == JobForm::Wavefront
          ? cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, runGeneration<Body>, lanes, bytes)
          : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, runThreads<Body>, lanes, bytes);
  return status == cudaSuccess ? blocks : 0;
}

/// Errors of launches come from the backend, which asks after each call.
template <JobBody Body>
void launchOnDevice(const LaunchArguments<Body>& launch, cudaStream_t stream) {
  const TaskInput& input = launch.input;
  const auto blocks = static_cast<std::uint32_t>(input.blocks);
  const auto lanes = static_cast<std::uint32_t>(input.lanes);
  // Jobs may run beside a task engine.
  keepKnown<&makeQueueOnDevice<Body>>();
  keepKnown<&runBlocks<Body>>();
  keepKnown<&runGeneration<Body>>();
  keepKnown<&runThreads<Body>>();
  if (input.form == JobForm::ConsumerProducer) {
    const auto bytes = static_cast<std::size_t>(sharedBytes<Body>(input.form, input.lanes));
    makeQueueOnDevice<Body><<<16, 256, 0, stream>>>(launch);
    runBlocks<Body><<<blocks, lanes, bytes, stream>>>(launch);
  } else if (input.form == JobForm::Wavefront) {
    for (std::int32_t n = 0; n < input.generations; ++n) {
      const std::int32_t number = input.generation + n;
      static_cast<void>(
          cudaMemsetAsync(&input.words->counts[(number + 1) % 2], 0, sizeof(std::int64_t), stream));
      runGeneration<Body><<<blocks, lanes, 0, stream>>>(launch, number);
    }
  } else {
    runThreads<Body><<<blocks, lanes, 0, stream>>>(launch);
  }
}

#endif

/// JobKernels::launch of a body: on a GPU into the stream, for an emulated device at once.
template <JobBody Body>
void launchTask(const void* arguments, [[maybe_unused]] void* cudaStream) {
  LaunchArguments<Body> launch;
  std::memcpy(static_cast<void*>(&launch), arguments, sizeof(launch));
#if defined(__CUDACC__)
  if (cudaStream != nullptr) return launchOnDevice(launch, static_cast<cudaStream_t>(cudaStream));
#endif
  if (launch.input.form != JobForm::Wavefront) return runOnHost(launch.input, launch.body);
  for (std::int32_t n = 0; n < launch.input.generations; ++n) {
    runGenerationOnHost(launch.input, launch.body, launch.input.generation + n);
  }
}

template <JobBody Body>
std::int64_t scratchBytes(JobForm form, std::int64_t units, const JobLimits& limits) {
  if (form == JobForm::ConsumerProducer) return SharedUnits<typename Body::Unit>::bytes(limits.queue);
  if (form == JobForm::Wavefront) return Generation<Body>::bytes(units, limits);
  return 0;
}

template <JobBody Body>
std::int64_t blockBytes(std::int32_t lanes) {
  return (UnitBlock<Body, HostLanes>::bytes(lanes) + 127) / 128 * 128;
}

}  // namespace detail

/// The kernels of a body. Call it in one source, whose name ends in `_kernels.cpp`, so that nvcc compiles it
/// in a build for GPUs:
///
///   const JobKernels& walkKernels() {
///     static const JobKernels kernels = makeKernels<Walk>();
///     return kernels;
///   }
template <JobBody Body>
JobKernels makeKernels() {
  using Launch = detail::LaunchArguments<Body>;
  static_assert(sizeof(Launch) <= 4000, "a body has at most 3.5 KiB: put larger data into a domain");
  JobKernels kernels;
  kernels.bodyBytes = sizeof(Body);
  kernels.unitBytes = sizeof(typename Body::Unit);
  kernels.pushes = Body::kPushes;
  kernels.scratchBytes = &detail::scratchBytes<Body>;
  kernels.blockBytes = &detail::blockBytes<Body>;
#if defined(__CUDACC__)
  kernels.blocksOfProcessor = &detail::blocksOnProcessor<Body>;
#else
  kernels.blocksOfProcessor = [](JobForm, std::int32_t) -> std::int32_t { return 0; };
#endif
  kernels.runOnHost = [](const TaskInput& input, const void* body) {
    detail::runOnHost(input, *static_cast<const Body*>(body));
  };
  kernels.launch = &detail::launchTask<Body>;
  kernels.launchBytes = sizeof(Launch);
  kernels.bodyOffset = offsetof(Launch, body);
  return kernels;
}

}  // namespace tessera::jobs
