#include "tools/simulation/time_control.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"

namespace tessera {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Steps that differ by less than this part are the same step: what rounding leaves is not a reason for
/// another one.
constexpr double kSame = 1e-9;

std::string asText(double value) {
  std::ostringstream out;
  out.precision(12);
  out << value;
  return out.str();
}

}  // namespace

bool TimeControl::finished() const {
  return (settings_.end && time_ >= *settings_.end) || (settings_.maxSteps && step_ >= *settings_.maxSteps);
}

std::string TimeControl::finishedBecause() const {
  if (settings_.end && time_ >= *settings_.end) return "reached time.end = " + asText(*settings_.end);
  return "took time.max_steps = " + std::to_string(settings_.maxSteps.value_or(step_)) + " steps";
}

double TimeControl::progress() const {
  double part = 0.0;
  if (settings_.end) part = std::max(part, time_ / *settings_.end);
  if (settings_.maxSteps && *settings_.maxSteps > 0) {
    part = std::max(part, static_cast<double>(step_) / static_cast<double>(*settings_.maxSteps));
  }
  return std::min(part, 1.0);
}

double TimeControl::freeDt() const {
  if (settings_.dt) return *settings_.dt;
  if (std::isnan(stableDt_) && !settings_.dtMax) {
    throw DeckError(Message("no component says how long a time step may be")
                        .line("fix  give time.dt (a fixed step) or time.dt_max in the deck")
                        .text());
  }
  if (!std::isnan(stableDt_) && !(stableDt_ > 0.0)) {
    throw NumericalError(
        Message("the largest stable time step is " + asText(stableDt_) + ", which is not a valid step")
            .line("step ", step_, ", t = ", asText(time_))
            .text());
  }
  double dt = std::isnan(stableDt_) ? kInfinity : settings_.cfl * stableDt_;
  if (settings_.dtMax) dt = std::min(dt, *settings_.dtMax);
  if (settings_.dtGrowth && freeDt_ > 0.0) dt = std::min(dt, *settings_.dtGrowth * freeDt_);
  return dt;
}

double TimeControl::nextLanding() const {
  double landing = settings_.end.value_or(kInfinity);
  if (settings_.landEvery) {
    const double every = *settings_.landEvery;
    double n = std::floor(time_ / every);
    // As good as reached is reached; and the quotient may have been rounded down to a whole number.
    for (int tries = 0; tries < 3 && n * every <= time_ + kSame * every; ++tries) n += 1.0;
    // An output as good as at the end is at the end: no step leads from one to the other.
    if (n * every < landing - kSame * every) landing = n * every;
  }
  return landing;
}

NextStep TimeControl::next() const {
  const double landing = nextLanding();
  const double remaining = (landing - time_) - timeRest_;
  NextStep next;
  next.freeDt = freeDt();
  next.dt = next.freeDt;
  if (std::isinf(remaining) && std::isinf(next.dt)) {
    throw DeckError(Message("nothing limits the time step")
                        .line("fix  give time.end, time.dt or time.dt_max in the deck")
                        .text());
  }
  if (next.dt >= remaining * (1.0 - kSame)) {
    if (next.dt > remaining * (1.0 + kSame)) next.dt = remaining;
    next.endTime = landing;
  } else {
    if (next.dt > 0.5 * remaining * (1.0 + kSame)) next.dt = 0.5 * remaining;
    const double add = next.dt + timeRest_;
    next.endTime = time_ + add;
    next.endTimeRest = add - (next.endTime - time_);
  }
  if (!(next.endTime > time_)) {
    throw NumericalError(Message("the time step " + asText(next.dt) + " is too small to change the time")
                             .line("step ", step_, ", t = ", asText(time_))
                             .text());
  }
  return next;
}

void TimeControl::take(const NextStep& next) {
  ++step_;
  time_ = next.endTime;
  timeRest_ = next.endTimeRest;
  dt_ = next.dt;
  freeDt_ = next.freeDt;
}

bool TimeControl::dueEvery(double every) const {
  const double n = std::round(time_ / every);
  return std::abs(n * every - time_) <= kSame * every;
}

void TimeControl::save(CheckpointState& state) const {
  TESSERA_EXPECT(stableDtKnown(), "wait for the largest stable step first: Simulation::settle");
  state.set("step", step_);
  state.set("time", time_);
  state.set("time_rest", timeRest_);
  state.set("dt", dt_);
  state.set("free_dt", freeDt_);
  state.set("stable_dt", stableDt_);
}

void TimeControl::restore(const CheckpointState& state) {
  step_ = state.integer("step");
  time_ = state.real("time");
  timeRest_ = state.real("time_rest");
  dt_ = state.real("dt");
  freeDt_ = state.real("free_dt");
  setStableDt(state.real("stable_dt"));
}

}  // namespace tessera
