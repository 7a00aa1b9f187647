#pragma once

#include <cstdint>

#include "scheduler/jobs/task_input.hpp"

namespace tessera::jobs {

/// A body whose type is forgotten: how its tasks are run. Made by `makeKernels` in a source that nvcc
/// compiles (scheduler/jobs/make_kernels.hpp).
struct JobKernels {
  std::int64_t bodyBytes = 0;
  std::int64_t unitBytes = 0;
  int pushes = 0;
  /// Bytes of scratch memory of a task with so many units.
  std::int64_t (*scratchBytes)(JobForm form, std::int64_t units, const JobLimits& limits) = nullptr;
  /// Bytes of a block's own memory, ConsumerProducer.
  std::int64_t (*blockBytes)(std::int32_t lanes) = nullptr;
  /// Blocks of so many lanes that a processor of the calling thread's GPU has room for at a time; 0: not
  /// compiled for one.
  std::int32_t (*blocksOfProcessor)(JobForm form, std::int32_t lanes) = nullptr;
  /// Runs the whole of a task, in any form, on the calling thread.
  void (*runOnHost)(const TaskInput& input, const void* body) = nullptr;
  /// As DeviceLaunch::run, for `launchBytes` bytes: a TaskInput and behind it the body. Of a wavefront it
  /// runs `TaskInput::generations` of them.
  void (*launch)(const void* arguments, void* cudaStream) = nullptr;
  std::int64_t launchBytes = 0;
  std::int64_t bodyOffset = 0;  ///< of the body in those bytes
};

}  // namespace tessera::jobs
