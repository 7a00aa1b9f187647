#pragma once

#include <cstdint>

#include "scheduler/assignment/host_fraction_search.hpp"

namespace tessera::detail {

/// Turns the steps of a run into the trials of a HostFractionSearch, and watches what that has chosen.
///
/// After each change of places three steps warm up (tables are made, values move); then three windows of as
/// many steps as last five milliseconds (2 to 50) are timed from an idle device to an idle one, and the best
/// counts. A trial whose steps take three times as long as those of devices alone is broken off. Once
/// settled, devices alone are left in peace; a part of the host's is watched, and given up for good where it
/// is slower than devices alone by more than 2 % in three windows one after the other.
///
/// One thread, between steps.
class CostBalance {
 public:
  CostBalance(int threads, double smallestPart) : search_(threads, smallestPart) {}

  /// Whether `stepped` needs the time until the devices have done all of this step.
  bool endsWindow() const;
  /// After each step, with the time since the last call or change, and with the part in use. True: `part()`
  /// has another value now.
  bool stepped(double seconds, double hostSeconds, double partInUse);
  double part() const { return gaveUp_ ? 0.0 : search_.part(); }
  bool settled() const { return search_.settled(); }
  /// Steps that went into trials.
  std::int64_t trialSteps() const { return trialSteps_; }
  const HostFractionSearch& search() const { return search_; }

 private:
  static constexpr std::int64_t kWarmSteps = 3;
  static constexpr int kWindows = 3;
  static constexpr double kTolerance = 0.02;

  bool isAtRest() const { return settled() && part() <= 0.0; }
  bool closeWindow(double partInUse);
  bool hand(const ShareTrial& trial);
  void watch(const ShareTrial& window);
  void restart();

  HostFractionSearch search_;
  std::int64_t warm_ = 0;    ///< steps since the last change, up to kWarmSteps
  std::int64_t length_ = 0;  ///< of a window, in steps
  std::int64_t taken_ = 0;   ///< of this window
  int windows_ = 0;          ///< complete
  double seconds_ = 0.0;     ///< of this window
  double hostSeconds_ = 0.0;
  ShareTrial best_{0.0, std::numeric_limits<double>::infinity(), 0.0};
  int slow_ = 0;  ///< windows one after the other that were slower than devices alone
  bool gaveUp_ = false;
  std::int64_t trialSteps_ = 0;
};

}  // namespace tessera::detail
