#include "scheduler/messages/step_results.hpp"

#include <algorithm>
#include <limits>

namespace tessera::detail {

StepResults::StepResults(MessagePump& pump, Transport& transport, Trace* trace, std::size_t reductions)
    : pump_(pump), transport_(transport), trace_(trace) {
  for (StepResult& result : results_) {
    result.control.reserve(kMaxControls);
    result.reductions.resize(reductions);
  }
}

void StepResults::makeRoom() {
  round_ = 1 - pump_.roundInHand();
  settleWaiting(round_);
}

void StepResults::begin(std::span<const double> control) {
  if (trace_ != nullptr) tracedRun_[round_] = trace_->openStep();
  StepResult& result = results_[round_];
  result.control.assign(control.begin(), control.end());
  std::fill(result.reductions.begin(), result.reductions.end(), std::numeric_limits<double>::quiet_NaN());
  open_[round_] = true;
}

void StepResults::giveUp() {
  open_[round_] = false;
  if (trace_ != nullptr) trace_->closeStep(tracedRun_[round_]);
}

bool StepResults::settle(std::size_t round) {
  if (!open_[round]) return true;
  pump_.round(round).test();
  if (!pump_.round(round).complete()) return false;
  pump_.round(round).takeResults(results_[round].reductions);
  open_[round] = false;
  if (trace_ != nullptr) trace_->closeStep(tracedRun_[round]);
  return true;
}

void StepResults::settleWaiting(std::size_t round) {
  transport_.waitUntil([this, round] { return settle(round); });
}

const StepResult& StepResults::wait() {
  settleWaiting(1 - round_);  // where nobody has waited for it
  settleWaiting(round_);
  return results_[round_];
}

}  // namespace tessera::detail
