#include "core/transport/step_aside.hpp"

namespace tessera {
namespace {

/// Longer than any yield to a thread that only looks, shorter than a time slice.
constexpr std::chrono::microseconds kLongYield{500};
constexpr std::chrono::microseconds kNap{50};
/// How long a long yield is remembered: what follows it is cheap beside one more such yield.
constexpr std::chrono::milliseconds kRemember{50};

}  // namespace

void StepAside::operator()() {
  const Clock::time_point before = Clock::now();
  if (before < crowdedUntil_) {
    std::this_thread::sleep_for(kNap);
    return;
  }
  yield_();
  const Clock::time_point after = Clock::now();
  if (after - before > kLongYield) crowdedUntil_ = after + kRemember;
}

}  // namespace tessera
