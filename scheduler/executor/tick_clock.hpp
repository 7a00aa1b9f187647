#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tessera::detail {

/// A counter that is read in a third of the time that a clock takes, and runs at a constant but unknown rate:
/// for sums of many short times, converted to seconds by a clock that is read at both ends of a long time.
inline std::int64_t ticksNow() {
#if defined(__x86_64__)
  return static_cast<std::int64_t>(__rdtsc());
#else
  return std::chrono::steady_clock::now().time_since_epoch().count();
#endif
}

/// Measures what a tick takes, from its making to `secondsPerTick`.
class TickRate {
 public:
  double secondsPerTick() const {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - clock_;
    const std::int64_t ticks = ticksNow() - ticks_;
    return ticks > 0 ? seconds.count() / static_cast<double>(ticks) : 0.0;
  }

 private:
  std::chrono::steady_clock::time_point clock_ = std::chrono::steady_clock::now();
  std::int64_t ticks_ = ticksNow();
};

}  // namespace tessera::detail
