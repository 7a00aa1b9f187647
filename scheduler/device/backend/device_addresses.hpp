#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera {

/// A range of a device's addresses that stay the same while memory comes and goes behind them:
///
///   const std::unique_ptr<DeviceAddresses> range = device.makeAddresses(bytes, 1);
///   range->map(0, range->pieceBytes());                     // there is memory now; what is in it is
///   undefined device.copy(stream, CopyDirection::HostToDevice, range->begin(), here, range->pieceBytes());
///   device.synchronize(stream);
///   range->unmap(0, range->pieceBytes());                   // the memory is for others, the address is kept
///
/// What touches an address without memory is a fault: a kernel fails, the emulated device ends the program.
/// Offsets and bytes are multiples of `pieceBytes`. Thread rule: the backend's.
class DeviceAddresses {
 public:
  DeviceAddresses() = default;
  DeviceAddresses(const DeviceAddresses&) = delete;
  DeviceAddresses& operator=(const DeviceAddresses&) = delete;
  /// No work uses them any more. Before the backend ends.
  virtual ~DeviceAddresses() = default;

  virtual std::byte* begin() const = 0;
  virtual std::int64_t bytes() const = 0;
  /// What is mapped as a whole: a multiple of the device's page, 2 MiB on a GPU. There each costs some tens
  /// of microseconds, however large it is.
  virtual std::int64_t pieceBytes() const = 0;
  /// Puts memory behind addresses that have none. Slow, but waits for nothing. Throws
  /// DeviceFault::OutOfMemory where the device has no more.
  virtual void map(std::int64_t offset, std::int64_t bytes) = 0;
  /// Takes it away. Work that uses these addresses is done.
  virtual void unmap(std::int64_t offset, std::int64_t bytes) = 0;
};

}  // namespace tessera
