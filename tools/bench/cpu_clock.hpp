#pragma once

#include <ctime>
#include <vector>

namespace tessera::bench {

/// CPU time of all threads of this process: the figure to trust where others use the machine too.
///
/// The system adds a running thread's time to that of its process only when its core's clock ticks, every few
/// milliseconds, but brings a thread's own clock up to date for whoever reads it. So a short interval in
/// which two threads worked looks like one of one thread, unless every thread's clock is read as well.
class CpuClock {
 public:
  /// For the threads that there are now.
  CpuClock();
  double seconds() const;

 private:
  std::vector<clockid_t> threads_;
};

}  // namespace tessera::bench
