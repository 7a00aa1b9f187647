#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <type_traits>

#include "core/exec/block_shape.hpp"
#include "core/exec/device_prefetch.hpp"
#include "core/exec/exec.hpp"
#include "core/exec/patch_order.hpp"
#include "core/exec/patch_part.hpp"
#include "core/exec/patch_walk.hpp"
#include "core/geometry/box.hpp"
#include "core/text/contracts.hpp"
#include "scheduler/device/backend/device_backend.hpp"

namespace tessera::bench {

/// One patch as a kernel sees it: its cells, and what the kernel works on there
/// (fields, numbers).
///
/// `reads` are the windows that the kernel reads, the largest first, as far as
/// they are known and hold little else: the blocks of a patch ask the device
/// for their shares of them as soon as they start, so that later loads find in
/// the cache what would take a thread's registers to have under way. Pieces
/// without bytes are left out. It is a hint which changes no result, but the
/// memory must be there for as long as the patch is launched.
template <class Arguments>
struct BatchPatch {
  Box box;
  Arguments arguments;
  MemoryPiece reads[kPrefetches] = {};  // NOLINT: a std::array's operator[] is no device function
};

/// The patches of all tasks of a kind, in memory of the device, by the number
/// of the task in its kind. It is made once with the graph, so that a launch
/// carries numbers and no descriptors; by a copy, since a launch may read the
/// table before the launch ahead of it in the stream has ended.
template <class Arguments>
struct PatchTable {
  const BatchPatch<Arguments>* patches = nullptr;
  BlockShape shape;
};

namespace detail {

/// Patches first, first + 1, ... of a table.
struct PatchRange {
  std::int32_t first = 0;
  template <class Arguments>
  TESSERA_KERNEL const BatchPatch<Arguments>& of(const BatchPatch<Arguments>* table, std::int64_t n) const {
    return table[first + n];
  }
};

/// Patches of a table by their numbers, which travel as an argument of the
/// kernel: with the rest of it at most 4 KiB, which every device takes.
struct PatchList {
  static constexpr std::int32_t kMost = 896;
  std::int32_t numbers[kMost];  // NOLINT: a std::array's operator[] is no device function
  template <class Arguments>
  TESSERA_KERNEL const BatchPatch<Arguments>& of(const BatchPatch<Arguments>* table, std::int64_t n) const {
    return table[numbers[n]];
  }
};

/// A single patch, which travels itself.
template <class Arguments>
struct OnePatch {
  BatchPatch<Arguments> patch;
  TESSERA_KERNEL const BatchPatch<Arguments>& of(const BatchPatch<Arguments>*, std::int64_t) const {
    return patch;
  }
};

template <class Kernel, class Arguments, class Patches>
struct PatchLaunch {
  PatchTable<Arguments> table;
  Patches which;
  std::int32_t count = 0;
  PatchPart part;
  PatchOrder order = PatchOrder::Rising;
  bool overlaps = false;  ///< the device can start it while the launch before it ends
  Kernel kernel;

  static void run(const void* self, void* cudaStream);
  void runOnHost() const;
};

#if defined(__CUDACC__)

/// Lets the next launch of the stream start on what this one leaves free. It
/// waits in `awaitLastLaunch`.
__device__ inline void startNextLaunch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits for all that was launched before in the stream. No thread of a launch
/// may end without: the launch after the next one relies on it. What is loaded
/// through `slot` is loaded afterwards, also by loads that are known to meet no
/// writes, which a compiler may move across any barrier.
__device__ inline void awaitLastLaunch([[maybe_unused]] std::uint32_t& slot) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : "+r"(slot)::"memory");
#endif
}

template <class Launch>
__global__ void __launch_bounds__(kBlockThreads, kBlocksAtOnce)
    runPatches(const __grid_constant__ Launch launch) {
  startNextLaunch();
  const auto each = static_cast<std::uint32_t>(launch.table.shape.blocksEach);
  std::uint32_t slot = blockIdx.x / each;
  const auto block = static_cast<std::int32_t>(blockIdx.x - slot * each);
  if (launch.order == PatchOrder::Falling) slot = static_cast<std::uint32_t>(launch.count) - 1 - slot;
  const auto patchAt = [&](std::uint32_t n) -> const auto& {
    return launch.which.of(launch.table.patches, n);
  };
  // What needs no result of the launch before is done before that one ends: the
  // table is older.
  const Box box = launch.part.parts == 1 ? patchAt(slot).box : partOf(patchAt(slot).box, launch.part);
  tessera::detail::prefetchWindows(patchAt(slot).reads, launch.part, each, block);
  awaitLastLaunch(slot);
  tessera::detail::walk(
      launch.kernel, patchAt, slot,
      tessera::detail::columnOf(box, launch.table.shape, block, static_cast<std::int32_t>(threadIdx.x)));
}

#endif

template <class Kernel, class Arguments, class Patches>
void PatchLaunch<Kernel, Arguments, Patches>::runOnHost() const {
  for (std::int32_t n = 0; n < count; ++n) {
    const auto& patch = which.of(table.patches, order == PatchOrder::Rising ? n : count - 1 - n);
    const Arguments arguments = patch.arguments;
    // Any order will do, and a kernel that is no candidate for vectors would
    // have clang warn about it.
    tessera::detail::forEachInOrder(partOf(patch.box, part), [&](Index x) { kernel(arguments, x); });
  }
}

template <class Kernel, class Arguments, class Patches>
void PatchLaunch<Kernel, Arguments, Patches>::run(const void* self, [[maybe_unused]] void* cudaStream) {
  PatchLaunch launch;
  std::memcpy(static_cast<void*>(&launch), self, sizeof(launch));
#if defined(__CUDACC__)
  if (cudaStream != nullptr) {
    const auto blocks = static_cast<std::uint32_t>(launch.count * launch.table.shape.blocksEach);
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how{};
    how.gridDim = blocks;
    how.blockDim = kBlockThreads;
    how.stream = static_cast<cudaStream_t>(cudaStream);
    how.attrs = &overlap;
    how.numAttrs = launch.overlaps ? 1 : 0;
    // The backend asks for the error.
    static_cast<void>(cudaLaunchKernelEx(&how, runPatches<PatchLaunch>, launch));
    return;
  }
#endif
  launch.runOnHost();
}

/// Whether the device can start a launch while the one before it in its stream ends.
inline bool canOverlap(const DeviceInfo& info) { return std::atof(info.architecture.c_str()) >= 9.0; }

template <class Kernel, class Arguments, class Patches>
void putPatches(DeviceBackend& device, DeviceStream stream, const char* name,
                const PatchLaunch<Kernel, Arguments, Patches>& launch) {
  static_assert(std::is_trivially_copyable_v<Kernel> && std::is_trivially_copyable_v<Arguments>);
  const std::int64_t blocks = std::int64_t{launch.count} * launch.table.shape.blocksEach;
  TESSERA_EXPECT(blocks <= INT32_MAX, "launch fewer patches at once: a grid has at most 2^31 - 1 blocks");
  if (blocks == 0) return;
  device.launch(stream, {name, &launch.run, std::as_bytes(std::span(&launch, 1))});
}

}  // namespace detail

/// What the launch of a step's loops is measured against: a table of patches that is made once, and launches
/// that overlap in one stream. Runs `kernel(arguments, Index)` once for each cell of each of these patches,
/// in one launch (more only where `tasks` is long and has gaps). `tasks` rises. `kernel` is trivially
/// copyable, and the same for CPU and GPU:
///
///   struct Scale {
///     double factor;
///     TESSERA_KERNEL void operator()(const Field<double>& u, Index x) const {
///     u(x) *= factor; }
///   };
///   launchPatches(device, stream, "Scale", table, tasks, Scale{2.0});
///
/// To be instantiated in a source whose name ends in _kernels.cpp: in a build
/// with CUDA nvcc compiles those. Neither side fuses a multiply with an add, so
/// that sums and products have the bits of the CPU.
template <class Arguments, class Kernel>
void launchPatches(DeviceBackend& device, DeviceStream stream, const char* name,
                   const PatchTable<Arguments>& table, std::span<const std::int32_t> tasks,
                   const Kernel& kernel, PatchPart part = {}, PatchOrder order = PatchOrder::Rising) {
  const auto put = [&](auto which, std::size_t count) {
    detail::putPatches(device, stream, name,
                       detail::PatchLaunch<Kernel, Arguments, decltype(which)>{
                           table, which, static_cast<std::int32_t>(count), part, order,
                           detail::canOverlap(device.info()), kernel});
  };
  if (tasks.empty()) return;
  const bool gaps = static_cast<std::size_t>(tasks.back() - tasks.front()) + 1 != tasks.size();
  if (!gaps) {
    put(detail::PatchRange{tasks.front()}, tasks.size());
    return;
  }
  for (std::size_t begin = 0; begin < tasks.size(); begin += detail::PatchList::kMost) {
    const std::size_t count = std::min<std::size_t>(detail::PatchList::kMost, tasks.size() - begin);
    detail::PatchList list{};
    std::copy_n(tasks.begin() + static_cast<std::ptrdiff_t>(begin), count, list.numbers);
    put(list, count);
  }
}

/// The same for one box and no table.
template <class Arguments, class Kernel>
void launchBox(DeviceBackend& device, DeviceStream stream, const char* name, const Box& box,
               const Arguments& arguments, const Kernel& kernel) {
  detail::putPatches(device, stream, name,
                     detail::PatchLaunch<Kernel, Arguments, detail::OnePatch<Arguments>>{
                         {nullptr, shapeBlocks(std::span(&box, 1))},
                         {{box, arguments}},
                         1,
                         {},
                         PatchOrder::Rising,
                         false,
                         kernel});
}

}  // namespace tessera::bench
