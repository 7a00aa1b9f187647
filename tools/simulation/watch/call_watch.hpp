#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tessera {

/// Looks after a call between two plans of a step, which no executor watches: where it takes longer than a
/// limit, says so. As long as it lives, with a thread of its own.
class CallWatch {
 public:
  /// After `limitSeconds` (0: never) `onStall` gets a line about `what` on the watch's thread; it should end
  /// the process.
  CallWatch(std::string what, double limitSeconds, const std::function<void(const std::string&)>& onStall);
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

 private:
  void watch(double limitSeconds);

  const std::string what_;
  const std::function<void(const std::string&)>& onStall_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace tessera
