#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"
#include "scheduler/device/loops/loop_buckets.hpp"

namespace tessera::detail {

/// How the words of reductions and, behind them, the tables of all buckets of a launch lie.
struct LoopExtent {
  std::int64_t words = 0;
  std::int64_t bytes = 0;  ///< words included
  std::int64_t wordBytes() const { return words * static_cast<std::int64_t>(sizeof(std::int64_t)); }
};
/// Decides it, and notes it in the buckets.
LoopExtent layOutLoops(std::span<LoopBucket* const> buckets);

/// Few sizes, so that pools find a piece of the last launches that fits.
std::int64_t loopPieceSize(std::int64_t bytes);

/// The words before a launch, by bucket.
void writeStartWords(std::span<LoopBucket* const> buckets, std::int64_t* words);

/// Where one part of a launch finds what it works on, on the device, and its stream.
struct LoopPart {
  DeviceStream stream;
  std::byte* table = nullptr;  ///< as layOutLoops says; its words are not used
  std::int64_t* words = nullptr;
};

/// Puts all buckets, in the order of their places, into the streams of the parts.
class LoopLauncher {
 public:
  explicit LoopLauncher(DeviceBackend& backend)
      : backend_(backend), runsOnHost_(backend.info().architecture.empty()) {}

  /// `keepsClosures`: of a run on the host; see DeviceLoopBatch.
  void put(std::span<LoopBucket* const> buckets, std::span<const LoopPart> parts, PatchOrder order,
           bool keepsClosures);

 private:
  void putBucket(const LoopBucket& bucket, std::span<const LoopPart> parts, std::size_t part,
                 PatchOrder order, bool keepsClosures);
  void waitForAllParts(std::span<const LoopPart> parts);

  DeviceBackend& backend_;
  const bool runsOnHost_;
  std::vector<DeviceEvent> events_;  ///< by part
};

}  // namespace tessera::detail
