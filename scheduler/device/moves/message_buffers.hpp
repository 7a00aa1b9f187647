#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera {

/// The memory that messages of one plan are packed into and unpacked from, as a device may know it. Its
/// addresses depend on `turn` alone.
class MessageBuffers {
 public:
  virtual ~MessageBuffers() = default;
  /// Buffers of steps with the same turn are the same ones: 0 and 1 alternate.
  virtual std::int32_t parity() const = 0;
  /// Of the running step, by number of the send and of the receive.
  virtual std::span<std::byte> sendBuffer(std::int32_t send) const = 0;
  virtual std::span<const std::byte> receiveBuffer(std::int32_t receive) const = 0;
  /// Of the buffers of all messages, to be locked in place for devices.
  virtual std::vector<std::span<std::byte>> pages() const = 0;
};

}  // namespace tessera
