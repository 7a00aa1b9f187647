#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "scheduler/device/backend/device_backend.hpp"

namespace tessera {

/// Who runs what is in the streams of an emulated device.
enum class EmulatedProgress {
  /// A host thread for each stream: work really overlaps, as on a device.
  Threads,
  /// The calling thread, a little at each `isDone`, in an order that the seed gives: the same calls run the
  /// same way again. Work must not wait for other work except by events. Devices that know each other by
  /// `enablePeer` move together, in one thread.
  Stepped,
};

/// What an emulated device is like.
struct EmulatedOptions {
  std::uint64_t seed = 1;  ///< of delays and orders; a failing test prints it
  EmulatedProgress progress = EmulatedProgress::Threads;
  std::chrono::microseconds longestDelay{50};        ///< before each piece of work, with threads
  std::int64_t memoryBytes = std::int64_t{1} << 30;  ///< more than that cannot be allocated
  /// Of addresses that memory comes and goes behind. 0: as the host's, whose own protection makes an access
  /// to one without memory a fault. Smaller ones only lose what is in them.
  std::int64_t pageBytes = 0;
  std::int32_t number = 0;               ///< what messages call it
  std::int64_t failsAfter = -1;          ///< pieces of work until the device is lost; -1: never
  std::optional<DeviceFault> refuses{};  ///< what comes of making it, in place of a device
};

/// A device made of host memory and host threads, so that every test of a lane runs where no GPU is. Kernels
/// run as plain loops in the order of their stream; streams are as independent as the progress allows.
std::unique_ptr<DeviceBackend> makeEmulatedDevice(const EmulatedOptions& options);

}  // namespace tessera
