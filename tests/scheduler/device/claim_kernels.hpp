#pragma once

#include <cstdint>
#include <span>

#include "core/exec/patch_part.hpp"
#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "scheduler/device/backend/device_backend.hpp"

namespace tessera::test {

/// data[n] = factor * data[n] + shift, for n < count.
void putAffine(DeviceBackend& device, DeviceStream stream, double* data, std::int64_t count, double factor,
               double shift);

/// Goes on until `*flag`, in pinned memory, is not 0; at most some seconds.
void putSpin(DeviceBackend& device, DeviceStream stream, int* flag);

/// Writes where no memory is. For a GPU only.
void putWriteNowhere(DeviceBackend& device, DeviceStream stream);

inline constexpr std::int32_t kDigits = 4;

/// A task whose result tells whether its predecessors' were there: digit d of a task is a hash of its number,
/// d and all digits of all its predecessors.
struct DigestPatch {
  std::uint64_t* digits = nullptr;  ///< kDigits for each task
  const std::int32_t* predecessors = nullptr;
  std::int32_t predecessorCount = 0;
  std::int32_t task = 0;
};

struct Digest {
  TESSERA_KERNEL void operator()(const DigestPatch& patch, Index x) const {
    auto hash = static_cast<std::uint64_t>(patch.task * kDigits + x.i + 1);
    for (std::int32_t n = 0; n < patch.predecessorCount; ++n) {
      for (std::int32_t d = 0; d < kDigits; ++d) {
        hash = (hash ^ patch.digits[patch.predecessors[n] * kDigits + d]) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 29;
      }
    }
    patch.digits[patch.task * kDigits + x.i] = hash;
  }
};

/// Computes the digits of these tasks, or part `part` of them. `patches` is memory of the device, one for
/// each task of the plan.
void putDigest(DeviceBackend& device, DeviceStream stream, const DigestPatch* patches,
               std::span<const std::int32_t> tasks, PatchPart part);

}  // namespace tessera::test
