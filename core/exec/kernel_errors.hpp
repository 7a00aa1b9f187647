#pragma once

#include <cstdint>
#include <limits>

#include "core/exec/kernel_call.hpp"
#include "core/geometry/index.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// What kernels may find out about one access of a task that runs on a device.
enum class KernelError : std::int32_t {
  NoComponent,  ///< a component that the variable does not have was touched
  Outside,      ///< an index outside what was declared was touched
  BesideEdge,   ///< of a halo of faces alone, an index of an edge or corner was read
  Uncovered,    ///< of a level that is read whole, an index was read where probably no patch lies
  Unwritten,    ///< an index that was to be written was not
  NonFinite,    ///< a number that the task left is NaN or infinite
};
inline constexpr std::int32_t kDeviceFindings = 6;

/// How a number is not finite.
enum class NonFinite : std::int32_t { Nan, MinusNan, Infinity, MinusInfinity };

/// The index of a finding, counted from the lower corner of what was declared, how the number there is not
/// finite, and the component, in one word: of two words the smaller one is that of the index which comes
/// first, x fastest. Further away than 131,071 indices from the corner is as far as that, and a component
/// beyond 63 counts as that one.
struct FoundAt {
  Index relative;
  NonFinite number = NonFinite::Nan;
  std::int32_t component = 0;

  static constexpr std::int64_t kMost = (std::int64_t{1} << 17) - 1;
  static constexpr std::int32_t kMostComponents = 63;

  TESSERA_KERNEL constexpr std::int64_t packed() const {
    const std::int32_t c = component > kMostComponents ? kMostComponents : component;
    return (biased(relative.k) << 44) | (biased(relative.j) << 26) | (biased(relative.i) << 8) |
           (static_cast<std::int64_t>(c) << 2) | static_cast<std::int64_t>(number);
  }
  static constexpr FoundAt unpack(std::int64_t word) {
    constexpr std::int64_t kMask = (std::int64_t{1} << 18) - 1;
    return {{((word >> 8) & kMask) - kMost, ((word >> 26) & kMask) - kMost, (word >> 44) - kMost},
            static_cast<NonFinite>(word & 3),
            static_cast<std::int32_t>((word >> 2) & kMostComponents)};
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

static_assert(FoundAt{{FoundAt::kMost, FoundAt::kMost, FoundAt::kMost},
                      NonFinite::MinusInfinity,
                      FoundAt::kMostComponents}
                  .packed() < KernelErrors::kNothing);

}  // namespace tessera
