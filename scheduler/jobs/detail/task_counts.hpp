#pragma once

#include "scheduler/jobs/job_device.hpp"

namespace tessera::jobs::detail {

/// The counters of a task that is about to run.
inline void resetWords(TaskWords& words, const TaskInput& input) {
  words.next.store(0, std::memory_order_relaxed);
  words.open.store(input.unitCount(), std::memory_order_relaxed);
  for (auto* each :
       {&words.pushed, &words.ended, &words.calls, &words.shared, &words.counts[0], &words.counts[1]})
    each->store(0, std::memory_order_relaxed);
  words.room.store(input.limits.queue, std::memory_order_relaxed);
  words.fault.store(0, std::memory_order_relaxed);
}

inline TaskEnd endOf(const TaskWords& words) {
  return {static_cast<TaskFault>(words.fault.load(std::memory_order_relaxed)),
          words.pushed.load(std::memory_order_relaxed),
          words.ended.load(std::memory_order_relaxed),
          words.calls.load(std::memory_order_relaxed),
          words.shared.load(std::memory_order_relaxed),
          0.0,
          0.0};
}

inline TaskInput inputOf(const JobTask& task, std::int32_t blocks, std::int32_t lanes) {
  TaskInput input;
  input.units = task.units;
  input.form = task.form;
  input.blocks = blocks;
  input.lanes = lanes;
  input.grain = task.job->callsInARow();
  input.limits = task.job->limits();
  input.limits.pushed = input.limits.pushedBy(task.units.volume());
  return input;
}

}  // namespace tessera::jobs::detail
