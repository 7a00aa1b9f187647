#pragma once

#include <cstdint>
#include <string>

namespace tessera {

/// How much more memory this process can have, and what sets the limit.
struct AvailableMemory {
  std::int64_t bytes = 0;
  std::string limit;  ///< for people: "the memory of the machine", "the control group", "ulimit -v"
};

/// The smallest of what the machine has free, what the control groups of this process leave, and what its own
/// limits (ulimit -v, ulimit -d) leave. A machine that does not tell has no limit.
AvailableMemory availableMemory();

/// Of the text of /proc/meminfo: what can be had without driving anything out, swap space included; -1 where
/// the text does not say.
std::int64_t freeBytesOf(const std::string& meminfo);

}  // namespace tessera
