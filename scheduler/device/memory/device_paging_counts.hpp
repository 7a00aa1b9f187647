#pragma once

#include <cstdint>

namespace tessera {

/// What variables need on devices, and what a pager has moved because that is more than there is.
struct DevicePagingCounts {
  std::int64_t neededBytes = 0;  ///< by all variables together
  std::int64_t limitBytes = 0;   ///< of memory on the device for them; 0: the driver's
  std::int64_t evictions = 0;    ///< segments whose memory was given to others
  std::int64_t dropped = 0;      ///< of these, without a copy: clean, or not needed any more
  std::int64_t bytesOut = 0;     ///< to the host
  std::int64_t bytesIn = 0;      ///< and back
  std::int64_t rounds = 0;       ///< how often segments were evicted, some together

  DevicePagingCounts& operator+=(const DevicePagingCounts& other) {
    neededBytes += other.neededBytes;
    limitBytes += other.limitBytes;
    evictions += other.evictions;
    dropped += other.dropped;
    bytesOut += other.bytesOut;
    bytesIn += other.bytesIn;
    rounds += other.rounds;
    return *this;
  }
};

}  // namespace tessera
