#pragma once

#include <cstdint>
#include <string>

#include "components/step_at.hpp"
#include "datawarehouse/archive/checkpoint_content.hpp"
#include "tools/simulation/deck/run_settings.hpp"

namespace tessera {

/// The next step: its length, and the time that it ends on.
struct NextStep {
  double dt = 0.0;
  double endTime = 0.0;      ///< exactly a time to land on, where there is one in reach
  double endTimeRest = 0.0;  ///< what `endTime` misses, so that many small steps add up
  double freeDt = 0.0;       ///< the length that it would have without a time to land on
};

/// Where a run stands, and how long its next step is. A pure function of the settings and of numbers that a
/// checkpoint keeps, so that a restarted run takes the same steps, bit by bit.
///
/// Steps are as long as allowed; those before a time to land on (the end, an output) are made equal, so that
/// none is tiny. One thread at a time.
class TimeControl {
 public:
  explicit TimeControl(TimeSettings settings) : settings_(settings) {}

  std::int64_t step() const { return step_; }  ///< steps taken
  double time() const { return time_; }
  double dt() const { return dt_; }  ///< of the last step, 0 before the first
  /// Where the next step begins.
  StepAt at() const { return {step_, time_, lastTime_}; }
  double stableDt() const { return stableDt_; }

  bool finished() const;
  /// "reached time.end = 0.1" or the like, once finished.
  std::string finishedBecause() const;
  /// Part of the way to the end, 0 to 1.
  double progress() const;

  /// The largest stable step as the components see it; NaN where none of them says.
  void setStableDt(double value) {
    stableDt_ = value;
    stableDtStep_ = step_;
  }
  /// Whether that is of the present step; its reduction may still be under way.
  bool stableDtKnown() const { return stableDtStep_ == step_; }
  /// Whether the length of the next step depends on it.
  bool needsStableDt() const { return !settings_.dt; }
  /// Throws NumericalError when there is no step to take: stableDt is NaN, not positive, or too small for the
  /// time to change; DeckError when the deck gives no step and no component does.
  NextStep next() const;
  /// The step in place of one that was refused: half as long, wherever that leads. Throws NumericalError
  /// where that does not change the time.
  NextStep halved(const NextStep& refused) const;
  void take(const NextStep& next);

  /// Whether the state at this step is due for something that happens every so many steps or so much time.
  bool dueEverySteps(std::int64_t every) const { return every > 0 && step_ % every == 0; }
  bool dueEvery(double every) const;

  /// Once the largest stable step is known.
  void save(CheckpointState& state) const;
  void restore(const CheckpointState& state);

 private:
  double freeDt() const;
  double nextLanding() const;
  void expectLater(const NextStep& next) const;

  TimeSettings settings_;
  std::int64_t step_ = 0;
  double time_ = 0.0;
  double lastTime_ = StepAt{}.lastTime;  ///< that the last step began at
  double timeRest_ = 0.0;
  double dt_ = 0.0;
  double freeDt_ = 0.0;
  double stableDt_ = 0.0;
  std::int64_t stableDtStep_ = -1;
};

}  // namespace tessera
