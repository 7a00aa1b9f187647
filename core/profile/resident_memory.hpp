#pragma once

#include <cstdint>

namespace tessera {

/// Bytes of this process that are in memory now, as the operating system counts them; 0 where it does not
/// say. Any thread; takes some microseconds.
std::int64_t residentBytes();

}  // namespace tessera
