#pragma once

#include "scheduler/engine/detail/device_feeder.hpp"
#include "scheduler/engine/detail/device_group.hpp"

namespace tessera::engine {

/// What the workers of one block share, at the start of its dynamic shared memory.
struct BlockShared {
  TaskMemory::Hints hints;
  std::uint64_t word;
  std::uint32_t role;
  std::uint32_t stop;
};

/// The workers of a kernel: each takes tasks from the queue of its width until the engine is to end.
template <class Kinds>
class DeviceWorker {
 public:
  __device__ DeviceWorker(const KernelInput& input, BlockShared& shared, std::byte* memory,
                          std::uint32_t block)
      : state_(input.state), shared_(shared), memory_(memory), block_(block) {}

  /// Each lane runs a task of its own.
  __device__ void workInLanes() {
    const std::uint32_t lane = threadIdx.x % 32;
    const ReadyQueue& queue = state_.queues[0];
    Claim claim;
    while (take(queue, 32, 0, claim)) {
      const bool mine = lane < claim.count;
      Task task;
      if (mine) task = queue.ring.item(claim.first + lane);
      __syncwarp();
      if (mine) queue.ring.markFree(claim.first + lane);
      if (lane == 0) note().begins(task);
      Completion completion;
      if (mine) {
        DeviceGroup<Kinds, TaskWidth::Lane> group(state_, task, shared_.hints, seed(), {});
        run<TaskWidth::Lane>(task, group, completion);
        releaseSuccessors(state_, task, completion.status, 0, 1);
      }
      __syncwarp();
      if (lane == 0) note().ends();
      reportLanes(mine && task.ticket != kNobody, completion);
      const auto spawned = __popc(__ballot_sync(~0U, mine && task.ticket == kNobody));
      if (lane == 0 && spawned > 0) state_.control->open.fetch_add(-spawned, std::memory_order_release);
    }
  }

  /// The 32 threads of a warp run a task together.
  __device__ void workInWarps() {
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t warp = threadIdx.x / 32;
    const ReadyQueue& queue = state_.queues[1];
    auto* tasks = reinterpret_cast<Task*>(memory_) + warp * kWarpBatch;
    auto* done = reinterpret_cast<Completion*>(memory_ + blockDim.x / 32 * kWarpBatch * sizeof(Task)) +
                 warp * kWarpBatch;
    typename DeviceGroup<Kinds, TaskWidth::Warp>::Workspace workspace{
        memory_ + blockDim.x / 32 * kWarpBatch * (sizeof(Task) + sizeof(Completion)) +
            warp * state_.workspaceBytes,
        state_.workspaceBytes, nullptr};
    Claim claim;
    while (take(queue, kWarpBatch, 1, claim)) {
      for (std::uint32_t part = lane; part < claim.count * 4; part += 32) {
        reinterpret_cast<uint4*>(tasks)[part] =
            reinterpret_cast<const uint4*>(&queue.ring.item(claim.first + part / 4))[part % 4];
      }
      __syncwarp();
      if (lane < claim.count) queue.ring.markFree(claim.first + lane);
      std::uint32_t held = 0;
      const std::uint64_t begin = claim.count > 1 ? nowNanos() : 0;
      for (std::int64_t n = 0; n < claim.count; ++n) {
        runHere<TaskWidth::Warp>(tasks[n], done[held], workspace);
        if (tasks[n].ticket != kNobody) ++held;
        if (n + 1 == claim.count || (held > 0 && nowNanos() - begin > 20'000)) reportAll(done, held);
      }
    }
  }

  /// All threads of a block run a task together.
  __device__ void workInBlocks() {
    const ReadyQueue& queue = state_.queues[2];
    auto* task = reinterpret_cast<Task*>(memory_);
    auto* done = reinterpret_cast<Completion*>(memory_ + sizeof(Task));
    const typename DeviceGroup<Kinds, TaskWidth::Block>::Workspace workspace{
        memory_ + engineTaskBytes(), state_.workspaceBytes * (blockDim.x / 32), &shared_.word};
    for (;;) {
      if (threadIdx.x < 32) {
        Claim claim;
        const bool more = take(queue, 1, 2, claim);
        if (more && threadIdx.x < 4) {
          reinterpret_cast<uint4*>(task)[threadIdx.x] =
              reinterpret_cast<const uint4*>(&queue.ring.item(claim.first))[threadIdx.x];
        }
        __syncwarp();
        if (threadIdx.x == 0) {
          shared_.stop = more ? 0 : 1;
          if (more) queue.ring.markFree(claim.first);
        }
      }
      __syncthreads();
      if (shared_.stop != 0) return;
      runHere<TaskWidth::Block>(*task, *done, workspace);
      __syncthreads();
      std::uint32_t held = task->ticket != kNobody ? 1 : 0;
      if (threadIdx.x < 32) reportAll(done, held);
      __syncthreads();
    }
  }

 private:
  __device__ std::uint32_t engineTaskBytes() const {
    return blockDim.x / 32 * kWarpBatch * (sizeof(Task) + sizeof(Completion));
  }
  __device__ std::uint32_t seed() const { return (block_ * blockDim.x + threadIdx.x) * 2654435761U; }
  __device__ WorkerNote& note() const { return state_.notes[block_ * (blockDim.x / 32) + threadIdx.x / 32]; }
  __device__ bool stopped() const { return state_.control->stop.load(std::memory_order_relaxed) != 0; }

  /// By a whole warp: tickets of tasks that are all there; false: the engine is to end.
  __device__ bool take(const ReadyQueue& queue, std::int64_t most, int width, Claim& claim) const {
    const std::uint32_t lane = threadIdx.x % 32;
    // Lanes side by side run together anyway, so their tasks are taken together; the tasks of a warp that
    // were taken together wait for each other, so only where very many wait.
    const std::int64_t share = std::int64_t{state_.workers[width]} * (width == 0 ? 1 : 4);
    if (lane == 0) claim = queue.claim(most, share);
    claim.first = __shfl_sync(~0U, claim.first, 0);
    claim.count = __shfl_sync(~0U, claim.count, 0);
    const std::uint64_t ticket = claim.first + lane;
    for (std::uint32_t looks = 0;; ++looks) {
      const bool full = lane >= claim.count || queue.ring.words[ticket & queue.ring.mask].load(
                                                   std::memory_order_relaxed) == ticket + 1;
      if (__all_sync(~0U, full)) break;
      if (looks % 8 == 7 && __any_sync(~0U, stopped())) return false;
      __nanosleep(looks < 64 ? 20 : 200);
    }
    // One more look, by which what the producers did is seen: cheaper than to acquire at each.
    if (lane < claim.count) static_cast<void>(queue.ring.isFull(ticket));
    __syncwarp();
    return true;
  }

  /// Fills status and result of `completion`, which is one thread's own.
  template <TaskWidth kWidth, class Group>
  __device__ void run(const Task& task, Group& group, Completion& completion) const {
    completion.ticket = task.ticket;
    completion.kind = task.kind;
    completion.status = hindrance(state_, task);
    if (task.kind == kReleaseKind) {
      if (group.lane() == 0)
        completion.code = static_cast<std::uint32_t>(state_.memory.release(firstArgument(task)));
    } else if (completion.status == TaskStatus::Done) {
      if (!Kinds::template runOne<kWidth>(task, group, completion)) {
        completion.status = TaskStatus::UnknownKind;
      } else {
        group.end();
        completion.status = group.status();
        completion.code = group.code();
      }
    }
  }

  /// A task that lies in shared memory, by all threads of its group; the completion goes to shared memory
  /// too.
  template <TaskWidth kWidth>
  __device__ void runHere(const Task& task, Completion& done,
                          const typename DeviceGroup<Kinds, kWidth>::Workspace& workspace) {
    DeviceGroup<Kinds, kWidth> group(state_, task, shared_.hints, seed(), workspace);
    if (group.lane() == 0) note().begins(task);
    Completion completion;
    run<kWidth>(task, group, completion);
    if (group.lane() == 0) done = completion;
    group.sync();
    releaseSuccessors(state_, task, done.status, static_cast<std::uint32_t>(group.lane()),
                      static_cast<std::uint32_t>(group.width()));
    if (group.lane() != 0) return;
    note().ends();
    if (task.ticket == kNobody) state_.control->open.fetch_add(-1, std::memory_order_release);
  }

  /// The host has a place for each: it has no more tasks under way than the outbox has places.
  __device__ std::uint64_t outboxTickets(std::uint32_t count) const {
    return state_.control->outTail.fetch_add(count, std::memory_order_relaxed);
  }

  /// By a warp: `held` completions in shared memory; none are held afterwards.
  __device__ void reportAll(const Completion* done, std::uint32_t& held) const {
    if (held == 0) return;
    const std::uint32_t lane = threadIdx.x % 32;
    __syncwarp();
    // What the tasks have written and spawned is seen before their results are.
    __threadfence();
    std::uint64_t first = 0;
    if (lane == 0) first = outboxTickets(held);
    first = __shfl_sync(~0U, first, 0);
    for (std::uint32_t n = lane; n < held * Outbox::kChunks; n += 32) {
      sendChunk(done[n / Outbox::kChunks], first + n / Outbox::kChunks, n % Outbox::kChunks);
    }
    __syncwarp();
    held = 0;
  }

  /// By a warp: each lane that has something to report.
  __device__ void reportLanes(bool mine, const Completion& completion) const {
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t all = __ballot_sync(~0U, mine);
    if (all == 0) return;
    __threadfence();
    std::uint64_t first = 0;
    if (lane == 0) first = outboxTickets(static_cast<std::uint32_t>(__popc(all)));
    first = __shfl_sync(~0U, first, 0) + static_cast<std::uint32_t>(__popc(all & ((1U << lane) - 1)));
    for (std::uint32_t part = 0; mine && part < Outbox::kChunks; ++part) sendChunk(completion, first, part);
  }

  __device__ void sendChunk(const Completion& completion, std::uint64_t ticket, std::uint32_t part) const {
    const auto* words = reinterpret_cast<const std::uint32_t*>(&completion) + 3 * part;
    writeChunk(state_.outbox.place(ticket) + part, {std::uint64_t{words[1]} << 32 | words[0],
                                                    std::uint64_t{Outbox::stampOf(ticket)} << 32 | words[2]});
  }

  const EngineState& state_;
  BlockShared& shared_;
  std::byte* memory_;
  std::uint32_t block_;
};

/// What a block does: the first to begin serves, one for each width that has blocks comes next, then the
/// others.
__device__ inline int widthOfRole(const KernelInput& input, std::uint32_t role) {
  std::uint32_t left[kWidths];
  for (int width = 0; width < kWidths; ++width) {
    left[width] = input.blocks[width];
    if (left[width] == 0) continue;
    if (--role == 0) return width;
    --left[width];
  }
  for (int width = 0; width < kWidths; ++width) {
    if (role <= left[width]) return width;
    role -= left[width];
  }
  return -1;
}

/// By one thread of a block that begins: its role, or one that nobody has where it is to end at once.
__device__ inline std::uint32_t roleOf(const KernelInput& input) {
  Places& places = *input.places;
  std::uint32_t here;
  asm("mov.u32 %0, %smid;" : "=r"(here));
  here %= Places::kMost;
  if (places.blocks[here].fetch_add(1, std::memory_order_relaxed) == 0) {
    const bool mine = places.chosen.fetch_add(1, std::memory_order_relaxed) < input.multiprocessors;
    places.answers[here].store(mine ? Places::Mine : Places::NotMine, std::memory_order_relaxed);
  }
  std::uint32_t answer;
  while ((answer = places.answers[here].load(std::memory_order_relaxed)) == Places::Unknown) pauseBriefly();
  return answer == Places::Mine ? places.roles.fetch_add(1, std::memory_order_relaxed) : ~std::uint32_t{0};
}

template <class Kinds>
__global__ void __launch_bounds__(kMostThreads) superKernel(const __grid_constant__ KernelInput input) {
  extern __shared__ __align__(16) std::byte memory[];
  auto& shared = *reinterpret_cast<BlockShared*>(memory);
  if (threadIdx.x == 0) {
    shared.role = roleOf(input);
    for (auto& page : shared.hints.page) page.store(~std::uint32_t{0}, std::memory_order_relaxed);
  }
  __syncthreads();
  const std::uint32_t role = shared.role;
  if (role == 0) return Feeder{input}.serve();
  const int width = role == ~std::uint32_t{0} ? -1 : widthOfRole(input, role);
  DeviceWorker<Kinds> worker(input, shared, memory + 192, role - 1);
  if (width == 0) worker.workInLanes();
  if (width == 1) worker.workInWarps();
  if (width == 2) worker.workInBlocks();
}
static_assert(sizeof(BlockShared) <= 192);

template <class Kinds>
const DeviceProgram& deviceProgramOf() {
  class Compiled final : public DeviceProgram {
   public:
    int prepare(int threads, int sharedBytes, int* blocksPerMultiprocessor) const override {
      const cudaError_t status =
          cudaFuncSetAttribute(superKernel<Kinds>, cudaFuncAttributeMaxDynamicSharedMemorySize, sharedBytes);
      if (status != cudaSuccess) return status;
      return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocksPerMultiprocessor, superKernel<Kinds>,
                                                           threads, static_cast<std::size_t>(sharedBytes));
    }
    int launch(const KernelInput& input, int blocks, int threads, int sharedBytes,
               void* stream) const override {
      superKernel<Kinds>
          <<<blocks, threads, static_cast<std::size_t>(sharedBytes), static_cast<cudaStream_t>(stream)>>>(
              input);
      return cudaGetLastError();
    }
  };
  static const Compiled program;
  return program;
}

}  // namespace tessera::engine
