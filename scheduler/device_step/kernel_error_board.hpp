#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"

namespace tessera::detail {

class DeviceChecks;

/// What all plans of one device have in common for their checks: the word by which kernels say that they have
/// found something.
struct KernelErrorBoard {
  explicit KernelErrorBoard(DeviceBackend& backend);
  ~KernelErrorBoard();
  KernelErrorBoard(const KernelErrorBoard&) = delete;
  KernelErrorBoard& operator=(const KernelErrorBoard&) = delete;

  /// Any thread, at any time.
  std::int64_t nextLaunched() { return launched->fetch_add(1, std::memory_order_relaxed) + 1; }
  bool isRaised() const { return __atomic_load_n(raised, __ATOMIC_ACQUIRE) != 0; }

  DeviceBackend& device;
  std::int32_t* raised = nullptr;  ///< pinned memory of the host
  std::byte* nowhere = nullptr;    ///< on the device, KernelErrors::kNowhereBytes
  std::int64_t steps = 0;          ///< of all plans, so far
  std::atomic<std::int64_t> ownLaunched{0};
  /// Counts launched tasks, of all devices of a rank: who waits for another comes later.
  std::atomic<std::int64_t>* launched = &ownLaunched;
  std::vector<DeviceChecks*> checks;  ///< of each plan
};

}  // namespace tessera::detail
