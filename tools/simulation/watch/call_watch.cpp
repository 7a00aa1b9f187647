#include "tools/simulation/watch/call_watch.hpp"

#include <chrono>
#include <sstream>
#include <utility>

namespace tessera {

CallWatch::CallWatch(std::string what, double limitSeconds,
                     const std::function<void(const std::string&)>& onStall)
    : what_(std::move(what)), onStall_(onStall) {
  if (limitSeconds > 0.0 && onStall_) thread_ = std::thread([this, limitSeconds] { watch(limitSeconds); });
}

CallWatch::~CallWatch() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void CallWatch::watch(double limitSeconds) {
  std::unique_lock lock(mutex_);
  const auto limit = std::chrono::duration<double>(limitSeconds);
  if (changed_.wait_for(lock, limit, [this] { return leaving_; })) return;
  std::ostringstream page;
  page << "no progress for " << limitSeconds << " s\n  in     the call \"" << what_
       << "\" between two plans of the step, which has not returned";
  onStall_(page.str());
}

}  // namespace tessera
