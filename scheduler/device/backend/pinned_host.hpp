#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"

namespace tessera {

/// Pieces of the host's memory that stay locked in place as long as this lives, so that kernels and copies of
/// devices work on them where they are.
///
///   const std::vector<std::span<std::byte>> pieces = data.memory();
///   const PinnedHost pinned(device, pieces);
///
/// The pages around all pieces are pinned, neighbours in one go: memory of the heap comes in pieces that end
/// within a page. So of two PinnedHosts none may have a piece in a page that the other has one in. Thread
/// rule: the backend's.
class PinnedHost {
 public:
  PinnedHost(DeviceBackend& device, std::span<const std::span<std::byte>> pieces);
  /// No work may use the pieces any more; they are still there.
  ~PinnedHost();
  PinnedHost(const PinnedHost&) = delete;
  PinnedHost& operator=(const PinnedHost&) = delete;

  std::int64_t bytes() const { return bytes_; }

 private:
  void unpinAll() noexcept;

  DeviceBackend& device_;
  std::vector<void*> pinned_;
  std::int64_t bytes_ = 0;
};

}  // namespace tessera
