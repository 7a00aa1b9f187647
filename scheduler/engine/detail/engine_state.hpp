#pragma once

#include <cstdint>

#if !defined(__CUDA_ARCH__)
#include <chrono>
#include <thread>
#endif

#include "scheduler/engine/detail/stamped_ring.hpp"
#include "scheduler/engine/queues/slab.hpp"
#include "scheduler/engine/queues/ticket_queue.hpp"
#include "scheduler/engine/task.hpp"

namespace tessera::engine {

using ReadyQueue = TicketQueue<Task, ScopedAtomics<Scope::Device>>;
using Inbox = StampedRing<Task, ScopedAtomics<Scope::System>>;
using Outbox = StampedRing<Completion, ScopedAtomics<Scope::System>>;
using TaskMemory = Slab<ScopedAtomics<Scope::Device>>;

/// A task that waits for others, or that others wait for. It lies where the workers run; `successors` numbers
/// of nodes lie at the address `edges`.
struct alignas(16) GraphNode {
  Task task;
  ScopedAtomic<std::uint32_t, Scope::Device> waits{0};    ///< predecessors that have not ended
  ScopedAtomic<std::uint32_t, Scope::Device> spoiled{0};  ///< 1: one of them did not end well
  std::uint32_t successors = 0;
  std::uint32_t reserved = 0;
  std::uint64_t nodes = 0;  ///< address of node 0 of the graph
  std::uint64_t edges = 0;
};

/// What all workers of an engine change.
struct Control {
  alignas(128) ScopedAtomic<std::uint32_t, Scope::Device> stop{0};     ///< 1: end after the running tasks
  alignas(128) ScopedAtomic<std::int64_t, Scope::Device> open{0};      ///< spawned tasks that have not ended
  alignas(128) ScopedAtomic<std::uint64_t, Scope::Device> outTail{0};  ///< next ticket of the outbox
};

TESSERA_KERNEL inline std::uint64_t firstArgument(const Task& task) {
  return std::uint64_t{task.arguments[1]} << 32 | task.arguments[0];
}

/// What a worker is at, for whoever looks for a task that does not end. Who reads it while the worker goes on
/// may see parts of two tasks; of one that does not end all parts are seen.
struct alignas(32) WorkerNote {
  ScopedAtomic<std::uint64_t, Scope::Device> serial{0};    ///< odd while a task runs
  ScopedAtomic<std::uint64_t, Scope::Device> task{0};      ///< ticket above, kind in the lower 32 bits
  ScopedAtomic<std::uint64_t, Scope::Device> argument{0};  ///< the first eight bytes of the arguments
  std::uint64_t reserved = 0;

  TESSERA_KERNEL void begins(const Task& next) {
    task.store(std::uint64_t{next.ticket} << 32 | next.kind, std::memory_order_relaxed);
    argument.store(firstArgument(next), std::memory_order_relaxed);
    serial.store(serial.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  TESSERA_KERNEL void ends() {
    serial.store(serial.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

/// All that workers share: addresses and sizes. Copied into each kernel.
struct EngineState {
  ReadyQueue queues[kWidths];  ///< by width; on the host three times the same one
  Outbox outbox;               ///< of a device; the host's workers have another way
  TaskMemory memory;
  Control* control = nullptr;
  WorkerNote* notes = nullptr;
  const ScopedAtomic<std::uint32_t, Scope::System>* cancelled = nullptr;  ///< by ticket
  std::uint8_t widths[64] = {};                                           ///< of the kinds
  std::uint32_t kinds = 0;
  std::uint32_t workers[kWidths] = {1, 1, 1};  ///< groups that take tasks of each width
  std::uint32_t workspaceBytes = 0;            ///< of fast memory that each group has
  std::int64_t mostSpawned = 0;                ///< spawned tasks that have not ended, at most
  std::uint32_t mostAtOnce = 1;                ///< tasks that a worker takes together where many wait
};

/// A task of this kind gives the address that is its first argument back to the memory of tasks, and nothing
/// else.
inline constexpr std::uint16_t kReleaseKind = 0xffff;

TESSERA_KERNEL inline std::uint64_t nowNanos() {
#if defined(__CUDA_ARCH__)
  std::uint64_t nanos;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(nanos));
  return nanos;
#else
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
#endif
}

/// Between two looks at memory that another thread is about to change.
TESSERA_KERNEL inline void pauseBriefly() {
#if defined(__CUDA_ARCH__)
  __nanosleep(40);
#else
  std::this_thread::yield();
#endif
}

TESSERA_KERNEL inline const ReadyQueue& queueOf(const EngineState& state, const Task& task) {
  return state.queues[task.kind < state.kinds ? state.widths[task.kind] : 1];
}

/// Puts a task into its queue. Its place is free, or is being emptied: a queue has two places for each task
/// that the host may have under way, and spawned tasks take no more than half of them.
TESSERA_KERNEL inline void pushReady(const EngineState& state, const Task& task) {
  const ReadyQueue& queue = queueOf(state, task);
  const std::uint64_t ticket = queue.tickets(1);
  while (!queue.ring.isFree(ticket)) pauseBriefly();
  queue.ring.put(ticket, task);
  queue.published(1);
}

/// Puts a task for which nobody waits into its queue; false: there are so many already, and nothing has
/// happened. Lanes of a warp that come together take their tickets together.
TESSERA_KERNEL inline bool pushSpawned(const EngineState& state, const Task& task) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t coming = __activemask();
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t alike =
      __match_any_sync(coming, task.kind < state.kinds ? static_cast<int>(state.widths[task.kind]) : 1);
  const int leader = __ffs(static_cast<int>(alike)) - 1;
  const std::int64_t count = __popc(alike);
  const std::uint64_t rank = __popc(alike & ((1U << lane) - 1));
  const ReadyQueue& queue = queueOf(state, task);
  std::uint64_t ticket = ~std::uint64_t{0};
  if (static_cast<int>(lane) == leader) {
    if (state.control->open.fetch_add(count, std::memory_order_relaxed) + count <= state.mostSpawned) {
      ticket = queue.tickets(count);
    } else {
      state.control->open.fetch_add(-count, std::memory_order_relaxed);
    }
  }
  ticket = __shfl_sync(alike, ticket, leader);
  if (ticket == ~std::uint64_t{0}) return false;
  ticket += rank;
  while (!queue.ring.isFree(ticket)) pauseBriefly();
  queue.ring.put(ticket, task);
  __syncwarp(alike);
  if (static_cast<int>(lane) == leader) queue.published(count);
  return true;
#else
  if (state.control->open.fetch_add(1, std::memory_order_relaxed) < state.mostSpawned) {
    pushReady(state, task);
    return true;
  }
  state.control->open.fetch_add(-1, std::memory_order_relaxed);
  return false;
#endif
}

/// Tells the successors of `task` that it has ended; those that waited for it alone go to the queues. Called
/// by `width` threads, each with its own `lane`.
TESSERA_KERNEL inline void releaseSuccessors(const EngineState& state, const Task& task, TaskStatus status,
                                             std::uint32_t lane, std::uint32_t width) {
  if (task.node == 0) return;
  const auto* node = reinterpret_cast<const GraphNode*>(task.node);
  auto* nodes = reinterpret_cast<GraphNode*>(node->nodes);
  const auto* edges = reinterpret_cast<const std::uint32_t*>(node->edges);
  for (std::uint32_t n = lane; n < node->successors; n += width) {
    GraphNode& next = nodes[edges[n]];
    if (status != TaskStatus::Done) next.spoiled.store(1, std::memory_order_relaxed);
    if (next.waits.fetch_add(~std::uint32_t{0}, std::memory_order_acq_rel) == 1) pushReady(state, next.task);
  }
}

/// Whether the host has taken the task back.
TESSERA_KERNEL inline bool isCancelled(const EngineState& state, const Task& task) {
  return task.cancelWord != 0 &&
         state.cancelled[task.ticket].load(std::memory_order_relaxed) == task.cancelWord;
}

/// Why a task must not begin; Done: it may.
TESSERA_KERNEL inline TaskStatus hindrance(const EngineState& state, const Task& task) {
  if (task.node != 0 &&
      reinterpret_cast<const GraphNode*>(task.node)->spoiled.load(std::memory_order_relaxed) != 0) {
    return TaskStatus::Skipped;
  }
  return isCancelled(state, task) ? TaskStatus::Cancelled : TaskStatus::Done;
}

}  // namespace tessera::engine
