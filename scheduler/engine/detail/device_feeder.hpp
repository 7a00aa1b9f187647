#pragma once

#include "scheduler/engine/detail/device_program.hpp"

namespace tessera::engine {

/// Threads of a kernel that bring tasks from the host's ring into the queues of the device, and that look
/// after the host. All of it runs in one block; each warp of it but the first brings bundles of up to 32
/// tasks.
struct Feeder {
  const KernelInput& input;

  __device__ void serve() const {
    const std::uint32_t warp = threadIdx.x / 32;
    if (warp == 0) {
      if (threadIdx.x == 0) watch();
    } else {
      bring(warp - 1, blockDim.x / 32 - 1);
    }
  }

 private:
  __device__ bool stopped() const { return input.state.control->stop.load(std::memory_order_relaxed) != 0; }

  /// Takes the host's commands, answers it, and ends the kernel where the host says so, or nothing any more.
  __device__ void watch() const {
    HostWords& words = *input.words;
    std::uint64_t beat = 0;
    std::uint64_t heard = nowNanos();
    words.begun.store(1, std::memory_order_release);
    std::uint32_t answered = words.answered.load(std::memory_order_relaxed);
    for (HostWords::Ending ending = HostWords::None; ending == HostWords::None; __nanosleep(1000)) {
      const std::uint32_t command = words.command.load(std::memory_order_acquire);
      const std::uint32_t question = words.question.load(std::memory_order_acquire);
      if (question != answered) {
        answered = question;
        words.open.store(input.state.control->open.load(std::memory_order_acquire),
                         std::memory_order_relaxed);
        words.answered.store(question, std::memory_order_release);
      }
      const std::uint64_t now = nowNanos();
      const std::uint64_t next = words.heartbeat.load(std::memory_order_relaxed);
      if (next != beat) {
        beat = next;
        heard = now;
      } else if (input.heartbeatNanos != 0 && now - heard > input.heartbeatNanos) {
        ending = HostWords::HostSilent;
      }
      if (command == HostWords::Stop || (command == HostWords::Close && nothingLeft()))
        ending = HostWords::Asked;
      if (ending == HostWords::None) continue;
      input.state.control->stop.store(1, std::memory_order_release);
      words.ending.store(ending, std::memory_order_release);
    }
  }

  __device__ bool nothingLeft() const {
    Control& control = *input.state.control;
    return control.outTail.load(std::memory_order_acquire) ==
               input.words->expected.load(std::memory_order_relaxed) &&
           control.open.load(std::memory_order_acquire) == 0;
  }

  /// Bundles warp, warp + warps ... of the inbox, 32 tickets each, as their tasks arrive.
  __device__ void bring(std::uint32_t warp, std::uint32_t warps) const {
    const std::uint32_t lane = threadIdx.x % 32;
    std::uint64_t bundle = input.inboxBegin / 32;
    while (bundle % warps != warp) ++bundle;
    for (;; bundle += warps) {
      const std::uint64_t ticket = bundle * 32 + lane;
      std::uint32_t done = __ballot_sync(~0U, ticket < input.inboxBegin);
      while (done != ~0U) {
        const bool full = (done >> lane & 1) == 0 && wordOf(ticket) == ticket + 1;
        const std::uint32_t ready = __ballot_sync(~0U, full);
        if (ready == 0) {
          if (__any_sync(~0U, stopped())) return;
          continue;
        }
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_system);
        moveBundle(bundle * 32, ready, lane);
        if (full) input.inbox.markFree(ticket);
        done |= ready;
      }
    }
  }

  __device__ std::uint64_t wordOf(std::uint64_t ticket) const {
    return input.inbox.words[ticket & input.inbox.mask].load(std::memory_order_relaxed);
  }

  /// Copies the tasks whose bits are set; four lanes carry one task, so that reads of the host's memory are
  /// long.
  __device__ void moveBundle(std::uint64_t first, std::uint32_t ready, std::uint32_t lane) const {
    uint4 parts[4];
    int widths[4];
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t slot = k * 8 + lane / 4;
      widths[k] = -1;
      if ((ready >> slot & 1) == 0) continue;
      parts[k] = reinterpret_cast<const uint4*>(&input.inbox.item(first + slot))[lane % 4];
    }
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t kind = __shfl_sync(~0U, parts[k].x, lane / 4 * 4) & 0xffffU;
      if ((ready >> (k * 8 + lane / 4) & 1) != 0)
        widths[k] = kind < input.state.kinds ? input.state.widths[kind] : 1;
    }
    for (int width = 0; width < kWidths; ++width) {
      std::uint32_t mine[4];
      std::uint32_t total = 0;
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t heads = __ballot_sync(~0U, lane % 4 == 0 && widths[k] == width);
        mine[k] = total + static_cast<std::uint32_t>(__popc(heads & ((1U << (lane / 4 * 4)) - 1)));
        total += static_cast<std::uint32_t>(__popc(heads));
      }
      if (total > 0) put(input.state.queues[width], width, parts, widths, mine, total, lane);
    }
  }

  __device__ void put(const ReadyQueue& queue, int width, const uint4* parts, const int* widths,
                      const std::uint32_t* mine, std::uint32_t total, std::uint32_t lane) const {
    std::uint64_t first = 0;
    if (lane == 0) {
      while (!queue.claimRoom(total)) pauseBriefly();
      first = queue.tickets(total);
    }
    first = __shfl_sync(~0U, first, 0);
    for (int k = 0; k < 4; ++k) {
      if (widths[k] != width) continue;
      const std::uint64_t ticket = first + mine[k];
      while (!queue.ring.isFree(ticket)) pauseBriefly();
      reinterpret_cast<uint4*>(&queue.ring.item(ticket))[lane % 4] = parts[k];
    }
    __syncwarp();
    for (int k = 0; k < 4; ++k) {
      if (widths[k] == width && lane % 4 == 0) queue.ring.markFull(first + mine[k]);
    }
    if (lane == 0) queue.published(total);
  }
};

}  // namespace tessera::engine
