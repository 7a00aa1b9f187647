#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/transport/transport.hpp"

namespace tessera {

/// Looks after what the watchdog of a step does not see: a rank that waits for the others while the run is
/// made, between steps, while something is written, and at the end. A thread of its own, as long as it lives.
class RankWatch {
 public:
  /// `onStall` hears of a wait of more than `limitSeconds`, on the watch's thread; it should end the process.
  /// Throws InternalError where the thread cannot be started.
  RankWatch(const Transport& transport, double limitSeconds,
            std::function<void(const std::string& page)> onStall);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

 private:
  void watch();

  const Transport& transport_;
  const double limit_;
  const std::function<void(const std::string&)> onStall_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace tessera
