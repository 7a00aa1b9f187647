#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "core/exec/detail/device_results.hpp"
#include "core/exec/device_loops.hpp"
#include "core/exec/exec.hpp"
#include "core/exec/patch_walk.hpp"
#include "core/known_kernels.hpp"

namespace tessera::detail {

/// A table's entry as `walk` sees it.
template <class Closure>
struct DeviceLoopEntry {
  DeviceLoopHead head;
  Closure arguments;
};

#if defined(__CUDACC__)

/// Blocks that a multiprocessor shall at least hold at once. With a thread for each cell one, but for kernels
/// that have a `kBlocksAtOnce` of their own: those that wait for memory gain more from other blocks than from
/// registers.
template <class Closure, LoopWalk kWalk>
constexpr int blocksAtOnce() {
  if constexpr (requires { Closure::kBlocksAtOnce; }) {
    return Closure::kBlocksAtOnce;
  } else {
    return kWalk == LoopWalk::OneCell ? 1 : kBlocksAtOnce;
  }
}

template <class Closure, class Join, LoopWalk kWalk>
__global__ void __launch_bounds__(kBlockThreads, blocksAtOnce<Closure, kWalk>())
    runLoops(const __grid_constant__ DeviceLoopBatch batch) {
  const auto each = static_cast<std::uint32_t>(batch.shape.blocksEach);
  std::uint32_t slot = blockIdx.x / each;
  const auto block = static_cast<std::int32_t>(blockIdx.x - slot * each);
  if (batch.order == PatchOrder::Falling) slot = static_cast<std::uint32_t>(batch.count) - 1 - slot;
  const auto entryAt = [&](std::uint32_t n) -> const auto& {
    const std::byte* entry = batch.entries + static_cast<std::int64_t>(n) * batch.stride;
    return *reinterpret_cast<const DeviceLoopEntry<Closure>*>(entry);
  };
  const DeviceLoopHead& head = entryAt(slot).head;
  const Box box = batch.part.parts == 1 ? head.box : partOf(head.box, batch.part);
  prefetchWindows(head.reads, batch.part, each, block);
  const Column column = columnOf(box, batch.shape, block, static_cast<std::int32_t>(threadIdx.x));
  if constexpr (Join::kWords == 0) {
    walk<kWalk == LoopWalk::Unrolled>([](const Closure& closure, Index x) { closure(x); }, entryAt, slot,
                                      column);
#pragma unroll 1
    for (int n = 0; n < kFinalValues && head.finals[n].words != nullptr; ++n) {
      lookAtColumn(head.finals[n], column, head.box.lo);
    }
  } else {
    std::int64_t* words = batch.results + static_cast<std::int64_t>(slot) * Join::kWords;
    typename Join::OnDevice values(words);
    walk<kWalk == LoopWalk::Unrolled>(
        [&](const Closure& closure, Index x) { values.add(static_cast<double>(closure(x))); }, entryAt, slot,
        column);
    values.join(words);
  }
}

#endif

/// Ends a compilation of a loop for devices by another compiler than nvcc, where there is a GPU to run it.
template <class Kernel>
constexpr void requireNvcc() {
#if defined(TESSERA_HAVE_CUDA) && !defined(__CUDACC__)
  static_assert(
      sizeof(Kernel) == 0,
      "a loop for Gpu has to be compiled by nvcc: move the task's body to a source whose name ends in "
      "_kernels.cpp and give that to tessera_component(); or leave Gpu out of .runs<Cpu, Gpu>(...)");
#endif
}

/// What is instantiated for each type of closure.
template <class Closure, class Join, LoopWalk kWalk>
struct DeviceLoop {
  static_assert(alignof(Closure) <= alignof(std::max_align_t));

  static void keep(void* to, const void* closure) { new (to) Closure(*static_cast<const Closure*>(closure)); }

  static void drop(void* closure) { std::destroy_at(static_cast<Closure*>(closure)); }

  static void runOnHost(const DeviceLoopBatch& batch) {
    for (std::int32_t n = 0; n < batch.count; ++n) {
      const std::byte* entry = batch.entries + std::int64_t{n} * batch.stride;
      const auto& head = *reinterpret_cast<const DeviceLoopHead*>(entry);
      const Box box = partOf(head.box, batch.part);
      const auto* closure = reinterpret_cast<const Closure*>(entry + sizeof(DeviceLoopHead));
      if constexpr (Join::kWords == 0) {
        forEachInOrder(box, *closure);
        for (int f = 0; f < kFinalValues && head.finals[f].words != nullptr; ++f) {
          forEachInOrder(box, [&](Index x) { lookAt(head.finals[f], x, head.box.lo); });
        }
      } else {
        typename Join::OnHost values;
        forEachInOrder(box, [&](Index x) { values.add(static_cast<double>((*closure)(x))); });
        values.join(batch.results + std::int64_t{n} * Join::kWords);
      }
      if (!batch.keepsClosures) std::destroy_at(closure);
    }
  }

  static void run(const void* arguments, [[maybe_unused]] void* cudaStream) {
    DeviceLoopBatch batch;
    std::memcpy(&batch, arguments, sizeof(batch));
#if defined(__CUDACC__)
    keepKnown<&runLoops<Closure, Join, kWalk>>();
    if (cudaStream != nullptr) {
      const auto blocks = static_cast<std::uint32_t>(batch.count * batch.shape.blocksEach);
      runLoops<Closure, Join, kWalk>
          <<<blocks, kBlockThreads, 0, static_cast<cudaStream_t>(cudaStream)>>>(batch);
      return;
    }
#endif
    runOnHost(batch);
  }
};

template <class Closure, class Join, LoopWalk kWalk>
inline constexpr DeviceLoopType kDeviceLoopTypeOf{sizeof(Closure),
                                                  Join::kWords,
                                                  Join::kStart,
                                                  &DeviceLoop<Closure, Join, kWalk>::keep,
                                                  &DeviceLoop<Closure, Join, kWalk>::drop,
                                                  &DeviceLoop<Closure, Join, kWalk>::run,
                                                  kWalk};

/// Loops of checked bodies are not unrolled: nvcc would take minutes for the checks.
template <class Closure, class Join, class Exec = Gpu>
inline constexpr const DeviceLoopType& kDeviceLoopType =
    kDeviceLoopTypeOf<Closure, Join, std::is_same_v<Exec, Gpu> ? LoopWalk::Unrolled : LoopWalk::CellByCell>;

template <class Join, class Exec, class Kernel>
typename Join::Value resultOf(Exec exec, const char* name, const Box& box, const Kernel& kernel) {
  requireKernel<Exec, Kernel>();
  requireNvcc<Kernel>();
  const auto words = exec.loops->reduce(name, box, &kernel, kDeviceLoopType<Kernel, Join, Exec>);
  return words.empty() ? Join::unknown() : Join::ofParts(words);
}

}  // namespace tessera::detail
