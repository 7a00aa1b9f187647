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
      // In this order: whoever gets the result of a task that gave up knows why (CudaSide::fetch).
      words.ending.store(ending, std::memory_order_release);
      input.state.control->stop.store(1, std::memory_order_release);
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
    std::uint32_t looks = 0;
    bool more =
        false;  // where tasks have come, others are likely: look for all of a bundle, not for the next
    for (;; bundle += warps) {
      std::uint32_t missing = ~__ballot_sync(~0U, bundle * 32 + lane < input.inboxBegin);
      while (missing != 0) {
        const std::uint32_t wanted = more ? missing : missing & (~missing + 1);
        const std::uint32_t come = moveArrived(bundle * 32, wanted, lane);
        missing &= ~come;
        more = come != 0;
        if (!more && ++looks % 16 == 0 && __any_sync(~0U, stopped())) return;
      }
      __syncwarp();
      // The host may use these places again once all of them have been read.
      if (lane == 0)
        input.read[bundle & (input.inbox.mask / 32)].store(bundle + 1, std::memory_order_release);
    }
  }

  /// Copies those of the wanted tasks that are there to their queues and says which. A task is five chunks;
  /// the 160 chunks of a bundle are read by 32 lanes, side by side, so that reads over the bus are long.
  __device__ std::uint32_t moveArrived(std::uint64_t first, std::uint32_t wanted, std::uint32_t lane) const {
    constexpr std::uint32_t kChunks = Inbox::kChunks;
    ChunkWords chunks[kChunks];
    std::uint32_t there[kChunks];
    for (std::uint32_t k = 0; k < kChunks; ++k) {
      const std::uint32_t slot = (k * 32 + lane) / kChunks;
      if ((wanted >> slot & 1) != 0)
        chunks[k] = readChunk(input.inbox.place(first + slot) + (k * 32 + lane) % kChunks);
    }
    for (std::uint32_t k = 0; k < kChunks; ++k) {
      const std::uint32_t slot = (k * 32 + lane) / kChunks;
      there[k] = __ballot_sync(
          ~0U, (wanted >> slot & 1) != 0 && chunks[k].high >> 32 == Inbox::stampOf(first + slot));
    }
    // From here on lane n knows of slot n: whether all of it is there, and its width.
    const std::uint32_t bit = lane * kChunks;
    std::uint64_t five = 0;
    std::uint32_t kind = 0;
    for (std::uint32_t k = 0; k < kChunks; ++k) {
      if (k == bit / 32) five |= there[k];
      if (k == bit / 32 + 1) five |= std::uint64_t{there[k]} << 32;
      const std::uint32_t word = __shfl_sync(~0U, static_cast<std::uint32_t>(chunks[k].low), bit % 32);
      if (k == bit / 32) kind = word & 0xffffU;
    }
    const bool complete = (five >> (bit % 32) & 31U) == 31U;
    const std::uint32_t come = __ballot_sync(~0U, complete);
    if (come == 0) return 0;
    const int mine = kind < input.state.kinds ? input.state.widths[kind] : 1;
    for (int width = 0; width < kWidths; ++width) {
      const std::uint32_t slots = __ballot_sync(~0U, complete && mine == width);
      if (slots != 0) put(input.state.queues[width], slots, chunks, lane);
    }
    return come;
  }

  /// Lane n is told of slot n; the chunks of a slot lie with several lanes.
  __device__ void put(const ReadyQueue& queue, std::uint32_t slots, const ChunkWords* chunks,
                      std::uint32_t lane) const {
    constexpr std::uint32_t kChunks = Inbox::kChunks;
    const std::int64_t total = __popc(slots);
    std::uint64_t first = 0;
    if (lane == 0) first = queue.tickets(total);
    first = __shfl_sync(~0U, first, 0);
    const bool mine = (slots >> lane & 1) != 0;
    const std::uint64_t ticket = first + static_cast<std::uint32_t>(__popc(slots & ((1U << lane) - 1)));
    while (mine && !queue.ring.isFree(ticket)) pauseBriefly();
    __syncwarp();
    for (std::uint32_t k = 0; k < kChunks; ++k) {
      const std::uint32_t slot = (k * 32 + lane) / kChunks;
      if ((slots >> slot & 1) == 0) continue;
      const std::uint64_t to = first + static_cast<std::uint32_t>(__popc(slots & ((1U << slot) - 1)));
      auto* words = reinterpret_cast<std::uint32_t*>(&queue.ring.item(to)) + (k * 32 + lane) % kChunks * 3;
      words[0] = static_cast<std::uint32_t>(chunks[k].low);
      words[1] = static_cast<std::uint32_t>(chunks[k].low >> 32);
      words[2] = static_cast<std::uint32_t>(chunks[k].high);
    }
    __syncwarp();
    if (mine) queue.ring.markFull(ticket);
    if (lane == 0) queue.published(total);
  }
};

}  // namespace tessera::engine
