#pragma once

#include <cstdint>
#include <limits>

#include "core/exec/kernel_call.hpp"
#include "core/geometry/index.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// What kernels may find out about one access of a task that runs on a device.
enum class KernelError : std::int32_t {
  Outside,     ///< an index outside what was declared was touched
  BesideEdge,  ///< of a halo of faces alone, an index of an edge or corner was read
  Uncovered,   ///< of a level that is read whole, an index was read where probably no patch lies
  Unwritten,   ///< an index that was to be written was not
  NonFinite,   ///< a number that the task left is NaN or infinite
};
inline constexpr std::int32_t kDeviceFindings = 5;

/// How a number is not finite.
enum class NonFinite : std::int32_t { Nan, MinusNan, Infinity, MinusInfinity };

/// The index of a finding, counted from the lower corner of what was declared, and how the number there is
/// not finite, in one word: of two words the smaller one is that of the index which comes first, x fastest.
/// Further away than half a million indices from the corner is as far as that.
struct FoundAt {
  Index relative;
  NonFinite number = NonFinite::Nan;

  static constexpr std::int64_t kMost = (std::int64_t{1} << 19) - 1;

  TESSERA_KERNEL constexpr std::int64_t packed() const {
    return (biased(relative.k) << 42) | (biased(relative.j) << 22) | (biased(relative.i) << 2) |
           static_cast<std::int64_t>(number);
  }
  static constexpr FoundAt unpack(std::int64_t word) {
    constexpr std::int64_t kMask = (std::int64_t{1} << 20) - 1;
    return {{((word >> 2) & kMask) - kMost, ((word >> 22) & kMask) - kMost, (word >> 42) - kMost},
            static_cast<NonFinite>(word & 3)};
  }

 private:
  TESSERA_KERNEL static constexpr std::int64_t biased(std::int64_t n) {
    return (n < -kMost ? -kMost : n > kMost ? kMost : n) + kMost;
  }
};

/// Where kernels note what they find about one access. A kernel that finds something goes on: the host learns
/// of it by `raised`, without asking the device. Trivially copyable; empty where nobody looks.
struct KernelErrors {
  /// The word before anything is found, in each of its bytes the same.
  static constexpr std::uint8_t kNothingByte = 0x7F;
  static constexpr std::int64_t kNothing = 0x7F7F7F7F7F7F7F7F;

  std::int64_t* words = nullptr;   ///< on the device, by KernelError: the smallest FoundAt
  std::int32_t* raised = nullptr;  ///< pinned memory of the host: 1 when there is a finding of any task
  void* nowhere = nullptr;  ///< on the device, kNowhereBytes: what is touched in place of an index outside

  static constexpr std::size_t kNowhereBytes = 256;

  TESSERA_KERNEL_CALL void note(KernelError what, const FoundAt& at) const {
    std::int64_t* word = words + static_cast<std::int32_t>(what);
    const std::int64_t found = at.packed();
#if defined(__CUDA_ARCH__)
    auto* shared = reinterpret_cast<long long*>(word);
    if (*static_cast<volatile long long*>(shared) <= found) return;
    atomicMin(shared, static_cast<long long>(found));
    __threadfence_system();
    *static_cast<volatile std::int32_t*>(raised) = 1;
#else
    std::int64_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (found < before) {
      if (__atomic_compare_exchange_n(word, &before, found, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
    }
    __atomic_store_n(raised, 1, __ATOMIC_RELEASE);
#endif
  }
};

static_assert(FoundAt{{FoundAt::kMost, FoundAt::kMost, FoundAt::kMost}, NonFinite::MinusInfinity}.packed() <
              KernelErrors::kNothing);

}  // namespace tessera
