#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace tessera {

/// What is shown of a run while it goes on.
enum class ScreenMode {
  Text,   ///< lines for people
  Json,   ///< the same as JSON objects, one a line
  Quiet,  ///< nothing but errors
};

/// A column of the history that the deck's `[history] watch` names, as far as its lines have come.
struct WatchedNumber {
  std::string name;
  double last = 0.0;
  double least = 0.0;    ///< since the start of this process
  double largest = 0.0;  ///< the same
  bool isKnown = false;  ///< there was a line
};

/// Where a run stands, for one line on the screen.
struct ProgressSample {
  std::int64_t step = 0;
  double time = 0.0;
  double dt = 0.0;
  double part = 0.0;         ///< of the way to the end, 0 to 1
  double cellSteps = 0.0;    ///< steps of cells since the start: of each cell those of its level
  double waitSeconds = 0.0;  ///< of the workers of all ranks, all together
  std::int64_t workers = 1;
  std::vector<WatchedNumber> watched{};
};

/// The lines that a run prints on standard output, at a fixed rate in wall time: however short the steps are,
/// the screen stays readable. On a terminal the line is drawn over itself, with a bar. Of rank 0; one thread
/// at a time.
class Progress {
 public:
  explicit Progress(ScreenMode mode);

  /// A line of its own.
  void note(const std::string& text);
  /// Rates are counted from here.
  void start(const ProgressSample& sample);
  /// Whether the last line is long enough ago.
  bool due() const;
  void update(const ProgressSample& sample);
  /// The last state, for those who follow the run: a bar that is full, an object for programs. Lines for
  /// people end with a summary that says the same, so here they get nothing.
  void finish(const ProgressSample& sample);

 private:
  using Clock = std::chrono::steady_clock;
  struct Point {
    Clock::time_point at;
    ProgressSample sample;
  };
  void show(const ProgressSample& sample, Clock::time_point now, bool last);
  void endBar();

  ScreenMode mode_;
  bool terminal_;
  bool barOpen_ = false;
  std::int64_t shownStep_ = -1;
  std::deque<Point> recent_;  ///< the last minute or so, for rates and the time to go
};

/// "01:02:03"
std::string durationText(double seconds);

}  // namespace tessera
