#pragma once

#include <cstdint>

namespace tessera {

/// What has gone between the host and a device, and how often the host has waited for the device.
struct DeviceTraffic {
  std::int64_t bytes = 0;
  std::int64_t waits = 0;
  DeviceTraffic& operator+=(const DeviceTraffic& other) {
    bytes += other.bytes;
    waits += other.waits;
    return *this;
  }
};

}  // namespace tessera
