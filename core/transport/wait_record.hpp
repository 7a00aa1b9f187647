#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tessera {

/// Since when a thread waits for other ranks, for a watch on another thread. The one that waits opens a
/// scope.
class WaitRecord {
 public:
  using Clock = std::chrono::steady_clock;

  class Scope {
   public:
    explicit Scope(WaitRecord& record) : record_(record), outer_(record.since_.load()) {
      if (outer_ == kNever) record_.since_.store(Clock::now().time_since_epoch().count());
    }
    ~Scope() { record_.since_.store(outer_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    WaitRecord& record_;
    const std::int64_t outer_;
  };

  /// How long the wait under way has lasted; 0 where there is none.
  double seconds() const {
    const std::int64_t since = since_.load();
    if (since == kNever) return 0.0;
    return std::chrono::duration<double>(Clock::now() - Clock::time_point(Clock::duration(since))).count();
  }

 private:
  static constexpr std::int64_t kNever = -1;
  std::atomic<std::int64_t> since_{kNever};
};

}  // namespace tessera
