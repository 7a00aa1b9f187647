#pragma once

#include <chrono>
#include <thread>

namespace tessera {

/// Lets other threads run, on behalf of one that looks again and again whether it can go on.
///
///   StepAside stepAside;
///   for (int looks = 1; !ready(); ++looks) {
///     if (looks % 16 == 0) stepAside();
///   }
///
/// With a free core, a yield returns at once and costs nothing. Where other programs want the core it lasts
/// as long as their time slices, and newer kernels take a slice of the caller's share for it: in a loop of
/// yields a thread starves while its neighbours compute. So a yield that lasted long is followed by naps for
/// a while: a thread that sleeps keeps its share of the core. One thread at a time may use this.
class StepAside {
 public:
  using Clock = std::chrono::steady_clock;

  /// `yield` is for tests.
  explicit StepAside(void (*yield)() = std::this_thread::yield) : yield_(yield) {}

  void operator()();

  /// Whether others want the core. A thread that can sleep until it is woken does better to do so.
  bool crowded() const { return Clock::now() < crowdedUntil_; }

 private:
  void (*yield_)();
  Clock::time_point crowdedUntil_{};
};

}  // namespace tessera
