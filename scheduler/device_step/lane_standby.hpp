#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace tessera::detail {

/// A thread that serves the lanes of a rank where nobody else has for a while, because all workers are inside
/// long tasks. Slow on purpose: a free worker is there at once.
///
/// Between `begin` and `end` it calls `serve` twice a millisecond. Outside it sleeps, and when `end` returns
/// it is not inside `serve`. One thread calls begin and end.
class LaneStandby {
 public:
  explicit LaneStandby(std::function<void()> serve);
  ~LaneStandby();
  LaneStandby(const LaneStandby&) = delete;
  LaneStandby& operator=(const LaneStandby&) = delete;

  void begin();
  void end();

 private:
  enum State : int { kIdle, kWanted, kLeaving };
  static constexpr std::chrono::microseconds kEvery{500};

  void live();

  const std::function<void()> serve_;
  /// State wanted of the thread; it sleeps while that is kIdle.
  std::atomic<int> state_{kIdle};
  /// Set by the thread around `serve`, where `state_` was kWanted after it was set.
  std::atomic<bool> inside_{false};
  std::thread thread_;
};

}  // namespace tessera::detail
