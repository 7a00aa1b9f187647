#pragma once

#include <ctime>

namespace tessera::bench {

/// CPU time of all threads of this process so far: the figure to trust where others use the machine too.
inline double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace tessera::bench
