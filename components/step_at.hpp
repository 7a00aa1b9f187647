#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace tessera {

/// Where a step begins: what its plan and its parts may depend on. The same on every rank and in a run that
/// was restarted.
struct StepAt {
  std::int64_t step = 0;  ///< steps taken before it
  double time = 0.0;      ///< that it begins at
  /// That the step before began at; minus infinity for the first one.
  double lastTime = -std::numeric_limits<double>::infinity();

  /// Whether a multiple of `every` (above 0) has been reached since the step before began: true for the first
  /// step. What rounding leaves of such a time counts as that time.
  bool reaches(double every) const {
    constexpr double kSame = 1e-9;
    if (std::isinf(lastTime)) return true;
    return std::floor(time / every + kSame) > std::floor(lastTime / every + kSame);
  }
};

/// How often something is done: every so many steps, or every so much time, beginning with the first step.
/// Both together cannot be asked for.
struct Cadence {
  std::int64_t steps = 1;  ///< 0: by time
  double time = 0.0;

  bool isDue(const StepAt& at) const { return steps > 0 ? at.step % steps == 0 : at.reaches(time); }
  friend bool operator==(const Cadence&, const Cadence&) = default;
};
constexpr Cadence everySteps(std::int64_t steps) { return {steps, 0.0}; }
constexpr Cadence everyTime(double time) { return {0, time}; }

/// A part of a step that not every step has: the tasks that say `.in(name)`, beside those of the usual step.
/// Parts of several components come together in the steps in which both are due.
struct OptionalPart {
  std::string name;
  Cadence every;
};

}  // namespace tessera
