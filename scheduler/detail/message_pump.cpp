#include "scheduler/detail/message_pump.hpp"

#include <algorithm>

namespace tessera::detail {

MessagePump::MessagePump(const CompiledGraph& graph, Transport& transport, Trace* trace)
    : graph_(graph), transport_(transport), trace_(trace) {
  for (const MessagePlan& message : graph.sends)
    sendBuffers_.emplace_back(static_cast<std::size_t>(message.bytes));
  for (const MessagePlan& message : graph.receives) {
    receiveBuffers_.emplace_back(static_cast<std::size_t>(message.bytes));
  }
  reductions_.resize(graph.reductions.size());
}

void MessagePump::begin(std::span<double> control) {
  receiveRequests_.clear();
  for (std::size_t r = 0; r < graph_.receives.size(); ++r) {
    const MessagePlan& message = graph_.receives[r];
    receiveRequests_.push_back(transport_.receive(message.peer, message.tag, receiveBuffers_[r]));
  }
  nextReduction_ = 0;
  std::fill(reductions_.begin(), reductions_.end(), ReductionInput{});
  hasControl_ = !control.empty();
  if (hasControl_) control_ = transport_.allReduceMax(control);
}

void MessagePump::end() {
  if (hasControl_) transport_.wait(control_);
  hasControl_ = false;
}

void MessagePump::submitSend(std::int32_t send, std::int32_t node) {
  const std::lock_guard lock(mutex_);
  submittedSends_.emplace_back(send, node);
}

void MessagePump::submitReceive(std::int32_t receive, std::int32_t node) {
  const std::lock_guard lock(mutex_);
  submittedReceives_.emplace_back(receive, node);
}

void MessagePump::submitReduction(std::int32_t reduction, std::int32_t node, std::span<double> minMax,
                                  std::span<std::int64_t> words) {
  const std::lock_guard lock(mutex_);
  reductions_[static_cast<std::size_t>(reduction)] = {true, node, minMax, words};
}

void MessagePump::poll(const std::function<void(std::int32_t)>& finished) {
  startSubmitted();
  const auto done = [&](const Pending& p) {
    if (!transport_.test(p.request)) return false;
    if (trace_ != nullptr) trace_->finished(p.node);
    finished(p.node);
    return true;
  };
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), done), pending_.end());
}

void MessagePump::startSubmitted() {
  const std::lock_guard lock(mutex_);
  for (const auto& [send, node] : submittedSends_) {
    const MessagePlan& message = graph_.sends[static_cast<std::size_t>(send)];
    pending_.push_back({transport_.send(message.peer, message.tag, sendBuffer(send)), node});
  }
  submittedSends_.clear();
  for (const auto& [receive, node] : submittedReceives_) {
    pending_.push_back({receiveRequests_[static_cast<std::size_t>(receive)], node});
  }
  submittedReceives_.clear();
  startReductions();
}

void MessagePump::startReductions() {
  while (nextReduction_ < reductions_.size() && reductions_[nextReduction_].ready) {
    const ReductionInput& input = reductions_[nextReduction_];
    switch (graph_.reductions[nextReduction_].kind) {
      case ReductionKind::Min:
        pending_.push_back({transport_.allReduceMin(input.minMax), input.node});
        break;
      case ReductionKind::Max:
        pending_.push_back({transport_.allReduceMax(input.minMax), input.node});
        break;
      case ReductionKind::Sum:
        pending_.push_back({transport_.allReduceSum(input.words), input.node});
        break;
    }
    ++nextReduction_;
  }
}

}  // namespace tessera::detail
