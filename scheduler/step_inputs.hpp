#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "grid/generation.hpp"

namespace tessera {

struct StepResult;

/// What becomes of the New values when a plan has run.
enum class AfterReplay : std::uint8_t {
  Promote,  ///< they are Old ones from then on: the plan is a step
  Keep,     ///< later items of a step program read or change them, until `StepRunner::promote`
};

/// What a step starts from.
struct StepInputs {
  double time = 0.0;  ///< of Old
  double dt = 0.0;    ///< New is at time + dt
  std::int64_t step = 0;
  /// Numbers of the caller that all ranks combine (largest wins) together with the step, for example "stop
  /// was requested". The same length on every rank, at most 16.
  std::span<const double> control;
  /// By reduction, what earlier items of a step program have found; where tasks read some. It outlives the
  /// run.
  std::span<const double> reduced = {};
  std::int64_t shownStep = 0;  ///< number of the step for people, in a trace
  /// Where set, gives `dt` from the result of the last run of plan `dtFrom`, whose reductions may still be
  /// under way: tasks and halos of Old that do not use dt run before they are there. Called once, by the
  /// thread that looks after messages. Where it throws an Error, the step ends without having changed
  /// anything and `runAhead` throws that Error; it must do so on every rank or on none.
  std::function<double(const StepResult&)> lateDt{};
  std::size_t dtFrom = 0;
  AfterReplay after = AfterReplay::Promote;

  /// When a value holds, and with it its conditions: Old at the begin of the step, New at `part` of it.
  double timeOf(Generation generation, double part) const {
    if (generation == Generation::Old) return time;
    return part == 1.0 ? time + dt : time + part * dt;
  }
};

/// What a step leaves besides the data.
struct StepResult {
  std::vector<double> reductions;  ///< by ReductionLabel id; NaN where nobody contributed
  std::vector<double> control;     ///< the largest of every rank's `control`
};

/// Which run of a plan something belongs to.
struct StepMoment {
  std::size_t plan = 0;
  std::int64_t shownStep = 0;  ///< see StepInputs
  double time = 0.0;           ///< of Old
};

}  // namespace tessera
