#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/device/device_backend.hpp"

namespace tessera::detail {

class DeviceChecks;

/// What all plans of one device have in common for their checks: the word by which kernels say that they have
/// found something.
struct FindingBoard {
  explicit FindingBoard(DeviceBackend& backend);
  ~FindingBoard();
  FindingBoard(const FindingBoard&) = delete;
  FindingBoard& operator=(const FindingBoard&) = delete;

  /// Any thread, at any time.
  bool isRaised() const { return __atomic_load_n(raised, __ATOMIC_ACQUIRE) != 0; }

  DeviceBackend& device;
  std::int32_t* raised = nullptr;     ///< pinned memory of the host
  std::byte* nowhere = nullptr;       ///< on the device, DeviceFindings::kNowhereBytes
  std::int64_t steps = 0;             ///< of all plans, so far
  std::int64_t launched = 0;          ///< tasks, so far
  std::vector<DeviceChecks*> checks;  ///< of each plan
};

}  // namespace tessera::detail
