#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "scheduler/messages/message_pump.hpp"
#include "scheduler/step_inputs.hpp"
#include "scheduler/trace.hpp"

namespace tessera::detail {

/// The results of the last two runs of a graph, which take turns like the rounds of its pump: a run may begin
/// while the reductions of the one before are still under way.
class StepResults {
 public:
  /// A step has no more control numbers.
  static constexpr std::size_t kMaxControls = 16;

  /// `trace` may be null; all of these outlive the object.
  StepResults(MessagePump& pump, Transport& transport, Trace* trace, std::size_t reductions);

  /// Waits for the run before the last, whose place the next run takes, and makes room for its result.
  void makeRoom();
  /// The run begins; a trace has begun its record of it.
  void begin(std::span<const double> control);
  /// The run at hand, or the last one: its reductions will not come.
  void giveUp();

  std::size_t round() const { return round_; }
  const StepResult& result(std::size_t round) const { return results_[round]; }
  StepResult& latest() { return results_[round_]; }
  const StepResult& latest() const { return results_[round_]; }
  /// Whether the reductions of a run are complete; looks after them once. One caller at a time.
  bool settle(std::size_t round);
  void settleWaiting(std::size_t round);
  /// Waits for the reductions of the last run.
  const StepResult& wait();

 private:
  MessagePump& pump_;
  Transport& transport_;
  Trace* trace_;
  std::size_t round_ = 0;
  std::array<StepResult, 2> results_;
  std::array<bool, 2> open_{false, false};  ///< reductions are under way, or not taken
  std::array<std::int64_t, 2> tracedRun_{-1, -1};
};

}  // namespace tessera::detail
