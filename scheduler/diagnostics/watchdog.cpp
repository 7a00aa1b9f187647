#include "scheduler/diagnostics/watchdog.hpp"

#include <algorithm>
#include <utility>

namespace tessera::detail {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

Watchdog::Watchdog(Seconds limit, Calls calls)
    : limit_(limit), calls_(std::move(calls)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool Watchdog::leftWithin(Seconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return leaving_; });
}

void Watchdog::watch() {
  // Short enough to be right within a tenth of the limit, long enough to cost nothing.
  const Seconds interval = std::min(limit_ / 10, Seconds(1.0));
  WatchedProgress seen = calls_.look();
  Clock::time_point since = Clock::now();
  while (!leftWithin(interval)) {
    const WatchedProgress now = calls_.look();
    if (now.replay == 0 || now != seen) {
      seen = now;
      since = Clock::now();
      continue;
    }
    const Seconds still = Clock::now() - since;
    if (still >= limit_) calls_.stalled(now.replay, still.count());
  }
}

}  // namespace tessera::detail
