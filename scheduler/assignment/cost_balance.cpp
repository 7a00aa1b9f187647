#include "scheduler/assignment/cost_balance.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::detail {
namespace {

constexpr double kWindowSeconds = 5e-3;
constexpr double kLeast = 2.0;
constexpr double kMost = 50.0;
constexpr double kHopeless = 3.0;  ///< times devices alone

}  // namespace

bool CostBalance::endsWindow() const {
  if (isAtRest()) return false;
  return warm_ < kWarmSteps || taken_ + 1 >= length_;
}

bool CostBalance::stepped(double seconds, double hostSeconds, double partInUse) {
  if (isAtRest()) return false;
  if (!settled()) ++trialSteps_;
  if (warm_ < kWarmSteps) {
    if (++warm_ > 1 && !settled() && seconds > kHopeless * search_.devicesSeconds()) {
      return hand({partInUse, seconds, hostSeconds});
    }
    length_ = static_cast<std::int64_t>(
        std::clamp(std::round(kWindowSeconds / std::max(seconds, 1e-9)), kLeast, kMost));
    return false;
  }
  seconds_ += seconds;
  hostSeconds_ += hostSeconds;
  return ++taken_ >= length_ && closeWindow(partInUse);
}

bool CostBalance::closeWindow(double partInUse) {
  const auto steps = static_cast<double>(taken_);
  const ShareTrial window{partInUse, seconds_ / steps, hostSeconds_ / steps};
  taken_ = 0;
  seconds_ = hostSeconds_ = 0.0;
  if (settled()) {
    watch(window);
    return gaveUp_;
  }
  if (window.stepSeconds < best_.stepSeconds) best_ = window;
  return ++windows_ >= kWindows && hand(best_);
}

bool CostBalance::hand(const ShareTrial& trial) {
  const double before = search_.part();
  search_.take(trial);
  restart();
  return search_.part() != before;
}

void CostBalance::watch(const ShareTrial& window) {
  slow_ = window.stepSeconds > (1.0 + kTolerance) * search_.devicesSeconds() ? slow_ + 1 : 0;
  gaveUp_ = slow_ >= kWindows;
}

void CostBalance::restart() {
  warm_ = taken_ = 0;
  windows_ = 0;
  seconds_ = hostSeconds_ = 0.0;
  best_ = {0.0, std::numeric_limits<double>::infinity(), 0.0};
}

}  // namespace tessera::detail
