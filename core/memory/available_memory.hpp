#pragma once

#include <cstdint>
#include <string>

namespace tessera {

/// How much more memory can be had, and what sets the limit.
struct AvailableMemory {
  std::int64_t bytes = 0;
  std::string limit;  ///< for people: "the memory of the machine", "the control group", "ulimit -v"
};

/// For all processes together: the smaller of what the machine has free and what the control groups of this
/// process leave. A machine that does not tell has no limit.
AvailableMemory availableOnMachine();
/// For this process alone: what its own limits (ulimit -v, ulimit -d) leave.
AvailableMemory availableToProcess();

/// Of the text of /proc/meminfo: what can be had without driving anything out, swap space included; -1 where
/// the text does not say.
std::int64_t freeBytesOf(const std::string& meminfo);

}  // namespace tessera
