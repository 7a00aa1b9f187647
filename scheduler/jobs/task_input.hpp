#pragma once

#include <algorithm>
#include <cstdint>

#include "core/geometry/box.hpp"
#include "scheduler/engine/queues/ticket_queue.hpp"
#include "scheduler/jobs/job_body.hpp"

namespace tessera::jobs {

/// What can go wrong with the units of a task.
enum class TaskFault : std::uint32_t {
  None,
  PushedTooMany,  ///< more units than the limit of the job
  QueueFull,      ///< more units at a time than its queue has places
  EndlessUnit,    ///< a unit was called more often than the limit
};

/// Bounds that a body which never ends runs into.
struct JobLimits {
  /// Units that the units of a task may add, in all, for each 16,384 of these: a fast device gets large
  /// tasks.
  std::int64_t pushed = 1 << 20;
  std::int64_t queue = 1 << 14;  ///< units of a task that may wait at a time; a power of two
  std::int64_t calls = 1 << 30;  ///< calls for one unit, its pushed units included

  std::int64_t pushedBy(std::int64_t units) const {
    constexpr std::int64_t kUnits = 16'384;
    return pushed * std::max<std::int64_t>(1, (units + kUnits - 1) / kUnits);
  }
};

template <class T>
using TaskAtomic = engine::ScopedAtomic<T, engine::Scope::Device>;

/// Counters of a task, where it runs; the host reads them when it has ended.
struct TaskWords {
  TaskAtomic<std::int64_t> next{0};    ///< the first unit of the execution space that nobody has taken
  TaskAtomic<std::int64_t> open{0};    ///< units that have not ended
  TaskAtomic<std::int64_t> pushed{0};  ///< by bodies
  TaskAtomic<std::int64_t> ended{0};   ///< first and pushed units that have ended
  TaskAtomic<std::int64_t> calls{0};   ///< of bodies
  TaskAtomic<std::int64_t> shared{0};  ///< units that went through the queue of all blocks
  TaskAtomic<std::int64_t> room{0};    ///< places of that queue that are free
  TaskAtomic<std::int64_t> counts[2] = {0, 0};  ///< Wavefront: units of this generation and of the next
  TaskAtomic<std::uint32_t> fault{0};
};

/// One task as a kernel gets it. Plain bytes.
struct TaskInput {
  Box units;  ///< of the execution space
  JobForm form = JobForm::Regular;
  std::int32_t blocks = 1;
  std::int32_t lanes = 1;  ///< threads of a block
  std::int32_t grain = 1;  ///< calls in a row before a unit goes back to a queue
  JobLimits limits;
  TaskWords* words = nullptr;
  std::byte* scratch = nullptr;      ///< queue of all blocks, or the generations of a wavefront
  std::byte* blockMemory = nullptr;  ///< on the host: memory of the blocks, one after the other
  std::int32_t generation = 0;       ///< Wavefront: which of the two arrays is full
  std::int32_t generations = 0;      ///< Wavefront: how many are run by one launch

  TESSERA_KERNEL std::int64_t unitCount() const {
    const Extent n = units.extent();
    return n.i * n.j * n.k;
  }
  TESSERA_KERNEL Index unitAt(std::int64_t n) const {
    const Extent size = units.extent();
    const std::int64_t row = n / size.i;
    return {units.lo.i + n % size.i, units.lo.j + row % size.j, units.lo.k + row / size.j};
  }
};

}  // namespace tessera::jobs
