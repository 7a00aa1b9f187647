#include "tools/simulation/rank_watch.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/text/error.hpp"

namespace tessera {

RankWatch::RankWatch(const Transport& transport, double limitSeconds,
                     std::function<void(const std::string&)> onStall)
    : transport_(transport), limit_(limitSeconds), onStall_(std::move(onStall)) {
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error& failure) {
    throw InternalError(
        Message("the thread that watches for stalls cannot be started")
            .line("found  ", failure.what())
            .line("fix    raise the limits of processes (ulimit -u) and of memory (ulimit -v), "
                  "or run with --watchdog 0")
            .text());
  }
}

RankWatch::~RankWatch() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RankWatch::watch() {
  const std::chrono::duration<double> interval(std::min(limit_ / 10.0, 1.0));
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval, [this] { return leaving_; })) {
    const double seconds = transport_.waitSeconds();
    if (seconds < limit_) continue;
    std::ostringstream page;
    page << "rank " << transport_.rank() << " has waited for another rank for "
         << static_cast<std::int64_t>(seconds)
         << " s outside of a step: while the run is made, something is written, or it ends"
         << "\n  fix  see what the other ranks do (a slow disk needs a longer --watchdog SECONDS), and "
            "continue "
            "from the newest checkpoint";
    onStall_(page.str());
    return;
  }
}

}  // namespace tessera
