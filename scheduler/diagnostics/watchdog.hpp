#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace tessera::detail {

/// What a watchdog sees: which replay runs (0: none) and how many of its nodes have completed.
struct WatchedProgress {
  std::int64_t replay = 0;
  std::int64_t completed = 0;
  bool operator==(const WatchedProgress&) const = default;
};

/// A thread that checks at intervals whether a replay makes progress. It takes no part in any step: it reads
/// counters.
class Watchdog {
 public:
  struct Calls {
    std::function<WatchedProgress()> look;
    /// Nothing has completed for so many seconds, the limit or more; again and again until something does.
    std::function<void(std::int64_t replay, double seconds)> stalled;
  };

  Watchdog(std::chrono::duration<double> limit, Calls calls);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  bool leftWithin(std::chrono::duration<double> time);

  const std::chrono::duration<double> limit_;
  const Calls calls_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool leaving_ = false;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace tessera::detail
