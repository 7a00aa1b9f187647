#pragma once

#include <cstdint>
#include <string>

#include "scheduler/device/backend/device_addresses.hpp"

namespace tessera::detail {

/// Addresses of the host whose pages nobody may touch until they are mapped. Pages smaller than the host's
/// cannot be protected: what is in them is overwritten when they go.
class EmulatedAddresses final : public DeviceAddresses {
 public:
  /// `inUse` counts what is mapped, with all else of the device's memory, up to `limit`; it outlives this.
  /// `page`: 0 for the host's, else a part of it.
  EmulatedAddresses(std::int64_t bytes, std::int64_t pieceBytes, std::string device, std::int64_t& inUse,
                    std::int64_t limit, std::int64_t page);
  ~EmulatedAddresses() override;

  std::byte* begin() const override { return begin_; }
  std::int64_t bytes() const override { return bytes_; }
  std::int64_t pieceBytes() const override { return piece_; }
  void map(std::int64_t offset, std::int64_t bytes) override;
  void unmap(std::int64_t offset, std::int64_t bytes) override;

 private:
  const std::string device_;
  std::int64_t& inUse_;
  const std::int64_t limit_;
  const std::int64_t piece_;
  const bool protects_;
  std::int64_t bytes_ = 0;
  std::int64_t mapped_ = 0;
  std::byte* begin_ = nullptr;
};

}  // namespace tessera::detail
